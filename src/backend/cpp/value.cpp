#include "backend/cpp/value.h"

#include <algorithm>
#include <cmath>

#include "backend/cpp/integer_value.h"
#include "backend/operators.h"
#include "support/error.h"

namespace tessera::backend::cpp {

std::string ValueContext::vector() const {
    return lanes == 1 ? "float" : fmt::format("ntt::Vector<float, {}>", lanes);
}

std::string ValueContext::vector_of_int() const {
    return lanes == 1 ? "int32_t" : fmt::format("ntt::Vector<int32_t, {}>", lanes);
}

std::string address_text(const movement::Address& address) {
    const std::string offset = text_of(address.offset);
    return offset == "0" ? address.buffer : address.buffer + " + " + offset;
}

std::string float_literal(double value) {
    if (std::isinf(value)) return value > 0 ? "__builtin_inff()" : "-__builtin_inff()";
    std::string text = fmt::format("{:.9g}", value);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return text + "f";
}

namespace {

using Kind = movement::NumberKind;

Text as_float(Text value, const ValueContext& context) {
    if (value.kind == Kind::kFloat) return value;
    if (value.kind == Kind::kMask) {
        const std::string type = value.has_lanes ? context.vector() : "float";
        return {fmt::format("ntt::select({}, {}(1.0f), {}(0.0f))", value.text,
                            value.has_lanes ? "ntt::broadcast<" + type + ">" : "",
                            value.has_lanes ? "ntt::broadcast<" + type + ">" : ""),
                Kind::kFloat, value.has_lanes};
    }
    return {value.has_lanes ? fmt::format("ntt::convert<float>({})", value.text)
                            : fmt::format("static_cast<float>({})", value.text),
            Kind::kFloat, value.has_lanes};
}

/// With lanes, for functions that want all arguments of one type.
std::string widened(const Text& value, const ValueContext& context) {
    if (value.has_lanes || context.lanes == 1) return value.text;
    if (value.kind == Kind::kMask) {
        return fmt::format("(ntt::broadcast<{}>({} ? 1 : 0) != 0)", context.vector_of_int(), value.text);
    }
    return fmt::format("ntt::broadcast<{}>({})", context.vector(), value.text);
}

const movement::Load::Guard* guard_of_lanes(const movement::Load& load, const ValueContext& context) {
    const auto guard = std::ranges::find_if(
        load.guards, [](const movement::Load::Guard& each) { return each.lane_stride > 0; });
    return guard == load.guards.end() || context.lanes == 1 ? nullptr : &*guard;
}

std::string stride_text(int64_t stride) {
    return fmt::format("ntt::Int<{}>{{}}", stride);
}

Text load_text(const movement::Load& load, const ValueContext& context) {
    Text result;
    const movement::Load::Guard* const lanes = guard_of_lanes(load, context);
    if (lanes) {
        result = {fmt::format("ntt::load_inside<{}>({}, {}, {}, ntt::Int<{}>{{}}, {}, {}, {})",
                              context.vector(), address_text(load.from), stride_text(load.lane_stride),
                              text_of(lanes->coordinate), lanes->lane_stride, text_of(lanes->extent),
                              context.valid, float_literal(load.outside)),
                  Kind::kFloat, true};
    } else if (load.lane_stride == 0 || context.lanes == 1) {
        result.text = load.from.element == ElementType::kF32
                          ? fmt::format("{}[{}]", load.from.buffer, text_of(load.from.offset))
                          : fmt::format("ntt::element({}, {})", load.from.buffer, text_of(load.from.offset));
    } else if (load.lane_stride == 1) {
        result = {fmt::format("ntt::load_group<{}>({}, {})", context.vector(), address_text(load.from),
                              context.valid),
                  Kind::kFloat, true};
    } else {
        result = {fmt::format("ntt::load_strided_group<{}>({}, {}, {})", context.vector(),
                              address_text(load.from), stride_text(load.lane_stride), context.valid),
                  Kind::kFloat, true};
    }
    std::string inside;
    for (const movement::Load::Guard& guard : load.guards) {
        if (&guard == lanes) continue;
        const std::string at = text_of(guard.coordinate);
        inside +=
            fmt::format("{}{} >= 0 && {} < {}", inside.empty() ? "" : " && ", at, at, text_of(guard.extent));
    }
    if (!inside.empty()) {
        Text otherwise{float_literal(load.outside), Kind::kFloat, false};
        result.text = fmt::format("({} ? {} : {})", inside, result.text,
                                  result.has_lanes ? widened(otherwise, context) : otherwise.text);
    }
    return result;
}

std::string rounded_text(ElementType to, const std::string& value) {
    if (!is_integer(to)) return fmt::format("ntt::rounded<ntt::{}>({})", name(to), value);
    const IntegerRange limits = range(to);
    return fmt::format("ntt::saturated({}, {}, {})", float_literal(static_cast<double>(limits.low)),
                       float_literal(static_cast<double>(limits.high)), value);
}

/// As NTT calls it.
std::string function_name(Function function) {
    if (function == Function::kFloorDiv) return "floor_div";
    if (function == Function::kMod) return "floor_mod";
    return std::string(name(function));
}

Text infix_text(const movement::ApplyValue& call, const ValueContext& context) {
    const Text a = as_float(text_of(*call.arguments[0], context), context);
    const Text b = as_float(text_of(*call.arguments[1], context), context);
    return {fmt::format("({} {} {})", a.text, infix(call.function), b.text),
            is_comparison(call.function) ? Kind::kMask : Kind::kFloat, a.has_lanes || b.has_lanes};
}

Text logic_text(const movement::ApplyValue& call, const ValueContext& context) {
    const Text a = condition_text(*call.arguments[0], context);
    if (call.function == Function::kNot) {
        return {a.has_lanes ? fmt::format("ntt::logical_not({})", a.text) : fmt::format("(!{})", a.text),
                Kind::kMask, a.has_lanes};
    }
    const Text b = condition_text(*call.arguments[1], context);
    const bool is_and = call.function == Function::kAnd;
    if (!a.has_lanes && !b.has_lanes)
        return {fmt::format("({} {} {})", a.text, is_and ? "&&" : "||", b.text), Kind::kMask, false};
    return {fmt::format("ntt::logical_{}({}, {})", is_and ? "and" : "or", widened(a, context),
                        widened(b, context)),
            Kind::kMask, true};
}

Text call_text(const movement::ApplyValue& call, const ValueContext& context) {
    if (has_integer_arguments(call)) return integer_call_text(call, context);
    if (infix(call.function)) return infix_text(call, context);
    switch (call.function) {
        case Function::kAnd:
        case Function::kOr:
        case Function::kNot:
            return logic_text(call, context);
        case Function::kNegate: {
            const Text a = as_float(text_of(*call.arguments[0], context), context);
            return {fmt::format("(-{})", a.text), Kind::kFloat, a.has_lanes};
        }
        case Function::kSelect: {
            const Text condition = condition_text(*call.arguments[0], context);
            const Text a = as_float(text_of(*call.arguments[1], context), context);
            const Text b = as_float(text_of(*call.arguments[2], context), context);
            if (!condition.has_lanes) {
                const bool lanes = a.has_lanes || b.has_lanes;
                return {fmt::format("({} ? {} : {})", condition.text, lanes ? widened(a, context) : a.text,
                                    lanes ? widened(b, context) : b.text),
                        Kind::kFloat, lanes};
            }
            const std::string no = widened(b, context);
            const std::string chosen =
                fmt::format("ntt::select({}, {}, {})", condition.text, widened(a, context), no);
            // As in a sum, an index of iterations that are not executed may point anywhere.
            return {is_chosen(*call.arguments[1])
                        ? fmt::format("(ntt::any({}) ? {} : {})", condition.text, chosen, no)
                        : chosen,
                    Kind::kFloat, true};
        }
        default:
            break;
    }
    std::string arguments;
    bool lanes = false;
    std::vector<Text> texts;
    for (const movement::ValuePtr& a : call.arguments) {
        texts.push_back(as_float(text_of(*a, context), context));
        lanes |= texts.back().has_lanes;
    }
    for (const Text& t : texts)
        arguments += (arguments.empty() ? "" : ", ") + (lanes ? widened(t, context) : t.text);
    return {fmt::format("ntt::{}({})", function_name(call.function), arguments), Kind::kFloat, lanes};
}

}  // namespace

namespace {

bool reads_index(const movement::Index& index) {
    return std::ranges::any_of(index.terms(), [](const movement::Index::Term& term) {
        const movement::Index::Atom& atom = *term.atom;
        return atom.kind == movement::Index::AtomKind::kRead ||
               std::ranges::any_of(atom.arguments, reads_index);
    });
}

}  // namespace

bool is_chosen(const movement::ValueExpr& value) {
    if (const auto* load = std::get_if<movement::Load>(&value.node)) return reads_index(load->from.offset);
    if (const auto* rounded = std::get_if<movement::RoundValue>(&value.node))
        return is_chosen(*rounded->argument);
    const auto* call = std::get_if<movement::ApplyValue>(&value.node);
    return call &&
           std::ranges::any_of(call->arguments, [](const movement::ValuePtr& a) { return is_chosen(*a); });
}

Text text_of(const movement::ValueExpr& value, const ValueContext& context) {
    if (const auto* n = std::get_if<Number>(&value.node))
        return {float_literal(n->value), Kind::kFloat, false};
    if (std::holds_alternative<Infinity>(value.node)) return {float_literal(INFINITY), Kind::kFloat, false};
    if (const auto* load = std::get_if<movement::Load>(&value.node)) return load_text(*load, context);
    if (const auto* call = std::get_if<movement::ApplyValue>(&value.node)) return call_text(*call, context);
    if (const auto* rounded = std::get_if<movement::RoundValue>(&value.node)) {
        const Text of = as_float(text_of(*rounded->argument, context), context);
        return {rounded_text(rounded->to, of.text), Kind::kFloat, of.has_lanes};
    }
    if (std::holds_alternative<movement::Integer>(value.node))
        return integer_text(value, context, !fits_32_bits(value));
    const auto& accumulator = std::get<movement::AccumulatorRef>(value.node);
    const movement::Declare& declared = context.accumulators.at(accumulator.name);
    const std::string variable = identifier(accumulator.name);
    if (!accumulator.fold_lanes) return {variable, Kind::kFloat, declared.lanes > 1};
    return {fmt::format("ntt::fold_{}({})", name(declared.monoid), variable), Kind::kFloat, false};
}

std::string float_text(const movement::ValueExpr& value, const ValueContext& context, bool is_widened) {
    const Text text = as_float(text_of(value, context), context);
    return is_widened ? widened(text, context) : text.text;
}

std::string factor_text(const movement::ValueExpr& value, const ValueContext& context) {
    const std::string text = float_text(value, context, true);
    return context.lanes == 1 ? fmt::format("ntt::broadcast<ntt::Vector<float, 1>>({})", text) : text;
}

Text condition_text(const movement::ValueExpr& value, const ValueContext& context) {
    Text text = text_of(value, context);
    if (text.kind == Kind::kMask) return text;
    const char* zero = text.kind == Kind::kInteger ? "0" : "0.0f";
    return {fmt::format("({} != {})", text.text, zero), Kind::kMask, text.has_lanes};
}

}  // namespace tessera::backend::cpp
