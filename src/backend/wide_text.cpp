#include "backend/wide_text.h"

#include <cmath>

#include <fmt/format.h>

#include "backend/index_text.h"
#include "backend/operators.h"
#include "lowering/movement/number_kind.h"
#include "support/error.h"

namespace tessera::backend {
namespace {

using Kind = movement::NumberKind;

/// True if the language has no type for the elements.
bool is_encoded(ElementType type) {
    return type == ElementType::kF16 || type == ElementType::kBF16 || bits(type) < 8;
}

/// True if it has the bits of an integer of 64 bits: those of u64 wrap around, too.
bool keeps_all_bits(ElementType type) {
    return type == ElementType::kI64 || type == ElementType::kU64;
}

class WideText {
public:
    WideText(ElementType arithmetic, const WideForms& forms) : arithmetic_(arithmetic), forms_(forms) {}

    std::string number(const movement::ValueExpr& value) const {
        return std::visit([&](const auto& node) { return text(node); }, value.node);
    }

    std::string condition(const movement::ValueExpr& value) const {
        if (const auto* call = std::get_if<movement::ApplyValue>(&value.node)) {
            const auto of = [&](size_t i) { return condition(*call->arguments[i]); };
            if (call->function == Function::kAnd) return fmt::format("({} && {})", of(0), of(1));
            if (call->function == Function::kOr) return fmt::format("({} || {})", of(0), of(1));
            if (call->function == Function::kNot) return fmt::format("(!{})", of(0));
            if (is_comparison(call->function))
                return fmt::format("{}({}, {})", function(comparison(call->function)),
                                   number(*call->arguments[0]), number(*call->arguments[1]));
        }
        return fmt::format("({} != 0)", number(value));
    }

    std::string function(std::string_view name) const {
        return fmt::format("tessera_{}_{}", tessera::name(arithmetic_), name);
    }

private:
    bool is_integer() const { return arithmetic_ == ElementType::kI64; }

    std::string text(const Number& number) const { return wide_literal(number.value, arithmetic_); }
    std::string text(const Infinity&) const { return wide_literal(INFINITY, arithmetic_); }
    std::string text(const movement::Integer& integer) const {
        return fmt::format("(({})({}))", wide_type(arithmetic_), forms_.index(integer.value));
    }
    std::string text(const movement::Load& load) const {
        const std::string element =
            is_encoded(load.from.element)
                ? forms_.load(load.from)
                : fmt::format("{}[{}]", load.from.buffer, forms_.index(load.from.offset));
        std::string value = fmt::format("({})({})", wide_type(arithmetic_), element);
        if (is_integer() && !tessera::is_integer(load.from.element))
            value = fmt::format("tessera_f64_integer({}, INT64_MIN, INT64_MAX)", element);
        std::string inside;
        for (const movement::Load::Guard& guard : load.guards) {
            const std::string at = forms_.index(guard.coordinate);
            inside += fmt::format("{}{} >= 0 && {} < {}", inside.empty() ? "" : " && ", at, at,
                                  forms_.index(guard.extent));
        }
        if (inside.empty()) return value;
        return fmt::format("({} ? {} : {})", inside, value, wide_literal(load.outside, arithmetic_));
    }
    std::string text(const movement::AccumulatorRef& accumulator) const {
        TESSERA_CHECK(!accumulator.fold_lanes, "{}", accumulator.name);
        return identifier(accumulator.name);
    }
    std::string text(const movement::RoundValue& rounded) const {
        std::string of = number(*rounded.argument);
        const ElementType to = rounded.to;
        if (is_integer() && keeps_all_bits(to)) return of;
        if (tessera::is_integer(to)) {
            const IntegerRange limits = range(to);
            return fmt::format("{}({}, {}, {})", function("saturated"), of,
                               wide_literal(static_cast<double>(limits.low), ElementType::kI64),
                               wide_literal(static_cast<double>(limits.high), ElementType::kI64));
        }
        if (to == ElementType::kF64 || is_integer()) return of;
        const std::string single = fmt::format("(float)({})", of);
        return fmt::format("(double)({})", to == ElementType::kF32 ? single : forms_.rounded(to, single));
    }
    std::string text(const movement::ApplyValue& call) const {
        if (is_comparison(call.function) || call.function == Function::kAnd ||
            call.function == Function::kOr || call.function == Function::kNot)
            return fmt::format("(({})({} ? 1 : 0))", wide_type(arithmetic_), condition({call}));
        if (call.function == Function::kSelect)
            return fmt::format("({} ? {} : {})", condition(*call.arguments[0]), number(*call.arguments[1]),
                               number(*call.arguments[2]));
        if (infix(call.function) && !is_integer())
            return fmt::format("({} {} {})", number(*call.arguments[0]), infix(call.function),
                               number(*call.arguments[1]));
        std::string list;
        for (const movement::ValuePtr& argument : call.arguments)
            list += (list.empty() ? "" : ", ") + number(*argument);
        return fmt::format("{}({})", function(spelled(call.function)), list);
    }

    /// Functions: a compiler warns of an unsigned element that is compared with a negative number.
    static std::string_view comparison(Function f) {
        switch (f) {
            case Function::kLess:
                return "less";
            case Function::kLessEqual:
                return "less_equal";
            case Function::kGreater:
                return "greater";
            case Function::kGreaterEqual:
                return "greater_equal";
            case Function::kEqual:
                return "equal";
            default:
                return "not_equal";
        }
    }

    static std::string_view spelled(Function f) {
        switch (f) {
            case Function::kAdd:
                return "add";
            case Function::kSub:
                return "sub";
            case Function::kMul:
                return "mul";
            case Function::kNegate:
                return "neg";
            default:
                return tessera::name(f);
        }
    }

    ElementType arithmetic_;
    const WideForms& forms_;
};

}  // namespace

bool is_wide(const std::vector<movement::Program>& programs) {
    for (const movement::Program& program : programs)
        for (const movement::ProgramBlock& block : program.blocks)
            for (const movement::Kernel& kernel : block.kernels)
                if (kernel.arithmetic != ElementType::kF32) return true;
    return false;
}

const char* wide_type(ElementType arithmetic) {
    return arithmetic == ElementType::kI64 ? "int64_t" : "double";
}

std::string wide_literal(double value, ElementType arithmetic) {
    if (arithmetic == ElementType::kI64) {
        if (value >= static_cast<double>(range(arithmetic).high)) return "INT64_MAX";
        if (value <= static_cast<double>(range(arithmetic).low)) return "INT64_MIN";
        return fmt::format("INT64_C({})", static_cast<int64_t>(value));
    }
    if (std::isinf(value)) return value > 0 ? "(double)INFINITY" : "(-(double)INFINITY)";
    std::string text = fmt::format("{:.17g}", value);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return text[0] == '-' ? "(" + text + ")" : text;
}

std::string wide_text(const movement::ValueExpr& value, ElementType arithmetic, const WideForms& forms) {
    return WideText(arithmetic, forms).number(value);
}

std::string wide_condition(const movement::ValueExpr& value, ElementType arithmetic, const WideForms& forms) {
    return WideText(arithmetic, forms).condition(value);
}

std::string wide_store(const movement::Address& to, const std::string& number, ElementType arithmetic,
                       const WideForms& forms) {
    const ElementType type = to.element;
    if (type == ElementType::kF16 || type == ElementType::kBF16)
        return forms.store(to, fmt::format("(float)({})", number));
    std::string stored = number;
    const bool keeps_bits = arithmetic == ElementType::kI64 && keeps_all_bits(type);
    if (is_integer(type) && !keeps_bits)
        stored =
            fmt::format("{}({}, {}, {})",
                        arithmetic == ElementType::kI64 ? "tessera_i64_saturated" : "tessera_f64_integer",
                        number, wide_literal(static_cast<double>(range(type).low), ElementType::kI64),
                        wide_literal(static_cast<double>(range(type).high), ElementType::kI64));
    return fmt::format("{}[{}] = {};", to.buffer, forms.index(to.offset), stored);
}

std::string wide_fold(const movement::Accumulate& fold, ElementType arithmetic, const WideForms& forms) {
    const WideText text(arithmetic, forms);
    const std::string guard =
        fold.condition ? fmt::format("if ({}) ", text.condition(*fold.condition)) : std::string();
    return fmt::format("{0}{1} = {2}({1}, {3});", guard, identifier(fold.name),
                       text.function(name(fold.monoid)), text.number(*fold.value));
}

}  // namespace tessera::backend
