// Elements around a tensor: constants, or copies of its own.
#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>

#include "import/onnx/operators/families.h"
#include "import/onnx/primitives.h"

namespace tessera::import::onnx {
namespace {

using Results = std::vector<Operand>;

/// The place in the input along each axis, for a table; -1 outside.
std::vector<int64_t> padded_places(const Call& call, const std::string& mode, int64_t extent, int64_t before,
                                   int64_t after) {
    // Negative pads crop first: what is added follows from what is left.
    const int64_t begin = std::max<int64_t>(0, -before);
    const int64_t left = extent - begin - std::max<int64_t>(0, -after);
    call.expect(left >= 0, "takes away more elements than there are");
    std::vector<int64_t> places;
    call.expect(left + std::abs(before) + std::abs(after) <= kMostKnown, "has too many elements");
    for (int64_t i = -std::max<int64_t>(before, 0); i < left + std::max<int64_t>(after, 0); ++i) {
        int64_t at = i;
        if (i < 0 || i >= left) {
            call.expect(mode == "constant" || left > 0, "repeats elements of an axis without any");
            if (mode == "constant") at = -1;
            if (mode == "edge") at = std::clamp<int64_t>(i, 0, left - 1);
            if (mode == "wrap") at = (i % left + left) % left;
            if (mode == "reflect") {
                const int64_t period = std::max<int64_t>(2 * (left - 1), 1),
                              rest = (i % period + period) % period;
                at = std::min(rest, 2 * (left - 1) - rest);
                if (left == 1) at = 0;
            }
        }
        places.push_back(at < 0 ? -1 : at + begin);
    }
    return places;
}

Results pad(const Call& call) {
    Operand x = call.in(0);
    const bool has_inputs = call.opset() >= 11;
    const std::vector<int64_t> pads =
        has_inputs ? call.known_integers(1) : call.integers(call.opset() < 2 ? "paddings" : "pads");
    const std::string mode = call.text("mode", "constant");
    call.expect(mode == "constant" || mode == "edge" || mode == "reflect" || mode == "wrap",
                fmt::format("has the mode \"{}\", expected constant, edge, reflect or wrap", mode));
    std::vector<int64_t> axes(x.rank());
    std::iota(axes.begin(), axes.end(), int64_t{0});
    if (call.has(3)) axes = call.known_integers(3);
    (void)call.axes(axes, x.rank());
    call.expect(pads.size() == 2 * axes.size(), "has another number of pads than two for each axis");
    Operand value = known_scalar(x.type, call.number("value", 0));
    if (call.has(2)) value = call.build.with_shape(call.in(2), {});
    constexpr int64_t kMost = int64_t{1} << 28;
    if (mode == "constant") {
        // One operator: elements inside, and the value outside.
        OperatorText text = operator_text(call);
        std::vector<Dim> shape = x.shape;
        std::vector<std::string> read = axis_names(x.rank());
        std::string inside;
        for (size_t i = 0; i < axes.size(); ++i) {
            const size_t axis = call.axis(axes[i], x.rank());
            const int64_t before = pads[i], after = pads[i + axes.size()];
            call.expect(std::abs(before) < kMost && std::abs(after) < kMost, "has too large pads");
            if (before == 0 && after == 0) continue;
            const int64_t input = call.extent(x, axis), extent = input + before + after;
            call.expect(extent >= 0, "takes away more elements than there are");
            shape[axis] = Dim(extent);
            if (before != 0) read[axis] = fmt::format("{} - {}", axis_name(axis), before);
            if (before < 0) read[axis] = fmt::format("{} + {}", axis_name(axis), -before);
            if (before > 0)
                inside += fmt::format("{}{} >= {}", inside.empty() ? "" : " and ", axis_name(axis), before);
            if (after > 0)
                inside +=
                    fmt::format("{}{} < {}", inside.empty() ? "" : " and ", axis_name(axis), input + before);
        }
        for (size_t axis = 0; axis < shape.size(); ++axis) text.over(axis_name(axis), shape[axis]);
        text.read(x, "X", read);
        if (inside.empty()) return {call.build.add(text.write(x.type, shape, axis_names(x.rank()), "X"))};
        text.read(value, "V", {});
        return {call.build.add(
            text.write(x.type, shape, axis_names(x.rank()), fmt::format("select({}, X, V)", inside)))};
    }
    for (size_t i = 0; i < axes.size(); ++i) {
        const size_t axis = call.axis(axes[i], x.rank());
        const int64_t before = pads[i], after = pads[i + axes.size()];
        call.expect(std::abs(before) < kMost && std::abs(after) < kMost, "has too large pads");
        if (before != 0 || after != 0)
            x = pick(call, x, axis, padded_places(call, mode, call.extent(x, axis), before, after));
    }
    return {x};
}

Results center_crop_pad(const Call& call) {
    Operand x = call.in(0);
    const std::vector<int64_t> wanted = call.known_integers(1);
    std::vector<int64_t> axes = call.integers("axes");
    if (axes.empty()) {
        axes.resize(x.rank());
        std::iota(axes.begin(), axes.end(), int64_t{0});
    }
    (void)call.axes(axes, x.rank());
    call.expect(wanted.size() == axes.size(), "has another number of extents than axes");
    for (size_t i = 0; i < axes.size(); ++i) {
        const size_t axis = call.axis(axes[i], x.rank());
        const int64_t target = wanted[i], extent = call.extent(x, axis);
        call.expect(target >= 0 && target <= kMostKnown, fmt::format("has the extent {}", target));
        const int64_t missing = target - extent;
        const int64_t begin = missing > 0 ? -(missing / 2) : -missing / 2;
        if (missing == 0) continue;
        std::vector<int64_t> table;
        for (int64_t at = begin; at < begin + target; ++at) table.push_back(at >= 0 && at < extent ? at : -1);
        x = pick(call, x, axis, table);
    }
    return {x};
}

}  // namespace

std::span<const Operator> padding() {
    static constexpr std::array kOperators = {
        Operator{"CenterCropPad", center_crop_pad},
        Operator{"Pad", pad},
    };
    return kOperators;
}

}  // namespace tessera::import::onnx
