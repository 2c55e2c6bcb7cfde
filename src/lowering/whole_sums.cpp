// A sum of integers that a result holds as integers must be exact. Interval arithmetic bounds what one
// iteration adds, and the extents how often:
//
//     in X i8[t, k], W i8[n, k]   out Y i32[t, n] = sum(X * W)   k*: 64      64 * 128 * 128 = 2^20: exact
#include "lowering/whole_sums.h"

#include <algorithm>
#include <cmath>

#include "ir/facts/value_range.h"
#include "lowering/refusal.h"

namespace tessera::lowering {
namespace {

constexpr double kLargestExact = 0x1p24;

class BodyRange {
public:
    BodyRange(const Node& node, const LoweringInput& input)
        : definition_(*node.definition()), extents_(iterator_extents(node, input)), input_(input) {}

    facts::ValueRange of(const ExprPtr& expr) const {
        return std::visit([&](const auto& node) { return of(node); }, expr->node);
    }

    /// The number of iterations that fold into one element, at most.
    double folded() const {
        double count = 1;
        for (size_t x = 0; x < extents_.size(); ++x)
            if (definition_.iterators[x].is_reduction)
                count *= static_cast<double>(extents_[x].bounds().high);
        return count;
    }

private:
    static constexpr facts::ValueRange kUnknown{-facts::kInf, facts::kInf, false};

    facts::ValueRange of(const Number& number) const {
        return {number.value, number.value, number.value == std::trunc(number.value)};
    }
    facts::ValueRange of(const Infinity&) const { return kUnknown; }
    facts::ValueRange of(const FillPosition&) const { return kUnknown; }
    facts::ValueRange of(const Folded&) const { return kUnknown; }
    facts::ValueRange of(const IteratorRef& iterator) const {
        return {0, static_cast<double>(extents_[static_cast<size_t>(iterator.index)].bounds().high - 1),
                true};
    }
    facts::ValueRange of(const DimRef& dim) const {
        const movement::Bounds bounds =
            input_.symbols.at(definition_.dims[static_cast<size_t>(dim.index)].name).bounds;
        return {static_cast<double>(bounds.low), static_cast<double>(bounds.high), true};
    }
    facts::ValueRange of(const Read& read) const {
        facts::ValueRange range =
            facts::type_range(definition_.tensors[static_cast<size_t>(read.tensor)].type);
        // Outside of the tensor the identity is read.
        const double outside = identity(definition_.monoid);
        return {std::min(range.low, outside), std::max(range.high, outside), range.is_integer};
    }
    facts::ValueRange of(const Cast& cast) const {
        const facts::ValueRange value = of(cast.argument);
        if (!is_integer(cast.to)) return value;
        const facts::ValueRange type = facts::type_range(cast.to);
        return {std::clamp(value.low, type.low, type.high), std::clamp(value.high, type.low, type.high),
                true};
    }
    facts::ValueRange of(const Apply& call) const {
        std::vector<facts::ValueRange> a;
        for (const ExprPtr& argument : call.arguments) a.push_back(of(argument));
        switch (call.function) {
            case Function::kAdd:
                return {a[0].low + a[1].low, a[0].high + a[1].high, a[0].is_integer && a[1].is_integer};
            case Function::kSub:
                return {a[0].low - a[1].high, a[0].high - a[1].low, a[0].is_integer && a[1].is_integer};
            case Function::kMul:
                return facts::product(a[0], a[1]);
            case Function::kNegate:
                return facts::negated(a[0]);
            case Function::kSelect:
                return {std::min(a[1].low, a[2].low), std::max(a[1].high, a[2].high),
                        a[1].is_integer && a[2].is_integer};
            default:
                return facts::call_range(call.function, a);
        }
    }

    const Definition& definition_;
    std::vector<movement::Index> extents_;
    const LoweringInput& input_;
};

}  // namespace

void expect_exact_sums(const Node& node, const Storage& storage) {
    if (node.definition()->is_wide()) return;
    const Definition& definition = *node.definition();
    if (definition.monoid != Monoid::kSum && definition.monoid != Monoid::kProd) return;
    const TensorDecl& result = definition.tensors[static_cast<size_t>(definition.results().front())];
    if (!is_integer(result.type)) return;
    const BodyRange ranges(node, storage.input());
    const facts::ValueRange added = ranges.of(definition.body.front());
    if (!added.is_integer) return;
    const double largest = std::max(std::abs(added.low), std::abs(added.high));
    const double total = definition.monoid == Monoid::kSum ? largest * ranges.folded()
                         : largest <= 1                    ? 1
                                                           : std::pow(largest, ranges.folded());
    if (total <= kLargestExact) return;
    throw Refused(
        node.name, result.name,
        fmt::format("is a {} of integers that may exceed 2^24, up to which compiled code is exact: it "
                    "adds in f32",
                    name(definition.monoid)),
        "make the result f32, or fold fewer and smaller numbers");
}

}  // namespace tessera::lowering
