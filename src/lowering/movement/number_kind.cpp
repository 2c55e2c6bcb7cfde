#include "lowering/movement/number_kind.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

#include "lowering/movement/program.h"

namespace tessera::movement {
namespace {

__extension__ typedef __int128 WideBound;

bool is_whole_number(const ValueExpr& value) {
    const auto* number = std::get_if<Number>(&value.node);
    return number && number->is_integer;
}

bool is_integer_kind(const ValueExpr& value) {
    return number_kind(value) == NumberKind::kInteger;
}

/// The arguments of a call that are computed in the same numbers as each other: not the condition of a
/// select.
std::span<const ValuePtr> alike(const ApplyValue& call) {
    const std::span<const ValuePtr> all = call.arguments;
    return call.function == Function::kSelect ? all.subspan(1) : all;
}

int64_t saturated(WideBound bound) {
    return static_cast<int64_t>(std::clamp<WideBound>(bound, -kFar, kFar));
}

int64_t floored(int64_t a, int64_t b) {
    return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

Bounds around(std::initializer_list<WideBound> corners) {
    return {saturated(std::min(corners)), saturated(std::max(corners))};
}

/// @pre b does not contain 0
Bounds quotient_bounds(const Bounds& a, const Bounds& b) {
    return around(
        {floored(a.low, b.low), floored(a.low, b.high), floored(a.high, b.low), floored(a.high, b.high)});
}

Bounds call_bounds(const ApplyValue& call) {
    const auto argument = [&](size_t i) { return integer_bounds(*call.arguments[i]); };
    const Bounds a = argument(call.function == Function::kSelect ? 1 : 0);
    if (call.arguments.size() == 1) {
        if (call.function == Function::kNegate) return {-a.high, -a.low};
        if (call.function == Function::kRound || a.low >= 0) return a;
        return {std::max<int64_t>(0, -a.high), std::max(-a.low, a.high)};  // abs
    }
    const Bounds b = argument(call.function == Function::kSelect ? 2 : 1);
    const auto wide = [](int64_t x) { return static_cast<WideBound>(x); };
    switch (call.function) {
        case Function::kAdd:
            return around({wide(a.low) + b.low, wide(a.high) + b.high});
        case Function::kSub:
            return around({wide(a.low) - b.high, wide(a.high) - b.low});
        case Function::kMul:
            return around(
                {wide(a.low) * b.low, wide(a.low) * b.high, wide(a.high) * b.low, wide(a.high) * b.high});
        case Function::kFloorDiv:
            return quotient_bounds(a, b);
        case Function::kMod:
            return b.low > 0 ? Bounds{0, b.high - 1} : Bounds{b.low + 1, 0};
        case Function::kMin:
            return {std::min(a.low, b.low), std::min(a.high, b.high)};
        case Function::kMax:
            return {std::max(a.low, b.low), std::max(a.high, b.high)};
        default:
            return {std::min(a.low, b.low), std::max(a.high, b.high)};  // select
    }
}

bool is_within(const Bounds& bounds, int64_t low, int64_t high) {
    return bounds.low >= low && bounds.high <= high;
}

/// True if the bounds of the value and of everything that it is computed of lie in [low, high].
bool stays_within(const ValueExpr& value, int64_t low, int64_t high) {
    if (!is_within(integer_bounds(value), low, high)) return false;
    const auto* call = std::get_if<ApplyValue>(&value.node);
    return !call || std::ranges::all_of(alike(*call), [&](const ValuePtr& argument) {
        return stays_within(*argument, low, high);
    });
}

}  // namespace

bool has_integer_arguments(const ApplyValue& call) {
    if (!is_comparison(call.function) && !gives_integers_of_integers(call.function)) return false;
    const std::span<const ValuePtr> arguments = alike(call);
    if (std::ranges::none_of(arguments, [](const ValuePtr& a) { return is_integer_kind(*a); })) return false;
    return std::ranges::all_of(arguments,
                               [](const ValuePtr& a) { return is_integer_kind(*a) || is_whole_number(*a); });
}

NumberKind number_kind(const ValueExpr& value) {
    if (std::holds_alternative<Integer>(value.node)) return NumberKind::kInteger;
    const auto* call = std::get_if<ApplyValue>(&value.node);
    if (!call) return NumberKind::kFloat;
    if (is_comparison(call->function) || call->function == Function::kAnd ||
        call->function == Function::kOr || call->function == Function::kNot)
        return NumberKind::kMask;
    if (!has_integer_arguments(*call)) return NumberKind::kFloat;
    if (call->function != Function::kFloorDiv && call->function != Function::kMod)
        return NumberKind::kInteger;
    const Bounds divisor = integer_bounds(*call->arguments[1]);
    return divisor.low > 0 || divisor.high < 0 ? NumberKind::kInteger : NumberKind::kFloat;
}

Bounds integer_bounds(const ValueExpr& value) {
    if (const auto* number = std::get_if<Number>(&value.node)) {
        const auto whole = static_cast<int64_t>(number->value);
        return {whole, whole};
    }
    if (const auto* integer = std::get_if<Integer>(&value.node)) {
        const Bounds first = integer->value.bounds();
        const WideBound steps = static_cast<WideBound>(integer->lane_stride) * (kMostLanes - 1);
        return {saturated(first.low + std::min<WideBound>(steps, 0)),
                saturated(first.high + std::max<WideBound>(steps, 0))};
    }
    return call_bounds(std::get<ApplyValue>(value.node));
}

bool fits_32_bits(const ValueExpr& value) {
    using Limits = std::numeric_limits<int32_t>;
    return stays_within(value, Limits::min(), Limits::max());
}

bool may_exceed_64_bits(const ValueExpr& value) {
    const auto* integer = std::get_if<Integer>(&value.node);
    if (integer && may_exceed_64_bits(integer->value)) return true;
    if (!is_within(integer_bounds(value), -kFar + 1, kFar - 1)) return true;
    const auto* call = std::get_if<ApplyValue>(&value.node);
    return call && std::ranges::any_of(
                       alike(*call), [](const ValuePtr& argument) { return may_exceed_64_bits(*argument); });
}

bool may_exceed_64_bits(const Index& index) {
    if (!is_within(index.bounds(), -kFar + 1, kFar - 1)) return true;
    return std::ranges::any_of(index.terms(), [](const Index::Term& term) {
        return std::ranges::any_of(term.atom->arguments,
                                   [](const Index& argument) { return may_exceed_64_bits(argument); });
    });
}

}  // namespace tessera::movement
