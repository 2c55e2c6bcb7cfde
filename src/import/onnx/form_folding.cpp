// Shapes that depend on symbols, as a model computes with them: Shape, Gather, Mul, Concat. Such operators
// are the same definitions as all others, so one interpreter over linear forms folds all of them, by element:
//
//     [2 * $T, 3] gathered at 0  ->  [2 * $T];   2 * $T div 2 -> $T;   select($T < 0, ...) is decided
#include "import/onnx/form_folding.h"

#include <algorithm>

#include "ir/checked_arithmetic.h"
#include "support/error.h"

namespace tessera::import::onnx {
namespace {

using Form = std::optional<LinearForm>;

Form truth(bool holds) {
    return LinearForm{.constant = holds, .terms = {}};
}

class Folding {
public:
    Folding(const Definition& definition, const BoundExtents& extents, const std::vector<Forms>& operands,
            std::span<const DimSymbol> symbols)
        : definition_(definition),
          extents_(extents),
          operands_(operands),
          symbols_(symbols),
          iterators_(extents.iterators.size(), 0) {}

    std::optional<Forms> run() {
        const int result = definition_.results().front();
        const TensorDecl& decl = definition_.tensors[static_cast<size_t>(result)];
        const std::vector<int64_t>& shape = extents_.shapes[static_cast<size_t>(result)];
        int64_t elements = 1;
        for (const int64_t extent : shape) elements *= extent;
        std::vector<Form> folded(static_cast<size_t>(elements));
        bool has_more = true;
        for (; has_more; has_more = next()) {
            if (definition_.where) {
                const Form holds = value(definition_.where);
                if (!holds || !holds->is_constant()) return std::nullopt;
                if (holds->constant == 0) continue;
            }
            const std::optional<size_t> at = position(decl.map, shape);
            const Form element = value(definition_.body.front());
            if (!at || !element) return std::nullopt;
            Form& own = folded[*at];
            own = own ? joined(*own, *element) : element;
            if (!own) return std::nullopt;
        }
        Forms forms;
        for (const Form& each : folded) {
            if (!each) return std::nullopt;  // nothing has been folded there
            folded_ = *each;
            const Form last = definition_.post ? value(definition_.post) : each;
            if (!last || !fits(*last, decl.type)) return std::nullopt;
            forms.push_back(*last);
        }
        return forms;
    }

private:
    bool next() {
        for (size_t i = iterators_.size(); i > 0; --i) {
            if (++iterators_[i - 1] < extents_.iterators[i - 1]) return true;
            iterators_[i - 1] = 0;
        }
        return false;
    }

    Form joined(const LinearForm& a, const LinearForm& b) const {
        switch (definition_.monoid) {
            case Monoid::kSum:
                return sum(a, b);
            case Monoid::kProd:
                return product(a, b);
            case Monoid::kMax:
                return extreme(a, b, true);
            case Monoid::kMin:
                return extreme(a, b, false);
            case Monoid::kNone:
            case Monoid::kSoftmaxSum:
            case Monoid::kInOrder:
                return std::nullopt;
        }
        return std::nullopt;
    }

    bool fits(const LinearForm& form, ElementType type) const {
        if (type == ElementType::kI64) return true;
        const IntegerInterval all = range(form, symbols_);
        if (type == ElementType::kBool) return all.low >= 0 && all.high <= 1;
        return type == ElementType::kI32 && all.low >= INT32_MIN && all.high <= INT32_MAX;
    }

    /// Row-major; nothing where a coordinate is no number or lies outside.
    std::optional<size_t> position(const std::vector<ExprPtr>& coordinates,
                                   const std::vector<int64_t>& shape) {
        int64_t at = 0;
        for (size_t axis = 0; axis < shape.size(); ++axis) {
            const Form coordinate = value(coordinates[axis]);
            if (!coordinate || !coordinate->is_constant() || coordinate->constant < 0 ||
                coordinate->constant >= shape[axis])
                return std::nullopt;
            at = at * shape[axis] + coordinate->constant;
        }
        return static_cast<size_t>(at);
    }

    Form value(const ExprPtr& expr) {
        return std::visit([&](const auto& node) { return of(node); }, expr->node);
    }

    static Form of(const Number& number) {
        constexpr double kExact = 0x1p53;
        if (!number.is_integer || number.value < -kExact || number.value > kExact) return std::nullopt;
        return LinearForm{.constant = static_cast<int64_t>(number.value), .terms = {}};
    }
    static Form of(const Infinity&) { return std::nullopt; }
    Form of(const IteratorRef& iterator) const {
        return LinearForm{.constant = iterators_[static_cast<size_t>(iterator.index)], .terms = {}};
    }
    Form of(const DimRef& dim) const {
        return LinearForm{.constant = 0,
                          .terms = {{definition_.dims[static_cast<size_t>(dim.index)].name, 1}}};
    }
    static Form of(const FillPosition&) { return std::nullopt; }
    Form of(const Folded&) const { return folded_; }
    Form of(const Read& read) {
        const auto tensor = static_cast<size_t>(read.tensor);
        const std::optional<size_t> at = position(read.coordinates, extents_.shapes[tensor]);
        if (!at) return std::nullopt;
        return operands_[tensor].at(*at);
    }
    static Form of(const Cast&) { return std::nullopt; }
    Form of(const Apply& apply) {
        // A choice asks for what it chooses alone: the other one may lie outside of its tensor.
        if (apply.function == Function::kSelect) {
            const Form condition = value(apply.arguments[0]);
            if (!condition || !condition->is_constant()) return std::nullopt;
            return value(apply.arguments[condition->constant != 0 ? 1 : 2]);
        }
        const Form a = value(apply.arguments[0]);
        const Form b = apply.arguments.size() > 1 ? value(apply.arguments[1]) : LinearForm{};
        if (!a || !b) return std::nullopt;
        return applied(apply.function, *a, *b);
    }

    Form applied(Function function, const LinearForm& a, const LinearForm& b) const {
        switch (function) {
            case Function::kAdd:
                return sum(a, b);
            case Function::kSub:
                return sum(a, b, -1);
            case Function::kNegate:
                return sum({}, a, -1);
            case Function::kMul:
                return product(a, b);
            case Function::kAbs:
                return extreme(a, sum({}, a, -1), true);
            case Function::kMin:
                return extreme(a, b, false);
            case Function::kMax:
                return extreme(a, b, true);
            case Function::kFloorDiv:
            case Function::kMod:
                return divided(a, b, function == Function::kFloorDiv);
            case Function::kLess:
                return compared(a, b, [](int64_t d) { return d < 0; });
            case Function::kLessEqual:
                return compared(a, b, [](int64_t d) { return d <= 0; });
            case Function::kGreater:
                return compared(a, b, [](int64_t d) { return d > 0; });
            case Function::kGreaterEqual:
                return compared(a, b, [](int64_t d) { return d >= 0; });
            case Function::kEqual:
            case Function::kNotEqual: {
                const IntegerInterval difference = range(sum(a, b, -1), symbols_);
                const bool are_equal = difference.low == 0 && difference.high == 0;
                if (!are_equal && difference.low <= 0 && difference.high >= 0) return std::nullopt;
                return truth(are_equal == (function == Function::kEqual));
            }
            case Function::kAnd:
            case Function::kOr:
            case Function::kNot:
                if (!a.is_constant() || !b.is_constant()) return std::nullopt;
                if (function == Function::kNot) return truth(a.constant == 0);
                return truth(function == Function::kAnd ? a.constant != 0 && b.constant != 0
                                                        : a.constant != 0 || b.constant != 0);
            default:
                return std::nullopt;
        }
    }

    /// The comparison changes its answer once along the difference, so its ends decide.
    Form compared(const LinearForm& a, const LinearForm& b, bool (*holds)(int64_t)) const {
        const IntegerInterval difference = range(sum(a, b, -1), symbols_);
        if (holds(difference.low) != holds(difference.high)) return std::nullopt;
        return truth(holds(difference.low));
    }

    Form extreme(const LinearForm& a, const LinearForm& b, bool is_largest) const {
        const IntegerInterval difference = range(sum(a, b, -1), symbols_);
        if (difference.low >= 0) return is_largest ? a : b;
        if (difference.high <= 0) return is_largest ? b : a;
        return std::nullopt;
    }

    /// By a positive number that divides all coefficients, or beyond all values.
    Form divided(const LinearForm& a, const LinearForm& b, bool takes_quotient) const {
        if (!b.is_constant() || b.constant <= 0) return std::nullopt;
        const int64_t divisor = b.constant;
        LinearForm quotient{.constant = checked_floor_div(a.constant, divisor, ""), .terms = {}};
        for (const auto& [symbol, factor] : a.terms) {
            if (factor % divisor == 0) {
                quotient.terms[symbol] = factor / divisor;
                continue;
            }
            const IntegerInterval all = range(a, symbols_);
            const int64_t low = checked_floor_div(all.low, divisor, "");
            if (low != checked_floor_div(all.high, divisor, "")) return std::nullopt;
            quotient = {.constant = low, .terms = {}};
            break;
        }
        return takes_quotient ? quotient : sum(a, quotient, -divisor);
    }

    const Definition& definition_;
    const BoundExtents& extents_;
    const std::vector<Forms>& operands_;
    std::span<const DimSymbol> symbols_;
    std::vector<int64_t> iterators_;
    LinearForm folded_;
};

}  // namespace

std::optional<Forms> fold_forms(const Definition& definition, const BoundExtents& extents,
                                const std::vector<Forms>& operands, std::span<const DimSymbol> symbols) {
    if (definition.accumulator != ElementType::kI64) return std::nullopt;
    try {
        return Folding(definition, extents, operands, symbols).run();
    } catch (const Error&) {
        return std::nullopt;  // it exceeds 64 bits, and is left to when the model runs
    }
}

}  // namespace tessera::import::onnx
