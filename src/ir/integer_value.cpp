#include "ir/integer_value.h"

#include <algorithm>
#include <cmath>

#include "ir/checked_arithmetic.h"

namespace tessera {
namespace {

class IntegerEvaluator {
public:
    IntegerEvaluator(const IntegerScope& scope, const std::string& where) : scope_(scope), where_(where) {}

    int64_t value(const Expr& expr) const {
        return std::visit([&](const auto& node) { return value_of(node); }, expr.node);
    }

private:
    int64_t value_of(const Number& number) const {
        if (!number.is_integer) refuse(fmt::format("the number {}", number.value));
        return static_cast<int64_t>(number.value);
    }
    int64_t value_of(const Infinity&) const { refuse("`inf`"); }
    int64_t value_of(const Folded&) const { refuse("a monoid call"); }
    int64_t value_of(const FillPosition&) const { return scope_.fill_position; }
    int64_t value_of(const IteratorRef& iterator) const { return element(scope_.iterators, iterator.index); }
    int64_t value_of(const DimRef& dim) const { return element(scope_.dims, dim.index); }
    int64_t value_of(const Read& read) const {
        if (!scope_.read) refuse("a read");
        return scope_.read(read);
    }
    int64_t value_of(const Cast& cast) const {
        if (!is_integer(cast.to)) refuse(fmt::format("a cast to {}", name(cast.to)));
        const IntegerRange limits = range(cast.to);
        return std::clamp(value(*cast.argument), limits.low, limits.high);
    }
    int64_t value_of(const Apply& apply) const {
        const int64_t a = value(*apply.arguments[0]);
        if (apply.arguments.size() == 1) return unary(apply.function, a);
        const int64_t b = value(*apply.arguments[1]);
        if (apply.function == Function::kSelect) {
            const int64_t otherwise = value(*apply.arguments[2]);
            return a != 0 ? b : otherwise;
        }
        return binary(apply.function, a, b);
    }

    int64_t unary(Function function, int64_t a) const {
        switch (function) {
            case Function::kNegate:
                return checked_sub(0, a, where_);
            case Function::kAbs:
                return a < 0 ? checked_sub(0, a, where_) : a;
            case Function::kRound:
                return a;
            case Function::kNot:
                return a == 0;
            default:
                refuse(fmt::format("`{}`", name(function)));
        }
    }

    int64_t binary(Function function, int64_t a, int64_t b) const {
        switch (function) {
            case Function::kAdd:
                return checked_add(a, b, where_);
            case Function::kSub:
                return checked_sub(a, b, where_);
            case Function::kMul:
                return checked_mul(a, b, where_);
            case Function::kFloorDiv:
                return checked_floor_div(a, b, where_);
            case Function::kMod:
                return checked_floor_mod(a, b, where_);
            case Function::kMin:
                return std::min(a, b);
            case Function::kMax:
                return std::max(a, b);
            case Function::kLess:
                return a < b;
            case Function::kLessEqual:
                return a <= b;
            case Function::kGreater:
                return a > b;
            case Function::kGreaterEqual:
                return a >= b;
            case Function::kEqual:
                return a == b;
            case Function::kNotEqual:
                return a != b;
            case Function::kAnd:
                return a != 0 && b != 0;
            case Function::kOr:
                return a != 0 || b != 0;
            default:
                refuse(fmt::format("`{}`", name(function)));
        }
    }

    int64_t element(std::span<const int64_t> values, int index) const {
        TESSERA_CHECK(index >= 0 && static_cast<size_t>(index) < values.size(), "name {} of {} has no value",
                      index, values.size());
        return values[static_cast<size_t>(index)];
    }

    [[noreturn]] void refuse(const std::string& what) const {
        throw Error(where_, "", fmt::format("{} stands in an integer expression", what));
    }

    const IntegerScope& scope_;
    const std::string& where_;
};

}  // namespace

int64_t integer_value(const Expr& expr, const IntegerScope& scope, const std::string& where) {
    return IntegerEvaluator(scope, where).value(expr);
}

int64_t evaluate_constant(const ExprPtr& expr, const std::vector<int64_t>& dims) {
    return integer_value(*expr, {.dims = dims, .iterators = {}, .fill_position = 0, .read = nullptr}, "");
}

}  // namespace tessera
