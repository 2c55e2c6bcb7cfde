// Integers of a body. Scalars have 64 bits. Lanes have 32 where the ranges of all integers on the way say
// that these suffice, as in nearly every body, and else 64 (include/tessera/ntt/integers.h).
//
//     where s <= start[b] + i, lanes along s < 4096:
//     ntt::iota<..>() + s  <=  ntt::saturated(start[b] + i)
//
// A lone integer of 64 bits beside lanes of 32 in a comparison becomes the nearest one of 32: as the lanes
// never hold the ends of the range, the comparison gives the same.
#include "backend/cpp/integer_value.h"

#include <limits>

#include "backend/operators.h"
#include "support/error.h"

namespace tessera::backend::cpp {
namespace {

using IntegerLimits = std::numeric_limits<int32_t>;

std::string in_brackets(const std::string& text) {
    return text.find(' ') == std::string::npos ? text : "(" + text + ")";
}

/// The first lane of an integer, or the integer without lanes.
Text lanes_of_integer(const movement::Integer& integer, const ValueContext& context, bool is_wide) {
    const std::string first = text_of(integer.value);
    if (integer.lane_stride == 0 || context.lanes == 1)
        return {in_brackets(first), movement::NumberKind::kInteger};
    if (is_wide)
        return {fmt::format("ntt::count_from<{}>({}, {})", context.lanes, first, integer.lane_stride),
                movement::NumberKind::kInteger, true, true};
    return {fmt::format("(ntt::iota<{}>(){} + static_cast<int32_t>({}))", context.vector_of_int(),
                        integer.lane_stride == 1 ? "" : fmt::format(" * {}", integer.lane_stride), first),
            movement::NumberKind::kInteger, true};
}

/// The text beside lanes of integers.
std::string beside_lanes(const Text& value, bool is_wide) {
    return value.has_lanes || is_wide ? value.text : fmt::format("static_cast<int32_t>({})", value.text);
}

/// The text in lanes, for functions that want all arguments of one type.
std::string in_lanes(const Text& value, const ValueContext& context, bool is_wide) {
    if (value.has_lanes) return value.text;
    if (is_wide) return fmt::format("ntt::count_from<{}>({}, 0)", context.lanes, value.text);
    return fmt::format("ntt::broadcast<{}>(static_cast<int32_t>({}))", context.vector_of_int(), value.text);
}

Text select_text(const movement::ApplyValue& call, const ValueContext& context, bool is_wide) {
    const Text condition = condition_text(*call.arguments[0], context);
    const Text a = integer_text(*call.arguments[1], context, is_wide);
    const Text b = integer_text(*call.arguments[2], context, is_wide);
    const bool lanes = condition.has_lanes || a.has_lanes || b.has_lanes;
    if (!lanes)
        return {fmt::format("({} ? int64_t{{{}}} : int64_t{{{}}})", condition.text, a.text, b.text),
                movement::NumberKind::kInteger};
    const std::string yes = in_lanes(a, context, is_wide), no = in_lanes(b, context, is_wide);
    return {condition.has_lanes ? fmt::format("ntt::select({}, {}, {})", condition.text, yes, no)
                                : fmt::format("({} ? {} : {})", condition.text, yes, no),
            movement::NumberKind::kInteger, true, is_wide};
}

/// `min(a, b)` and so on; int64_t is stated for scalars, since literals are of other types.
std::string call_of(const std::string& function, const std::vector<Text>& arguments, bool is_wide) {
    bool lanes = false;
    for (const Text& argument : arguments) lanes |= argument.has_lanes;
    std::string list;
    for (const Text& argument : arguments) {
        list += list.empty() ? "" : ", ";
        list += lanes ? beside_lanes(argument, is_wide) : fmt::format("int64_t{{{}}}", argument.text);
    }
    return fmt::format("ntt::{}({})", function, list);
}

Text arithmetic_text(const movement::ApplyValue& call, const ValueContext& context, bool is_wide) {
    if (call.function == Function::kSelect) return select_text(call, context, is_wide);
    std::vector<Text> arguments;
    bool lanes = false;
    for (const movement::ValuePtr& argument : call.arguments) {
        arguments.push_back(integer_text(*argument, context, is_wide));
        lanes |= arguments.back().has_lanes;
    }
    const auto result = [&](std::string text) {
        return Text{std::move(text), movement::NumberKind::kInteger, lanes, lanes && is_wide};
    };
    const Text& a = arguments.front();
    if (call.function == Function::kRound) return a;
    if (call.function == Function::kNegate) return result(fmt::format("(-{})", a.text));
    if (const char* operation = infix(call.function)) {
        if (!lanes) return result(fmt::format("({} {} {})", a.text, operation, arguments[1].text));
        return result(fmt::format("({} {} {})", beside_lanes(a, is_wide), operation,
                                  beside_lanes(arguments[1], is_wide)));
    }
    const std::string function = call.function == Function::kFloorDiv ? "floor_div"
                                 : call.function == Function::kMod    ? "floor_mod"
                                                                      : std::string(name(call.function));
    return result(call_of(function, arguments, is_wide));
}

/// True if the numbers of these lanes fit 32 bits and never are the least or the largest one.
bool is_inside_32_bits(const movement::ValueExpr& value) {
    const movement::Bounds bounds = integer_bounds(value);
    return fits_32_bits(value) && bounds.low > IntegerLimits::min() && bounds.high < IntegerLimits::max();
}

Text comparison_text(const movement::ApplyValue& call, const ValueContext& context) {
    const movement::ValueExpr& first = *call.arguments[0];
    const movement::ValueExpr& second = *call.arguments[1];
    bool is_wide = !fits_32_bits(first) || !fits_32_bits(second);
    Text a = integer_text(first, context, is_wide), b = integer_text(second, context, is_wide);
    if (is_wide && a.has_lanes != b.has_lanes && is_inside_32_bits(a.has_lanes ? first : second)) {
        is_wide = false;
        Text& lone = a.has_lanes ? b : a;
        lone.text = fmt::format("ntt::saturated(int64_t{{{}}})", lone.text);
        (a.has_lanes ? a : b) = integer_text(a.has_lanes ? first : second, context, false);
    }
    const bool lanes = a.has_lanes || b.has_lanes;
    const auto side = [&](const Text& text) { return lanes ? beside_lanes(text, is_wide) : text.text; };
    return {fmt::format("({} {} {})", side(a), infix(call.function), side(b)), movement::NumberKind::kMask,
            lanes};
}

}  // namespace

Text integer_text(const movement::ValueExpr& value, const ValueContext& context, bool is_wide) {
    if (const auto* number = std::get_if<Number>(&value.node))
        return {fmt::format("{}", static_cast<int64_t>(number->value)), movement::NumberKind::kInteger};
    if (const auto* integer = std::get_if<movement::Integer>(&value.node))
        return lanes_of_integer(*integer, context, is_wide);
    return arithmetic_text(std::get<movement::ApplyValue>(value.node), context, is_wide);
}

Text integer_call_text(const movement::ApplyValue& call, const ValueContext& context) {
    if (is_comparison(call.function)) return comparison_text(call, context);
    const movement::ValueExpr whole{call};
    if (number_kind(whole) == movement::NumberKind::kInteger)
        return arithmetic_text(call, context, !fits_32_bits(whole));
    // A divisor may be 0.
    const std::vector<Text> arguments = {integer_text(*call.arguments[0], context, true),
                                         integer_text(*call.arguments[1], context, true)};
    const bool is_div = call.function == Function::kFloorDiv;
    return {call_of(is_div ? "float_floor_div" : "float_floor_mod", arguments, true),
            movement::NumberKind::kFloat, arguments[0].has_lanes || arguments[1].has_lanes};
}

std::string text_of_i32(const movement::ValueExpr& value, const ValueContext& context, bool has_lanes) {
    const bool is_wide = !fits_32_bits(value);
    const Text text = integer_text(value, context, is_wide);
    if (!has_lanes) return fmt::format("ntt::saturated(int64_t{{{}}})", text.text);
    const std::string lanes = in_lanes(text, context, is_wide);
    return is_wide ? fmt::format("ntt::saturated({})", lanes) : lanes;
}

}  // namespace tessera::backend::cpp
