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
    const Operand* zero = call.has(2) ? &call.in(2) : nullptr;
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
    const Operand* zero = call.has(2) ? &call.in(2) : nullptr;
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

}  // namespace

std::span<const Operator> quantised() {
    static constexpr std::array kOperators = {
        Operator{"DequantizeLinear", dequantize_linear},
        Operator{"DynamicQuantizeLinear", dynamic_quantize_linear},
        Operator{"QLinearConv", q_linear_conv},
        Operator{"QLinearMatMul", q_linear_mat_mul},
        Operator{"QuantizeLinear", quantize_linear},
    };
    return kOperators;
}

}  // namespace tessera::import::onnx
