// Truths: comparisons, logic, choices, and casts.
#include <array>

#include <fmt/format.h>

#include "import/onnx/operators/families.h"
#include "import/onnx/primitives.h"

namespace tessera::import::onnx {
namespace {

using Results = std::vector<Operand>;

Results truth_of_two(const Call& call, const char* body) {
    return {elementwise(call, both_inputs(call), body, DataType::kBool)};
}

Results conjunction(const Call& call) {
    return truth_of_two(call, "A != 0 and B != 0");
}
Results disjunction(const Call& call) {
    return truth_of_two(call, "A != 0 or B != 0");
}
Results equal(const Call& call) {
    return truth_of_two(call, "A == B");
}
Results differ(const Call& call) {
    return truth_of_two(call, "A != B");
}
Results greater(const Call& call) {
    return truth_of_two(call, "A > B");
}
Results greater_or_equal(const Call& call) {
    return truth_of_two(call, "A >= B");
}
Results less(const Call& call) {
    return truth_of_two(call, "A < B");
}
Results less_or_equal(const Call& call) {
    return truth_of_two(call, "A <= B");
}

Results negation(const Call& call) {
    return {elementwise(call, {call.in(0)}, "A == 0", DataType::kBool)};
}

Results is_nan(const Call& call) {
    return {elementwise(call, {call.in(0)}, "A != A", DataType::kBool)};
}

Results is_infinite(const Call& call) {
    const bool positive = call.integer("detect_positive", 1) != 0,
               negative = call.integer("detect_negative", 1) != 0;
    const char* body = positive && negative ? "abs(A) == inf"
                       : positive           ? "A == inf"
                       : negative           ? "A == -inf"
                                            : "A != A and A == A";
    return {elementwise(call, {call.in(0)}, body, DataType::kBool)};
}

Results where(const Call& call) {
    return {elementwise(call, {call.in(0), call.in(1), call.in(2)}, "select(A != 0, B, C)", call.in(1).type)};
}

Results cast_to(const Call& call, DataType to) {
    call.expect(element_of(to).has_value(), fmt::format("casts to {}, which is not supported", name(to)));
    return {cast(call, call.in(0), to, call.integer("saturate", 1) != 0)};
}

Results cast_operator(const Call& call) {
    // Before opset 6 it is spelled.
    if (const Attribute* to = call.attribute("to"); to && call.opset() < 6) {
        for (int32_t type = 1; type <= static_cast<int32_t>(DataType::kBfloat16); ++type)
            if (name(static_cast<DataType>(type)) == to->text)
                return cast_to(call, static_cast<DataType>(type));
        call.refuse(fmt::format("casts to \"{}\"", to->text));
    }
    return cast_to(call, static_cast<DataType>(call.integer("to", 0)));
}

Results cast_like(const Call& call) {
    return cast_to(call, call.in(1).type);
}

}  // namespace

std::span<const Operator> comparisons() {
    static constexpr std::array kOperators = {
        Operator{"And", conjunction},    Operator{"Cast", cast_operator},
        Operator{"CastLike", cast_like}, Operator{"Equal", equal},
        Operator{"Greater", greater},    Operator{"GreaterOrEqual", greater_or_equal},
        Operator{"IsInf", is_infinite},  Operator{"IsNaN", is_nan},
        Operator{"Less", less},          Operator{"LessOrEqual", less_or_equal},
        Operator{"Not", negation},       Operator{"Or", disjunction},
        Operator{"Where", where},        Operator{"Xor", differ},
    };
    return kOperators;
}

}  // namespace tessera::import::onnx
