// Shapes that depend on symbols, as a model computes with them: Shape, Gather, Mul, Concat. Such operators
// are the same definitions as all others, so one interpreter over linear forms folds all of them, by element:
//
//     [2 * $T, 3] gathered at 0  ->  [2 * $T];   2 * $T div 2 -> $T;   select($T < 0, ...) is decided
//
// So are places, such as 0, 1, 2, ... up to a symbol: an iterator over a symbolic extent is not enumerated,
// but a symbol of its own, "@0" for the first one.
#include "import/onnx/form_folding.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "ir/checked_arithmetic.h"
#include "support/error.h"

namespace tessera::import::onnx {
namespace {

using Form = std::optional<LinearForm>;

/// Shapes are short.
constexpr int64_t kMostFormSteps = 4096;
constexpr char kAxisMark = '@';  // no name of the graph's notation has it

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
          symbols_(symbols.begin(), symbols.end()),
          iterators_(extents.iterators.size(), 0) {}

    std::optional<Forms> run() {
        if (!open_axes()) return std::nullopt;
        const int result = definition_.results().front();
        const TensorDecl& decl = definition_.tensors[static_cast<size_t>(result)];
        const std::vector<int64_t>& shape = extents_.shapes[static_cast<size_t>(result)];
        int64_t elements = 1, steps = 1;
        for (const int64_t extent : shape) elements *= extent;
        for (const int64_t extent : extents_.iterators) steps = std::min(steps * extent, kMostFormSteps + 1);
        if (steps > kMostFormSteps) return std::nullopt;
        std::vector<Form> folded(static_cast<size_t>(elements));
        Coordinates written;
        bool has_more = true;
        for (; has_more; has_more = next()) {
            if (definition_.where) {
                const Form holds = value(definition_.where);
                if (!holds || !holds->is_constant()) return std::nullopt;
                if (holds->constant == 0) continue;
            }
            const std::optional<size_t> at = position(static_cast<size_t>(result), decl.map, written);
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
            const Form renamed = in_axes(*last, written);
            if (!renamed) return std::nullopt;
            forms.push_back(*renamed);
        }
        return forms;
    }

private:
    /// By axis or iterator, those along symbolic extents.
    using Coordinates = std::map<size_t, LinearForm>;

    /// Iterators over symbolic extents become symbols. False where one of them is folded over.
    bool open_axes() {
        const auto symbolic = [&](const ExprPtr& extent) {
            const Form form = value(extent);
            return form && !form->is_constant() ? form : std::nullopt;
        };
        for (size_t i = 0; i < iterators_.size(); ++i) {
            const Iterator& iterator = definition_.iterators[i];
            const Form extent = symbolic(iterator.extent);
            if (!extent) continue;
            if (iterator.is_reduction) return false;
            const int64_t high = range(*extent, symbols_).high;
            symbols_.push_back({.name = axis_symbol(i), .low = 0, .high = std::max<int64_t>(high - 1, 0)});
            extents_.iterators[i] = 1;
            open_iterators_[i] = *extent;
        }
        open_.resize(definition_.tensors.size());
        for (size_t tensor = 0; tensor < open_.size(); ++tensor) {
            const auto& shape = definition_.tensors[tensor].shape;
            for (size_t axis = 0; shape && axis < shape->size(); ++axis)
                if (const Form extent = symbolic((*shape)[axis])) {
                    open_[tensor][axis] = *extent;
                    extents_.shapes[tensor][axis] = 1;
                }
        }
        return true;
    }

    /// A result in terms of its axes. Nothing where its coordinates are no iterators, or it has others.
    static Form in_axes(const LinearForm& form, const Coordinates& written) {
        LinearForm result{.constant = form.constant, .terms = {}};
        for (const auto& [symbol, factor] : form.terms) {
            std::string name = symbol;
            if (axis_of(symbol)) {
                const auto axis = std::ranges::find_if(written, [&](const auto& each) {
                    return each.second == LinearForm{.constant = 0, .terms = {{name, 1}}};
                });
                if (axis == written.end()) return std::nullopt;
                name = axis_symbol(axis->first);
            }
            result.terms[name] = factor;
        }
        return result;
    }

    /// A form in terms of axes at these coordinates.
    static LinearForm at_coordinates(const LinearForm& form, const Coordinates& read) {
        LinearForm result{.constant = form.constant, .terms = {}};
        for (const auto& [symbol, factor] : form.terms) {
            const std::optional<size_t> axis = axis_of(symbol);
            result = sum(result, axis ? read.at(*axis) : LinearForm{.constant = 0, .terms = {{symbol, 1}}},
                         factor);
        }
        return result;
    }

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

    /// True if it is an iterator of this extent, or a number below all of its values: what is read outside is
    /// no element.
    bool lies_along(const LinearForm& coordinate, const LinearForm& extent) const {
        if (coordinate.is_constant())
            return coordinate.constant >= 0 && coordinate.constant < range(extent, symbols_).low;
        return std::ranges::any_of(open_iterators_, [&](const auto& open) {
            return open.second == extent &&
                   coordinate == LinearForm{.constant = 0, .terms = {{axis_symbol(open.first), 1}}};
        });
    }

    /// Row-major; nothing where a coordinate is no number or lies outside. @param along symbolic extents
    std::optional<size_t> position(size_t tensor, const std::vector<ExprPtr>& coordinates,
                                   Coordinates& along) {
        const std::vector<int64_t>& shape = extents_.shapes[tensor];
        int64_t at = 0;
        for (size_t axis = 0; axis < shape.size(); ++axis) {
            const Form coordinate = value(coordinates[axis]);
            if (const auto extent = open_[tensor].find(axis); extent != open_[tensor].end()) {
                if (!coordinate || !lies_along(*coordinate, extent->second)) return std::nullopt;
                along[axis] = *coordinate;
                continue;
            }
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
        const auto index = static_cast<size_t>(iterator.index);
        if (open_iterators_.contains(index))
            return LinearForm{.constant = 0, .terms = {{axis_symbol(index), 1}}};
        return LinearForm{.constant = iterators_[index], .terms = {}};
    }
    Form of(const DimRef& dim) const {
        return LinearForm{.constant = 0,
                          .terms = {{definition_.dims[static_cast<size_t>(dim.index)].name, 1}}};
    }
    static Form of(const FillPosition&) { return std::nullopt; }
    Form of(const Folded&) const { return folded_; }
    Form of(const Read& read) {
        const auto tensor = static_cast<size_t>(read.tensor);
        Coordinates along;
        const std::optional<size_t> at = position(tensor, read.coordinates, along);
        if (!at) return std::nullopt;
        return at_coordinates(operands_[tensor].at(*at), along);
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
    BoundExtents extents_;
    const std::vector<Forms>& operands_;
    std::vector<DimSymbol> symbols_;  ///< of the graph, and of open iterators
    std::vector<int64_t> iterators_;
    Coordinates open_iterators_;     ///< those over symbolic extents, with these
    std::vector<Coordinates> open_;  ///< of each tensor, the axes with symbolic extents, with these
    LinearForm folded_;
};

}  // namespace

std::string axis_symbol(size_t axis) {
    return kAxisMark + std::to_string(axis);
}

std::optional<size_t> axis_of(std::string_view symbol) {
    size_t axis = 0;
    if (!symbol.starts_with(kAxisMark)) return std::nullopt;
    std::from_chars(symbol.data() + 1, symbol.data() + symbol.size(), axis);
    return axis;
}

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
