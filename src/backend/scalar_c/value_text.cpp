#include "backend/scalar_c/value_text.h"

#include <cmath>

#include <fmt/format.h>

#include "backend/c_type.h"
#include "backend/operators.h"

namespace tessera::backend::scalar_c {
namespace {

using Kind = movement::NumberKind;

}  // namespace

std::string load_text(const movement::Load& load, const ValueContext& context) {
    const std::string& buffer = load.from.buffer;
    const std::string at = text_of_lane(load.from.offset, load.lane_stride, context);
    const ElementType type = load.from.element;
    std::string text;
    if (type == ElementType::kF16 || type == ElementType::kBF16) {
        text = fmt::format("tessera_{}({}[{}])", name(type), buffer, at);
    } else if (bits(type) < 8) {
        text = fmt::format("(float)tessera_{}bits({}, {}, {})", range(type).low < 0 ? "signed_" : "", buffer,
                           bits(type), at);
    } else {
        text = fmt::format("{}{}[{}]", type == ElementType::kF32 ? "" : "(float)", buffer, at);
    }
    std::string inside;
    for (const movement::Load::Guard& guard : load.guards) {
        const std::string coordinate = text_of_lane(guard.coordinate, guard.lane_stride, context);
        inside += fmt::format("{}{} >= 0 && {} < {}", inside.empty() ? "" : " && ", coordinate, coordinate,
                              text_of(guard.extent));
    }
    return inside.empty() ? text : fmt::format("({} ? {} : {})", inside, text, literal(load.outside));
}

namespace {

std::string round_text(const movement::RoundValue& rounded, const ValueContext& context) {
    const ElementType to = rounded.to;
    if (to == ElementType::kF32) return float_text(*rounded.argument, context);
    if (!is_integer(to))
        return fmt::format("tessera_{0}(tessera_to_{0}({1}))", name(to),
                           float_text(*rounded.argument, context));
    return fmt::format("(float)tessera_saturated({}, {}, {})", text_of(*rounded.argument, context),
                       range(to).low, range(to).high);
}

std::string list_of(const std::string& function, const std::vector<std::string>& arguments) {
    std::string list;
    for (const std::string& argument : arguments) list += (list.empty() ? "" : ", ") + argument;
    return fmt::format("{}({})", function, list);
}

/// The argument of a function of integers: a number is one, too.
std::string integer_text(const movement::ValueExpr& value, const ValueContext& context) {
    const auto* number = std::get_if<Number>(&value.node);
    return number ? fmt::format("INT64_C({})", static_cast<int64_t>(number->value)) : text_of(value, context);
}

std::string call_text(const movement::ApplyValue& call, const ValueContext& context) {
    const bool is_exact = movement::has_integer_arguments(call);
    const bool is_logic = call.function == Function::kAnd || call.function == Function::kOr;
    std::vector<std::string> arguments;
    for (const movement::ValuePtr& argument : call.arguments) {
        const bool is_condition = is_logic || call.function == Function::kNot ||
                                  (call.function == Function::kSelect && arguments.empty());
        arguments.push_back(is_condition ? condition_text(*argument, context)
                            : is_exact   ? integer_text(*argument, context)
                                         : float_text(*argument, context));
    }
    if (const char* operation = infix(call.function))
        return fmt::format("({} {} {})", arguments[0], operation, arguments[1]);
    switch (call.function) {
        case Function::kAnd:
            return fmt::format("({} && {})", arguments[0], arguments[1]);
        case Function::kOr:
            return fmt::format("({} || {})", arguments[0], arguments[1]);
        case Function::kNot:
            return fmt::format("(!{})", arguments[0]);
        case Function::kNegate:
            return fmt::format("(-{})", arguments[0]);
        case Function::kSelect:
            return fmt::format("({} ? {} : {})", arguments[0], arguments[1], arguments[2]);
        default:
            break;
    }
    if (movement::number_kind({call}) != Kind::kInteger)
        return "(float)" + list_of(fmt::format("tessera_f64_{}", name(call.function)), arguments);
    if (call.function == Function::kRound) return arguments[0];
    return list_of(fmt::format("tessera_{}", name(call.function)), arguments);
}

}  // namespace

std::string text_of_lane(const movement::Index& offset, int64_t lane_stride, const ValueContext& context) {
    std::string first = text_of(offset);
    if (context.lanes == 1 || lane_stride == 0) return first;
    const std::string step = lane_stride == 1 ? "lane" : fmt::format("lane * {}", lane_stride);
    return first == "0" ? step : first + " + " + step;
}

std::string text_of(const movement::ValueExpr& value, const ValueContext& context) {
    if (const auto* number = std::get_if<Number>(&value.node)) return literal(number->value);
    if (std::holds_alternative<Infinity>(value.node)) return literal(INFINITY);
    if (const auto* load = std::get_if<movement::Load>(&value.node)) return load_text(*load, context);
    if (const auto* rounded = std::get_if<movement::RoundValue>(&value.node))
        return round_text(*rounded, context);
    if (const auto* integer = std::get_if<movement::Integer>(&value.node))
        return fmt::format("((int64_t)({}))", text_of_lane(integer->value, integer->lane_stride, context));
    if (const auto* call = std::get_if<movement::ApplyValue>(&value.node)) return call_text(*call, context);
    const auto& accumulator = std::get<movement::AccumulatorRef>(value.node);
    const movement::Declare& declared = context.accumulators.at(accumulator.name);
    const std::string variable = identifier(accumulator.name);
    if (!accumulator.fold_lanes)
        return fmt::format("(float){}{}", variable, declared.lanes > 1 ? "[lane]" : "");
    std::string total = variable + "[0]";
    for (int64_t lane = 1; lane < declared.lanes; ++lane)
        total = fmt::format("{}({}, {}[{}])", folding_function(declared.monoid), total, variable, lane);
    return "(float)" + total;
}

std::string float_text(const movement::ValueExpr& value, const ValueContext& context) {
    const std::string text = text_of(value, context);
    return movement::number_kind(value) == Kind::kFloat ? text : "(float)" + text;
}

std::string condition_text(const movement::ValueExpr& value, const ValueContext& context) {
    const std::string text = text_of(value, context);
    return movement::number_kind(value) == Kind::kMask ? text : fmt::format("({} != 0)", text);
}

std::string literal(double value) {
    if (std::isinf(value)) return value > 0 ? "INFINITY" : "(-INFINITY)";
    std::string text = fmt::format("{:.9g}", static_cast<float>(value));
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return text[0] == '-' ? "(" + text + "f)" : text + "f";
}

const char* folding_function(Monoid monoid) {
    switch (monoid) {
        case Monoid::kProd:
            return "tessera_f64_prod";
        case Monoid::kMax:
            return "tessera_f64_max";
        case Monoid::kMin:
            return "tessera_f64_min";
        default:
            return "tessera_f64_sum";
    }
}

std::string_view memory_type(ElementType type) {
    if (type == ElementType::kF16 || type == ElementType::kBF16) return "uint16_t";
    const std::string_view found = c_type(type);
    return found.empty() ? "unsigned char" : found;
}

}  // namespace tessera::backend::scalar_c
