#include "lowering/movement/parse_value.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "support/error.h"

namespace tessera::movement {
namespace {

// Far beyond any program; they keep hostile text from costing stack or time.
constexpr int kDeepest = 128;
constexpr int kLongestIndex = 512;  // tokens
std::optional<Function> infix_of(std::string_view text) {
    constexpr Function kInfix[] = {
        Function::kAdd,      Function::kSub,   Function::kMul,          Function::kDivide,
        Function::kFloorDiv, Function::kMod,   Function::kLess,         Function::kLessEqual,
        Function::kGreater,  Function::kEqual, Function::kGreaterEqual, Function::kNotEqual,
        Function::kAnd,      Function::kOr};
    for (const Function function : kInfix) {
        if (name(function) == text) return function;
    }
    return std::nullopt;
}

std::optional<Function> function_of(std::string_view text) {
    if (text == "neg") return Function::kNegate;
    for (size_t i = 0; i < kFunctions; ++i) {
        const auto function = static_cast<Function>(i);
        if ((is_called(function) || function == Function::kNot) && name(function) == text) return function;
    }
    return std::nullopt;
}

}  // namespace

// ---- indices

ValueParser::Level::Level(ValueParser& parser) : parser_(parser) {
    if (++parser_.depth_ > kDeepest) {
        --parser_.depth_;
        parser_.scanner_.fail({}, fmt::format("is nested more than {} deep", kDeepest));
    }
}

Index ValueParser::index() {
    index_tokens_ = 0;
    try {
        return sum();
    } catch (const IndexOverflow& error) {
        throw Error(scanner_.place(), error.where, error.problem, error.advice);
    }
}

Index ValueParser::sum() {
    const Level level(*this);
    Index result = scanner_.take("-") ? Index(0) - term() : term();
    while (scanner_.at("+") || scanner_.at("-")) {
        const bool is_minus = scanner_.next().text == "-";
        const Index next = term();
        result = is_minus ? result - next : result + next;
    }
    return result;
}

Index ValueParser::term() {
    Index result = factor();
    while (scanner_.take("*")) result = result * factor();
    return result;
}

Index ValueParser::factor() {
    if (++index_tokens_ > kLongestIndex)
        scanner_.fail("index expression", fmt::format("has more than {} operands", kLongestIndex));
    if (scanner_.take("(")) {
        Index result = sum();
        if (scanner_.at("div") || scanner_.at("mod")) {
            const bool is_div = scanner_.next().text == "div";
            const int64_t divisor = scanner_.integer("a divisor", 1, kLargestNumber);
            result = is_div ? floor_div(result, divisor) : mod(result, divisor);
        }
        scanner_.expect(")");
        return result;
    }
    if (scanner_.peek().kind == ProgramToken::Kind::kInteger)
        return {scanner_.integer("a number", 0, kLargestNumber)};
    const bool is_call = scanner_.at("(", 1);
    const bool is_read = scanner_.at("[", 1);
    const std::string name = scanner_.name("a number, a variable, an element of an index operand, or `(`");
    if (is_call) {
        if (name != "min" && name != "max") scanner_.fail(name, "is no operation on indices");
        scanner_.expect("(");
        const Index a = sum();
        scanner_.expect(",");
        const Index b = sum();
        scanner_.expect(")");
        return name == "min" ? min(a, b) : max(a, b);
    }
    if (is_read) {
        if (!names_.storage(name)) scanner_.fail(name, "is no buffer here");
        scanner_.expect("[");
        const Index offset = sum();
        scanner_.expect("]");
        return Index::read(name, offset);
    }
    const Variable* variable = names_.variable(name);
    if (!variable) scanner_.fail(name, "is no variable here");
    return Index::variable(*variable);
}

Variable ValueParser::declaration() {
    Variable variable;
    variable.name = scanner_.name("a name");
    scanner_.expect(":");
    variable.bounds.low = scanner_.integer("the least value", -kFar, kFar);
    scanner_.expect("..");
    variable.bounds.high = scanner_.integer("the largest value", -kFar, kFar);
    if (scanner_.take("multiple")) variable.multiple_of = scanner_.integer("a divisor", 1, kFar);
    return variable;
}

int64_t ValueParser::lane_stride() {
    return scanner_.take(";") ? scanner_.integer("the stride of lanes", -kFar, kFar) : 0;
}

Address ValueParser::element(int64_t* stride) {
    const std::string buffer = scanner_.name("a buffer");
    const ProgramNames::Storage* storage = names_.storage(buffer);
    if (!storage) scanner_.fail(buffer, "is no buffer here");
    const ElementType type = storage->element;
    scanner_.expect("[");
    Address address{buffer, index(), type};
    if (stride) *stride = lane_stride();
    scanner_.expect("]");
    return address;
}

// ---- values

std::optional<Number> ValueParser::number_literal() {
    const bool has_sign = scanner_.at("-") || scanner_.at("+");
    const ProgramToken& digits = scanner_.peek(has_sign ? 1 : 0);
    const bool is_infinity = has_sign && digits.kind == ProgramToken::Kind::kName && digits.text == "inf";
    const bool is_integer = digits.kind == ProgramToken::Kind::kInteger;
    if (!is_infinity && !is_integer && digits.kind != ProgramToken::Kind::kReal) return std::nullopt;
    const double sign = has_sign && scanner_.next().text == "-" ? -1 : 1;
    double value = INFINITY;
    if (!is_infinity) {
        const std::string_view text = scanner_.peek().text;
        const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
        if (result.ec != std::errc() || result.ptr != text.data() + text.size())
            scanner_.fail_expecting("a number that a double holds");
    }
    scanner_.next();
    return Number{sign * value, is_integer};
}

double ValueParser::number() {
    const std::optional<Number> number = number_literal();
    if (!number) scanner_.fail_expecting("a number");
    return number->value;
}

ValuePtr ValueParser::value() {
    const Level level(*this);
    if (const std::optional<Number> number = number_literal()) return make_value({*number});
    if (scanner_.take("(")) return in_parentheses();
    if (scanner_.at("[", 1)) {
        Load load;
        load.from = element(&load.lane_stride);
        return make_value({std::move(load)});
    }
    const bool is_call = scanner_.at("(", 1);
    const std::string name = scanner_.name("a number, an element, a function, an accumulator, or `(`");
    if (is_call) return function(name);
    if (name == "inf") return make_value({Infinity{}});
    if (!names_.accumulator(name)) scanner_.fail(name, "is no accumulator here");
    return make_value({AccumulatorRef{name, false}});
}

ValuePtr ValueParser::in_parentheses() {
    const ValuePtr first = value();
    if (scanner_.at("if")) {
        const auto* load = std::get_if<Load>(&first->node);
        if (!load || !load->guards.empty()) scanner_.fail("if", "stands behind what is no element");
        return guarded(*load);
    }
    const std::optional<Function> function = infix_of(scanner_.peek().text);
    if (!function) scanner_.fail_expecting("an operation");
    scanner_.next();
    const ValuePtr second = value();
    scanner_.expect(")");
    return apply_value(*function, {first, second});
}

/// "(x[t; 1] if 0 <= t; 1 < T and .. else 0.0)"
ValuePtr ValueParser::guarded(Load load) {
    scanner_.expect("if");
    do {
        scanner_.expect("0");
        scanner_.expect("<=");
        Load::Guard guard{index(), {}, lane_stride()};
        scanner_.expect("<");
        guard.extent = index();
        load.guards.push_back(std::move(guard));
    } while (scanner_.take("and"));
    scanner_.expect("else");
    load.outside = number();
    scanner_.expect(")");
    return make_value({std::move(load)});
}

ValuePtr ValueParser::function(const std::string& name) {
    scanner_.expect("(");
    ValuePtr result;
    if (name == "int") {
        Integer integer{index(), lane_stride()};
        result = make_value({std::move(integer)});
    } else if (name == "fold") {
        const std::string accumulator = scanner_.name("an accumulator");
        if (!names_.accumulator(accumulator)) scanner_.fail(accumulator, "is no accumulator here");
        result = make_value({AccumulatorRef{accumulator, true}});
    } else if (const auto type = element_type_of(name)) {
        result = make_value({RoundValue{*type, value()}});
    } else {
        const std::optional<Function> called = function_of(name);
        if (!called) scanner_.fail(name, "is no function of values");
        std::vector<ValuePtr> arguments = {value()};
        while (std::ssize(arguments) < arity(*called)) {
            scanner_.expect(",");
            arguments.push_back(value());
        }
        result = apply_value(*called, std::move(arguments));
    }
    scanner_.expect(")");
    return result;
}

// ---- fields of calls

FieldValue ValueParser::field() {
    const Level level(*this);
    if (scanner_.take("true")) return {true};
    if (scanner_.take("false")) return {false};
    if (scanner_.take("<")) {
        const std::string type = scanner_.name("an element type");
        const auto element = element_type_of(type);
        if (!element) scanner_.fail(type, "is no element type");
        scanner_.expect(">");
        return {*element};
    }
    if (scanner_.take("&")) {
        Address start = element(nullptr);
        if (!scanner_.take("by")) return {std::move(start)};
        scanner_.expect("(");
        const Index outer = index();
        scanner_.expect(",");
        StridedFactor factor{std::move(start), outer, index()};
        scanner_.expect(")");
        return {std::move(factor)};
    }
    if (scanner_.take("|")) {
        ComputedFactor factor;
        const size_t mark = names_.enter();
        factor.outer = declaration();
        scanner_.expect(",");
        factor.inner = declaration();
        scanner_.expect("|");
        for (const Variable* variable : {&factor.outer, &factor.inner}) {
            if (!names_.add(*variable)) scanner_.fail(variable->name, "is declared already");
        }
        factor.value = value();
        names_.leave(mark);
        return {std::move(factor)};
    }
    if (scanner_.take("[")) {
        std::vector<FieldValue> list;
        while (!scanner_.at("]")) {
            if (!list.empty()) scanner_.expect(",");
            list.push_back(field());
        }
        scanner_.expect("]");
        return {std::move(list)};
    }
    if (scanner_.at("{")) return {record()};
    const Index value = index();
    if (const auto constant = value.as_constant()) return {*constant};
    return {value};
}

FieldRecord ValueParser::record() {
    FieldRecord record;
    scanner_.expect("{");
    while (!scanner_.at("}")) {
        if (!record.empty()) scanner_.expect(",");
        std::string name = scanner_.name("the name of a field");
        record.push_back({std::move(name), field()});
    }
    scanner_.expect("}");
    return record;
}

}  // namespace tessera::movement
