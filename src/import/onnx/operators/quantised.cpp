// Quantisation: integers with a scale and a zero point. Quotients are rounded to F32 before they are rounded
// to whole numbers, to even, and the zero point is added behind that.
#include <array>

#include <fmt/format.h>

#include "import/onnx/convolution.h"
#include "import/onnx/narrow_float.h"
#include "import/onnx/operators/families.h"
#include "import/onnx/primitives.h"

namespace tessera::import::onnx {
namespace {

using Results = std::vector<Operand>;

/// The places of scale and zero point for the element of x at `axes`: one, one along an axis, or one for
/// each block.
std::vector<std::string> parameter_place(const Call& call, const Operand& x, const Operand& parameter) {
    const std::vector<std::string> axes = axis_names(x.rank());
    const int64_t block = call.integer("block_size", 0);
    call.expect(block >= 0 && block <= kMostExtent, fmt::format("has blocks of {}", block));
    if (parameter.rank() == 0) return {};
    if (parameter.rank() == 1 && (block == 0 || x.rank() != 1)) {
        if (parameter.shape[0] == Dim(1)) return {"0"};
        const size_t axis = call.axis(call.integer("axis", 1), x.rank());
        call.expect(parameter.shape[0] == x.shape[axis], "has a scale of another length than its axis");
        return {axes[axis]};
    }
    call.expect(block > 0 && parameter.rank() == x.rank(), "has a scale of another shape");
    std::vector<std::string> at = axes;
    const size_t axis = call.axis(call.integer("axis", 1), x.rank());
    at[axis] = fmt::format("{} div {}", axes[axis], block);
    call.expect((call.extent(x, axis) + block - 1) / block == call.extent(parameter, axis),
                "has another number of blocks than its axis");
    return at;
}

Operand with_parameters(const Call& call, const Operand& x, const Operand& scale, const Operand* zero,
                        const std::string& value, DataType type) {
    OperatorText text = operator_text(call);
    const std::vector<std::string> axes = axis_names(x.rank());
    for (size_t a = 0; a < x.rank(); ++a) text.over(axes[a], x.shape[a]);
    text.wide().read(x, "X", axes).read(scale, "S", parameter_place(call, x, scale));
    if (zero) text.read(*zero, "Z", parameter_place(call, x, *zero));
    return call.build.add(text.write(type, x.shape, axes, value));
}

Results quantize_linear(const Call& call) {
    const Operand* zero = call.given(2);
    const auto stated = static_cast<DataType>(call.integer("output_dtype", 0));
    const DataType type = zero ? zero->type : stated == DataType::kUndefined ? DataType::kUint8 : stated;
    if (const std::optional<NarrowFloat> narrow = narrow_float(type)) {
        const Operand quotient =
            with_parameters(call, call.in(0), call.in(1), nullptr, "f32(X / S)", DataType::kFloat);
        return {cast(call, quotient, type, call.integer("saturate", 1) != 0)};
    }
    call.expect(is_integer(type), fmt::format("quantises to {}, which is not supported", name(type)));
    // NaN is stored as 0.
    const IntegerRange limits = range(type);
    return {with_parameters(
        call, call.in(0), call.in(1), zero,
        fmt::format("max({}, min({}, round(f32(X / S)){}))", limits.low, limits.high, zero ? " + Z" : ""),
        type)};
}

Results dequantize_linear(const Call& call) {
    const Operand* zero = call.given(2);
    const auto stated = static_cast<DataType>(call.integer("output_dtype", 0));
    const DataType type = stated == DataType::kUndefined ? call.in(1).type : stated;
    return {with_parameters(call, call.in(0), call.in(1), zero, zero ? "(X - Z) * S" : "X * S", type)};
}

/// The range includes 0. Zeros alone have the scale 1.
Results dynamic_quantize_linear(const Call& call) {
    const Operand& x = call.in(0);
    std::vector<size_t> axes;
    for (size_t a = 0; a < x.rank(); ++a) axes.push_back(a);
    const Operand low = elementwise(call, {reduce(call, x, axes, false, "min(X)", x.type)}, "min(A, 0)");
    const Operand high = elementwise(call, {reduce(call, x, axes, false, "max(X)", x.type)}, "max(A, 0)");
    const Operand scale = elementwise(call, {low, high}, "select(B == A, 1, (B - A) / 255)", x.type);
    const Operand zero =
        elementwise(call, {low, scale}, "round(max(0, min(255, 0 - f32(A / B))))", DataType::kUint8);
    return {elementwise(call, {x, scale, zero}, "round(f32(A / B)) + C", DataType::kUint8), scale, zero};
}

/// A scale or zero point of rows (or columns) beside a matrix.
Operand beside(const Call& call, const Operand& parameter, bool by_rows) {
    if (parameter.elements() == 1) return call.build.with_shape(parameter, {});
    if (parameter.rank() == 1 && by_rows)
        return call.build.with_shape(parameter, {parameter.shape[0], Dim(1)});
    return parameter;
}

/// Sums of products as numbers of the result: times a scale, rounded, plus the zero point.
Operand requantised(const Call& call, const Operand& sum, const Operand& a_scale, const Operand& b_scale,
                    const Operand& y_scale, const Operand& y_zero) {
    return elementwise(call, {sum, a_scale, b_scale, y_scale, y_zero},
                       "round(f32(A * f32(f32(B * C) / D))) + E", y_zero.type);
}

Results q_linear_mat_mul(const Call& call) {
    const Operand a = less_zero_point(call, call.in(0), beside(call, call.in(2), true));
    const Operand b = less_zero_point(call, call.in(3), beside(call, call.in(5), false));
    call.expect(a.rank() >= 2 && b.rank() >= 2, "multiplies vectors");
    return {requantised(call, product(call, a, b, DataType::kInt32), beside(call, call.in(1), true),
                        beside(call, call.in(4), false), call.build.with_shape(call.in(6), {}),
                        call.build.with_shape(call.in(7), {}))};
}

Results q_linear_conv(const Call& call) {
    call.expect(call.in(0).rank() >= 3, "needs [n, c, ...] and [m, c, ...]");
    const auto channels = [&](const Operand& parameter, size_t axis) {
        if (parameter.elements() == 1) return call.build.with_shape(parameter, {});
        std::vector<Dim> shape(call.in(0).rank(), Dim(1));
        shape[axis] = parameter.shape[0];
        return call.build.with_shape(parameter, shape);
    };
    const Operand x = less_zero_point(call, call.in(0), channels(call.in(2), 1));
    const Operand w = less_zero_point(call, call.in(3), channels(call.in(5), 0));
    Operand sum = convolution(call, x, w, DataType::kInt32);
    if (call.has(8)) sum = with_bias(call, sum, call.in(8));
    return {requantised(call, sum, channels(call.in(1), 1), channels(call.in(4), 1),
                        call.build.with_shape(call.in(6), {}), call.build.with_shape(call.in(7), {}))};
}

/// A parameter of one element as a scalar.
Operand scalar(const Call& call, const Operand& parameter) {
    call.expect(parameter.is_static() && parameter.elements() == 1,
                "has a scale or zero point of several elements");
    return call.build.with_shape(parameter, {});
}

/// The number that a quantised one stands for. @param scale its input; behind it the zero point, which may be
/// left out
Operand dequantised(const Call& call, const Operand& x, size_t scale) {
    const Operand s = scalar(call, call.in(scale));
    if (!call.has(scale + 1)) return elementwise(call, {x, s}, "A * B", s.type);
    return elementwise(call, {x, s, scalar(call, call.in(scale + 1))}, "(A - C) * B", s.type);
}

/// The inverse. @param type of the result where there is no zero point
Operand quantised_again(const Call& call, const Operand& y, size_t scale, DataType type) {
    const bool has_zero = call.has(scale + 1);
    std::vector<Operand> operands = {y, scalar(call, call.in(scale))};
    if (has_zero) operands.push_back(scalar(call, call.in(scale + 1)));
    const DataType to = has_zero ? operands.back().type : type;
    call.expect(to == DataType::kInt8 || to == DataType::kUint8, fmt::format("quantises to {}", name(to)));
    const IntegerRange limits = range(to);
    return elementwise(
        call, operands,
        fmt::format("max({}, min({}, round(f32(A / B)){}))", limits.low, limits.high, has_zero ? " + C" : ""),
        to);
}

/// Arithmetic on what two quantised operands stand for.
Results q_linear_binary(const Call& call, const char* body) {
    const Operand a = dequantised(call, call.in(0), 1), b = dequantised(call, call.in(3), 4);
    return {quantised_again(call, elementwise(call, {a, b}, body), 6, call.in(0).type)};
}
Results q_linear_add(const Call& call) {
    return q_linear_binary(call, "A + B");
}
Results q_linear_mul(const Call& call) {
    return q_linear_binary(call, "A * B");
}

/// A function of one quantised operand, whose result is quantised again.
Results q_linear_unary(const Call& call, const std::string& body) {
    const Operand y = elementwise(call, {dequantised(call, call.in(0), 1)}, body);
    return {quantised_again(call, y, 3, call.in(0).type)};
}
Results q_linear_leaky_relu(const Call& call) {
    return q_linear_unary(call,
                          fmt::format("select(A < 0, {} * A, A)", real_text(call.number("alpha", 0.01F))));
}
Results q_linear_sigmoid(const Call& call) {
    return q_linear_unary(call, "sigmoid(A)");
}

Results q_linear_softmax(const Call& call) {
    const Operand x = dequantised(call, call.in(0), 1);
    const size_t axis = call.axis(call.integer("axis", -1), x.rank());
    std::vector<size_t> axes = {axis};
    // As Softmax of the operator set that it names.
    for (size_t a = axis + 1; call.integer("opset", 13) < 13 && a < x.rank(); ++a) axes.push_back(a);
    return {quantised_again(call, softmax(call, x, axes), 3, call.in(0).type)};
}

Results q_linear_global_average_pool(const Call& call) {
    const Operand& x = call.in(0);
    call.expect(x.rank() >= 3, "needs [n, c, ...]");
    const bool is_last = call.integer("channels_last", 0) != 0;
    std::vector<size_t> axes;
    for (size_t a = is_last ? 1 : 2; a < x.rank() - (is_last ? 1 : 0); ++a) axes.push_back(a);
    // Integers first: their sum is exact.
    const Operand sum = reduce(call, less_zero_point(call, x, scalar(call, call.in(2))), axes, true, "sum(X)",
                               DataType::kInt32);
    const Operand mean = elementwise(call, {sum, scalar(call, call.in(1))},
                                     fmt::format("f32(A * B) / {}", count_text(x, axes)), DataType::kFloat);
    return {quantised_again(call, mean, 3, x.type)};
}

/// Scale and zero point of the result, then three inputs for each part.
Results q_linear_concat(const Call& call) {
    call.expect(call.inputs() > 2 && call.inputs() % 3 == 2, "has parts without a scale or zero point");
    std::vector<Operand> parts;
    for (size_t i = 2; i < call.inputs(); i += 3) parts.push_back(dequantised(call, call.in(i), i + 1));
    const size_t axis = call.axis(call.integer("axis", 0), parts.front().rank());
    for (const Operand& part : parts) {
        std::vector<Dim> shape = part.shape;
        call.expect(shape.size() == parts.front().rank(), "joins tensors of different ranks");
        shape[axis] = parts.front().shape[axis];
        call.expect(shape == parts.front().shape, "joins tensors of different shapes");
    }
    return {quantised_again(call, concat(call, parts, axis), 0, call.in(2).type)};
}

/// Integers times their scales, plus a bias. @param rows scale of A @param columns scale of B
Operand scaled(const Call& call, const Operand& sum, const Operand& rows, const Operand& columns,
               const Operand* bias) {
    std::vector<Operand> operands = {sum, rows, beside(call, columns, false)};
    if (bias) operands.push_back(*bias);
    return elementwise(call, operands, bias ? "A * (B * C) + D" : "A * (B * C)", DataType::kFloat);
}

Operand without_zero_point(const Call& call, const Operand& x, size_t zero) {
    return call.has(zero) ? less_zero_point(call, x, beside(call, call.in(zero), false))
                          : cast(call, x, DataType::kInt32);
}

Results mat_mul_integer_to_float(const Call& call) {
    const Operand sum = product(call, without_zero_point(call, call.in(0), 4),
                                without_zero_point(call, call.in(1), 5), DataType::kInt32);
    return {scaled(call, sum, scalar(call, call.in(2)), call.in(3), call.given(6))};
}

Results dynamic_quantize_mat_mul(const Call& call) {
    const Results a = dynamic_quantize_linear(call);
    const Operand sum = product(call, less_zero_point(call, a[0], a[2]),
                                without_zero_point(call, call.in(1), 3), DataType::kInt32);
    return {scaled(call, sum, a[1], call.in(2), call.given(4))};
}

}  // namespace

std::span<const Operator> quantised() {
    static constexpr std::array kOperators = {
        Operator{"DequantizeLinear", dequantize_linear},
        Operator{"DequantizeLinear", dequantize_linear, kMicrosoft},
        Operator{"DynamicQuantizeLinear", dynamic_quantize_linear},
        Operator{"DynamicQuantizeMatMul", dynamic_quantize_mat_mul, kMicrosoft},
        Operator{"MatMulIntegerToFloat", mat_mul_integer_to_float, kMicrosoft},
        Operator{"QLinearAdd", q_linear_add, kMicrosoft},
        Operator{"QLinearConcat", q_linear_concat, kMicrosoft},
        Operator{"QLinearConv", q_linear_conv},
        Operator{"QLinearGlobalAveragePool", q_linear_global_average_pool, kMicrosoft},
        Operator{"QLinearLeakyRelu", q_linear_leaky_relu, kMicrosoft},
        Operator{"QLinearMatMul", q_linear_mat_mul},
        Operator{"QLinearMul", q_linear_mul, kMicrosoft},
        Operator{"QLinearSigmoid", q_linear_sigmoid, kMicrosoft},
        Operator{"QLinearSoftmax", q_linear_softmax, kMicrosoft},
        Operator{"QuantizeLinear", quantize_linear},
        Operator{"QuantizeLinear", quantize_linear, kMicrosoft},
    };
    return kOperators;
}

}  // namespace tessera::import::onnx
