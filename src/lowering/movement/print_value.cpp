#include "lowering/movement/print_value.h"

#include <cmath>

#include "support/error.h"

namespace tessera::movement {
namespace {

bool is_infix(Function function) {
    switch (function) {
        case Function::kAdd:
        case Function::kSub:
        case Function::kMul:
        case Function::kDivide:
        case Function::kFloorDiv:
        case Function::kMod:
        case Function::kAnd:
        case Function::kOr:
            return true;
        default:
            return Function::kLess <= function && function <= Function::kNotEqual;
    }
}

std::string with_stride(const std::string& index, int64_t stride) {
    return stride == 0 ? index : fmt::format("{}; {}", index, stride);
}

std::string printed_record(const FieldRecord& record) {
    std::string out;
    for (const NamedField& field : record)
        out += fmt::format("{}{} {}", out.empty() ? "" : ", ", field.name, printed_field(field.value));
    return "{" + out + "}";
}

}  // namespace

std::string printed_number(const Number& number) {
    if (std::isinf(number.value)) return number.value > 0 ? "+inf" : "-inf";
    if (number.is_integer) return fmt::format("{:.0f}", number.value);
    std::string text = fmt::format("{}", number.value);
    return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string printed_declaration(const Variable& variable) {
    return fmt::format("{}: {}..{}{}", variable.name, variable.bounds.low, variable.bounds.high,
                       variable.multiple_of == 1 ? "" : fmt::format(" multiple {}", variable.multiple_of));
}

std::string printed_element(const Address& address, int64_t lane_stride) {
    return fmt::format("{}[{}]", address.buffer, with_stride(print(address.offset), lane_stride));
}

std::string printed_value(const ValueExpr& value) {
    struct Visit {
        std::string operator()(const Number& number) const { return printed_number(number); }
        std::string operator()(const Infinity&) const { return "inf"; }
        std::string operator()(const Integer& i) const {
            return "int(" + with_stride(print(i.value), i.lane_stride) + ")";
        }
        std::string operator()(const Load& load) const {
            std::string element = printed_element(load.from, load.lane_stride);
            if (load.guards.empty()) return element;
            std::string guards;
            for (const Load::Guard& g : load.guards)
                guards += fmt::format("{}0 <= {} < {}", guards.empty() ? "" : " and ",
                                      with_stride(print(g.coordinate), g.lane_stride), print(g.extent));
            return fmt::format("({} if {} else {})", element, guards, printed_number({load.outside, false}));
        }
        std::string operator()(const AccumulatorRef& a) const {
            return a.fold_lanes ? "fold(" + a.name + ")" : a.name;
        }
        std::string operator()(const ApplyValue& call) const {
            std::string arguments;
            const bool between = is_infix(call.function);
            const std::string separator = between ? fmt::format(" {} ", name(call.function)) : ", ";
            for (const ValuePtr& a : call.arguments)
                arguments += (arguments.empty() ? "" : separator) + printed_value(*a);
            if (between) return "(" + arguments + ")";
            return fmt::format("{}({})", call.function == Function::kNegate ? "neg" : name(call.function),
                               arguments);
        }
        std::string operator()(const RoundValue& rounded) const {
            return fmt::format("{}({})", name(rounded.to), printed_value(*rounded.argument));
        }
    };
    return std::visit(Visit{}, value.node);
}

std::string quoted(const std::string& name) {
    std::string out = "\"";
    for (const char c : name) {
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (static_cast<unsigned char>(c) < ' ') {
            out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        } else {
            out += c;
        }
    }
    return out + "\"";
}

std::string printed_field(const FieldValue& field) {
    struct Visit {
        std::string operator()(bool flag) const { return flag ? "true" : "false"; }
        std::string operator()(int64_t number) const { return fmt::format("{}", number); }
        std::string operator()(ElementType type) const { return fmt::format("<{}>", name(type)); }
        std::string operator()(const Index& index) const { return print(index); }
        std::string operator()(const Address& address) const { return "&" + printed_element(address); }
        std::string operator()(const StridedFactor& b) const {
            return fmt::format("&{} by ({}, {})", printed_element(b.start), print(b.outer), print(b.inner));
        }
        std::string operator()(const ComputedFactor& b) const {
            return fmt::format("|{}, {}| {}", printed_declaration(b.outer), printed_declaration(b.inner),
                               printed_value(*b.value));
        }
        std::string operator()(const std::vector<FieldValue>& list) const {
            std::string out;
            for (const FieldValue& element : list) out += (out.empty() ? "" : ", ") + printed_field(element);
            return "[" + out + "]";
        }
        std::string operator()(const FieldRecord& record) const { return printed_record(record); }
    };
    return std::visit(Visit{}, field.value);
}

}  // namespace tessera::movement
