// Truths: comparisons, logic, choices, and casts.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "import/onnx/operators/families.h"
#include "import/onnx/primitives.h"

namespace tessera::import::onnx {
namespace {

using Results = std::vector<Operand>;

/// The axis along which known integers are their own places: 0, 1, 2, ...
std::optional<size_t> axis_of_places(const Operand& operand) {
    if (!operand.known || !is_integer(operand.type) || operand.elements() < 2) return std::nullopt;
    const auto longest = std::ranges::max_element(operand.shape, {}, &Dim::factor);
    const std::vector<int64_t> places = integers_of(operand);
    if (std::cmp_less(longest->factor, places.size())) return std::nullopt;
    for (size_t i = 0; i < places.size(); ++i)
        if (std::cmp_not_equal(places[i], i)) return std::nullopt;
    return static_cast<size_t>(longest - operand.shape.begin());
}

/// @param body of two elements, for fmt. Those that are known and their own places are not read.
Results truth_of_two(const Call& call, const char* body) {
    const std::vector<Operand> both = both_inputs(call);
    const std::vector<Dim> shape = broadcast_shape(call, both);
    const std::vector<std::string> axes = axis_names(shape.size());
    OperatorText text = operator_text(call);
    for (size_t axis = 0; axis < shape.size(); ++axis) text.over(axes[axis], shape[axis]);
    std::array<std::string, 2> elements = {"A", "B"};
    for (size_t i = 0; i < 2; ++i) {
        const Operand& operand = both[i];
        const std::optional<size_t> axis =
            both[1 - i].known || both[1 - i].forms ? std::nullopt : axis_of_places(operand);
        if (axis)
            elements[i] = axes[axes.size() - operand.rank() + *axis];
        else
            text.read(operand, elements[i], broadcast_coordinates(operand, axes));
    }
    return {call.build.add(
        text.write(DataType::kBool, shape, axes, fmt::format(fmt::runtime(body), elements[0], elements[1])))};
}

Results conjunction(const Call& call) {
    return truth_of_two(call, "{} != 0 and {} != 0");
}
Results disjunction(const Call& call) {
    return truth_of_two(call, "{} != 0 or {} != 0");
}
Results equal(const Call& call) {
    return truth_of_two(call, "{} == {}");
}
Results differ(const Call& call) {
    return truth_of_two(call, "{} != {}");
}
Results greater(const Call& call) {
    return truth_of_two(call, "{} > {}");
}
Results greater_or_equal(const Call& call) {
    return truth_of_two(call, "{} >= {}");
}
Results less(const Call& call) {
    return truth_of_two(call, "{} < {}");
}
Results less_or_equal(const Call& call) {
    return truth_of_two(call, "{} <= {}");
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
