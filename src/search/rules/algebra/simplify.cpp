#include "search/rules/algebra/simplify.h"

#include <cmath>

#include "search/rules/algebra/formulas.h"

namespace tessera::rules {
namespace {

const Number* literal(const ExprPtr& expr) {
    return std::get_if<Number>(&expr->node);
}
bool is_one(const ExprPtr& expr) {
    const Number* n = literal(expr);
    return n && n->value == 1;
}
bool is_zero(const ExprPtr& expr, bool is_negative) {
    const Number* n = literal(expr);
    return n && n->value == 0 && std::signbit(n->value) == is_negative;
}
/// True if the value is an integer, which has one zero.
bool is_integer_read(const ExprPtr& expr, const Definition& definition) {
    const auto* access = std::get_if<Read>(&expr->node);
    return access && is_integer(definition.tensors[static_cast<size_t>(access->tensor)].type);
}

/// The simplified call, given simplified arguments.
ExprPtr without_identity(const ExprPtr& whole, const Apply& call, const Definition& definition) {
    const ExprPtr& x = call.arguments.front();
    const ExprPtr& y = call.arguments.back();
    switch (call.function) {
        case Function::kMul:
            if (is_one(y)) return x;
            return is_one(x) ? y : whole;
        case Function::kDivide:
            return is_one(y) ? x : whole;
        case Function::kSub:
            return is_zero(y, false) ? x : whole;
        case Function::kAdd:
            if (is_zero(y, true) || (is_zero(y, false) && is_integer_read(x, definition))) return x;
            if (is_zero(x, true) || (is_zero(x, false) && is_integer_read(y, definition))) return y;
            return whole;
        case Function::kNegate:
            if (const Apply* inner = call_of(x, Function::kNegate)) return inner->arguments.front();
            return whole;
        case Function::kAbs:
            if (call_of(x, Function::kAbs)) return x;
            if (const Apply* inner = call_of(x, Function::kNegate))
                return apply(Function::kAbs, {inner->arguments.front()});
            return whole;
        case Function::kMin:
        case Function::kMax:
            return same(x, y) ? x : whole;
        default:
            return whole;
    }
}

}  // namespace

ExprPtr simplified(const ExprPtr& expr, const Definition& definition) {
    if (!expr) return expr;
    if (const auto* to = std::get_if<Cast>(&expr->node)) {
        const ExprPtr argument = simplified(to->argument, definition);
        return argument == to->argument ? expr : cast(to->to, argument);
    }
    const auto* call = std::get_if<Apply>(&expr->node);
    if (!call) return expr;
    std::vector<ExprPtr> arguments;
    for (const ExprPtr& argument : call->arguments) arguments.push_back(simplified(argument, definition));
    const ExprPtr whole = arguments == call->arguments ? expr : apply(call->function, std::move(arguments));
    const auto* again = std::get_if<Apply>(&whole->node);
    return again ? without_identity(whole, *again, definition) : whole;
}

std::optional<std::pair<ExprPtr, double>> taken_scale(const ExprPtr& body) {
    const auto* call = std::get_if<Apply>(&body->node);
    if (!call || (call->function != Function::kMul && call->function != Function::kDivide)) return {};
    const bool is_division = call->function == Function::kDivide;
    for (const size_t side : {size_t{1}, size_t{0}}) {
        if (side == 0 && is_division) break;
        const Number* n = literal(call->arguments[side]);
        if (!n || n->value <= 0) continue;
        int exponent = 0;
        if (std::frexp(n->value, &exponent) != 0.5 || std::abs(exponent - 1) > 64 || n->value == 1) continue;
        return std::pair(call->arguments[1 - side], is_division ? 1 / n->value : n->value);
    }
    return {};
}

}  // namespace tessera::rules
