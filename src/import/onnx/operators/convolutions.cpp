// Convolutions of any number of spatial axes, also transposed ones. Padding is what is read outside of the
// input: 0.
#include <algorithm>
#include <array>
#include <cstdlib>

#include <fmt/format.h>

#include "import/onnx/activation.h"
#include "import/onnx/convolution.h"
#include "import/onnx/operators/families.h"
#include "import/onnx/primitives.h"
#include "import/onnx/windows.h"

namespace tessera::import::onnx {
namespace {

using Results = std::vector<Operand>;

Results conv(const Call& call) {
    const Operand y = convolution(call, call.in(0), call.in(1), call.in(0).type);
    return {call.has(2) ? with_bias(call, y, call.in(2)) : y};
}

/// With an addend, and an activation behind all.
Results fused_conv(const Call& call) {
    Operand y = conv(call).front();
    if (call.has(3)) {
        call.expect(call.in(3).shape == y.shape, "adds a tensor of another shape");
        y = elementwise(call, {y, call.in(3)}, "A + B");
    }
    return {fused_activation(call, y)};
}

/// x - zero point, in 32 bits; padding is what is read outside of that: the zero point.
Operand centred_integers(const Call& call, const Operand& x, size_t zero, bool by_rows) {
    if (!call.has(zero)) return cast(call, x, DataType::kInt32);
    call.expect(x.rank() >= 3, "needs [n, c, ...] and [m, c, ...]");
    Operand z = call.in(zero);
    if (z.rank() == 1 && by_rows && z.shape[0] != Dim(1)) {
        std::vector<Dim> shape(x.rank(), Dim(1));
        shape[0] = z.shape[0];
        z = call.build.with_shape(z, shape);
    } else {
        call.expect(z.elements() == 1, "has several zero points");
        z = call.build.with_shape(z, {});
    }
    return less_zero_point(call, x, z);
}

Results conv_integer(const Call& call) {
    return {convolution(call, centred_integers(call, call.in(0), 2, false),
                        centred_integers(call, call.in(1), 3, true), DataType::kInt32)};
}

/// "x + 2", "x - 2", "x".
std::string plus(const std::string& x, int64_t number) {
    if (number == 0) return x;
    return fmt::format("{} {} {}", x, number < 0 ? '-' : '+', std::abs(number));
}

/// Every output looks for the inputs that reach it: o = i * stride + k * dilation - begin.
Results conv_transpose(const Call& call) {
    const Operand &x = call.in(0), &w = call.in(1);
    call.expect(x.rank() >= 3 && w.rank() == x.rank(), "needs [n, c, ...] and [c, m, ...]");
    const int64_t group = call.integer("group", 1), all_channels = call.extent(x, 1);
    call.expect(group > 0 && all_channels == call.extent(w, 0) && all_channels % group == 0,
                fmt::format("has {} groups", group));
    const int64_t channels = all_channels / group, results = call.extent(w, 1);
    const std::vector<int64_t> of_kernel = call.extents_from(w, 2),
                               kernel = call.integers("kernel_shape", of_kernel);
    const size_t axes = of_kernel.size();
    const std::vector<int64_t> strides = numbers_of_axes(call, "strides", axes, 1),
                               dilations = numbers_of_axes(call, "dilations", axes, 1),
                               pads = numbers_of_axes(call, "pads", 2 * axes, 0),
                               extra = numbers_of_axes(call, "output_padding", axes, 0),
                               wanted = call.integers("output_shape");
    call.expect(kernel == of_kernel, "has a kernel_shape that is not its weight's");
    const std::string auto_pad = call.text("auto_pad", "NOTSET");
    std::vector<Dim> shape = {x.shape[0], Dim(results * group)};
    OperatorText text = operator_text(call);
    text.over("n", x.shape[0]);
    if (group > 1) text.over("g", Dim(group));
    text.over("m", Dim(results));
    std::vector<std::string> read = {"n", group > 1 ? fmt::format("g * {} + c", channels) : "c"},
                             of_weight = {read[1], "m"},
                             written = {"n", group > 1 ? fmt::format("g * {} + m", results) : "m"};
    std::string where;
    std::vector<std::pair<std::string, Dim>> folded = {{"c", Dim(channels)}};
    for (size_t a = 0; a < axes; ++a) {
        call.expect(strides[a] > 0 && dilations[a] > 0, "has a stride or dilation of 0");
        // Along a symbolic extent the numbers are those beside the symbol.
        const Dim& extent = x.shape[2 + a];
        const int64_t input = extent.symbol ? 0 : extent.factor,
                      full = strides[a] * (input - 1) + extra[a] + (kernel[a] - 1) * dilations[a] + 1;
        int64_t begin = pads[a], count = full - pads[a] - pads[a + axes];
        const bool is_same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
        if (!wanted.empty() || is_same) {
            call.expect(wanted.empty() || wanted.size() == axes || wanted.size() == axes + 2,
                        "has an output_shape of other axes");
            if (!wanted.empty()) call.extent(x, 2 + a);
            count = wanted.empty() ? input * strides[a] : wanted[wanted.size() - axes + a];
            const int64_t total = full - count;
            begin = auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
            if (total < 0) begin = 0;
        } else if (auto_pad == "VALID") {
            begin = 0;
            count = full;
        }
        call.expect((extent.symbol || count >= 0) && count < (1 << 30),
                    fmt::format("makes {} elements", count));
        Dim made(count);
        if (extent.symbol)
            made = call.dim({.constant = count, .terms = {{*extent.symbol, extent.factor * strides[a]}}});
        shape.push_back(made);
        const std::string o = fmt::format("o{}", a), k = fmt::format("k{}", a);
        if (strides[a] > 1 && dilations[a] == 1 && made.factor % strides[a] == 0) {
            // By the rest of its place each output meets every stride-th element of the kernel alone:
            // o + begin = (q + (r + begin) div stride) * stride + (r + begin) mod stride.
            const int64_t stride = strides[a], taps = (kernel[a] + stride - 1) / stride;
            const std::string r = fmt::format("r{}", a), from = plus(r, begin);
            Dim turns = made;
            turns.factor /= stride;
            text.over(o, turns).over(r, Dim(stride));
            folded.emplace_back(k, Dim(taps));
            written.push_back(fmt::format("{} * {} + {}", o, stride, r));
            std::string at = o, of_kernel_at = r;
            if (begin != 0) {
                at += fmt::format(" + ({}) div {}", from, stride);
                of_kernel_at = fmt::format("({}) mod {}", from, stride);
            }
            read.push_back(taps == 1 ? at : fmt::format("{} - {}", at, k));
            of_weight.push_back(taps == 1 ? of_kernel_at
                                          : fmt::format("{} + {} * {}", of_kernel_at, k, stride));
            continue;
        }
        text.over(o, made);
        written.push_back(o);
        folded.emplace_back(k, Dim(kernel[a]));
        const std::string from = fmt::format("{} - {} * {}", plus(o, begin), k, dilations[a]);
        if (strides[a] > 1)
            where += fmt::format("{}({}) mod {} == 0", where.empty() ? "" : " and ", from, strides[a]);
        read.push_back(strides[a] > 1 ? fmt::format("({}) div {}", from, strides[a]) : from);
        of_weight.push_back(k);
    }
    for (const auto& [name, extent] : folded) text.folding(name, extent);
    if (!where.empty()) text.where(where);
    const Operand y = call.build.add(
        text.read(x, "X", read).read(w, "W", of_weight).write(x.type, shape, written, "sum(X * W)"));
    return {call.has(2) ? with_bias(call, y, call.in(2)) : y};
}

/// True if the windows are the elements, one after the other.
bool are_elements(const Windows& windows) {
    return windows.kernel == 1 && windows.stride == 1 && windows.begin == 0 && windows.count == windows.input;
}

/// By these windows. @pre the groups and channels of x and w are consistent
Operand convolution_of(const Call& call, const Operand& x, const Operand& w,
                       const std::vector<Windows>& windows, DataType type) {
    const std::vector<int64_t> of_w = call.extents(w);
    const int64_t group = call.integer("group", 1), channels = of_w[1], results = of_w[0] / group;
    OperatorText text = operator_text(call);
    text.over("n", x.shape[0]);
    if (group > 1) text.over("g", Dim(group));
    if (group == 1 || results > 1) text.over("m", Dim(results));
    std::vector<Dim> shape = {x.shape[0], Dim(of_w[0])};
    std::vector<std::string> read = {"n", group == 1      ? "c"
                                          : channels == 1 ? "g"
                                                          : fmt::format("g * {} + c", channels)},
                             of_weight = {group == 1     ? "m"
                                          : results == 1 ? "g"
                                                         : fmt::format("g * {} + m", results),
                                          "c"},
                             written = {"n", of_weight[0]};
    for (size_t a = 0; a < windows.size(); ++a) {
        const std::string o = fmt::format("o{}", a), k = fmt::format("k{}", a);
        text.over(o, windows[a].count);
        shape.push_back(windows[a].count);
        read.push_back(element_of_window(windows[a], o, k));
        of_weight.push_back(k);
        written.push_back(o);
    }
    text.folding("c", Dim(channels));
    for (size_t a = 0; a < windows.size(); ++a) text.folding(fmt::format("k{}", a), Dim(windows[a].kernel));
    text.read(x, "X", read).read(w, "W", of_weight);
    return call.build.add(text.write(type, shape, written, wrapped("sum(X * W)", type)));
}

}  // namespace

Operand convolution(const Call& call, const Operand& x, const Operand& w, DataType type) {
    call.expect(x.rank() >= 3 && w.rank() == x.rank(), "needs [n, c, ...] and [m, c, ...]");
    const std::vector<int64_t> of_w = call.extents(w), kernel = call.extents_from(w, 2);
    const int64_t group = call.integer("group", 1), channels = of_w[1];
    call.expect(group > 0 && of_w[0] % group == 0 && call.extent(x, 1) == channels * group,
                fmt::format("has {} groups of {} and {} channels", group, call.extent(x, 1), channels));
    call.expect(call.integers("kernel_shape", kernel) == kernel,
                "has a kernel_shape that is not its weight's");
    std::vector<Windows> windows = windows_of(call, {x.shape.begin() + 2, x.shape.end()}, kernel);
    // The place along an axis that follows from others and a symbol is no affine function.
    const auto is_one_axis = [](const Windows& each) {
        return are_elements(each) && each.input.is_constant();
    };
    if (windows.size() < 2 || !std::ranges::all_of(windows, is_one_axis))
        return convolution_of(call, x, w, windows, type);
    // All spatial axes are one, along which lanes and rows run to the end.
    Dim whole(1);
    for (const Windows& each : windows) whole.factor *= each.input.factor;
    windows.resize(1);
    windows.front().input = windows.front().count = whole;
    const Operand flat = call.build.with_shape(x, {x.shape[0], x.shape[1], whole}),
                  flat_w = call.build.with_shape(w, {w.shape[0], w.shape[1], Dim(1)});
    std::vector<Dim> shape = x.shape;
    shape[1] = w.shape[0];
    return call.build.with_shape(convolution_of(call, flat, flat_w, windows, type), shape);
}

Operand with_bias(const Call& call, const Operand& y, const Operand& bias) {
    std::vector<Dim> shape(y.rank(), Dim(1));
    call.expect(bias.rank() == 1, "has a bias that is no vector");
    shape[1] = bias.shape[0];
    return elementwise(call, {y, call.build.with_shape(bias, shape)}, wrapped("A + B", y.type));
}

std::span<const Operator> convolutions() {
    static constexpr std::array kOperators = {
        Operator{"Conv", conv},
        Operator{"ConvInteger", conv_integer},
        Operator{"ConvTranspose", conv_transpose},
        Operator{"FusedConv", fused_conv, kMicrosoft},
    };
    return kOperators;
}

}  // namespace tessera::import::onnx
