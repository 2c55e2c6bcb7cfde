// Resize and Upsample, an axis at a time: each element is a weighted sum of a few, which tables name.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "import/onnx/operators/families.h"
#include "import/onnx/primitives.h"

namespace tessera::import::onnx {
namespace {

using Results = std::vector<Operand>;

/// How one axis is resized.
struct Resizing {
    int64_t input = 0;
    int64_t output = 0;
    double scale = 1;
    double begin = 0, end = 1;  ///< of the region of interest, in parts of the axis
};

struct Style {
    std::string mode, coordinates, nearest;
    double cubic = -0.75;
    bool excludes_outside = false;
    bool smooths = false;
    double extrapolated = 0;
};

/// The place in the input of an element of the output.
double place_of(const Call& call, const Resizing& r, const Style& style, int64_t o) {
    const auto at = static_cast<double>(o), input = static_cast<double>(r.input),
               output = static_cast<double>(r.output);
    if (style.coordinates == "half_pixel") return (at + 0.5) / r.scale - 0.5;
    if (style.coordinates == "half_pixel_symmetric") {
        const double adjusted = output / (input * r.scale);
        return input / 2 * (1 - adjusted) + (at + 0.5) / r.scale - 0.5;
    }
    if (style.coordinates == "pytorch_half_pixel") return r.output > 1 ? (at + 0.5) / r.scale - 0.5 : 0;
    if (style.coordinates == "align_corners") {
        const double length = input * r.scale;
        return length == 1 ? 0 : at * (input - 1) / (length - 1);
    }
    if (style.coordinates == "asymmetric") return at / r.scale;
    if (style.coordinates == "tf_crop_and_resize")
        return r.output > 1 ? r.begin * (input - 1) + at * (r.end - r.begin) * (input - 1) / (output - 1)
                            : 0.5 * (r.begin + r.end) * (input - 1);
    call.refuse(fmt::format("has the coordinate_transformation_mode \"{}\"", style.coordinates));
}

int64_t nearest_of(const Call& call, const std::string& mode, double x) {
    if (mode == "round_prefer_floor") return static_cast<int64_t>(std::ceil(x - 0.5));
    if (mode == "round_prefer_ceil") return static_cast<int64_t>(std::floor(x + 0.5));
    if (mode == "floor") return static_cast<int64_t>(std::floor(x));
    if (mode == "ceil") return static_cast<int64_t>(std::ceil(x));
    call.refuse(fmt::format("has the nearest_mode \"{}\"", mode));
}

double cubic_weight(double distance, double a) {
    const double x = std::fabs(distance);
    if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
    return 0;
}

/// The elements, clamped to the axis, and their weights, the same number for every place.
struct Taps {
    int64_t count = 0;
    std::vector<double> places, weights;
};

Taps taps_of(const Call& call, const Resizing& r, const Style& style) {
    const bool is_cubic = style.mode == "cubic";
    const double reach = is_cubic ? 2 : 1;
    const double squeeze = style.smooths ? std::min(r.scale, 1.0) : 1;
    const auto first = static_cast<int64_t>(std::floor(-reach / squeeze)) + 1;
    Taps taps{.count = 2 - 2 * first, .places = {}, .weights = {}};
    if (!style.smooths) taps.count = is_cubic ? 4 : 2;
    call.expect(taps.count * r.output <= kMostKnown, "reads too many elements for each one");
    for (int64_t o = 0; o < r.output; ++o) {
        const double x = place_of(call, r, style, o), whole = std::floor(x), rest = x - whole;
        double total = 0;
        std::vector<double> weights;
        for (int64_t t = 0; t < taps.count; ++t) {
            const int64_t offset = (style.smooths ? first : is_cubic ? -1 : 0) + t;
            const double distance = (static_cast<double>(offset) - rest) * squeeze;
            double weight =
                is_cubic ? cubic_weight(distance, style.cubic) : std::max(0.0, 1 - std::fabs(distance));
            const int64_t at = static_cast<int64_t>(whole) + offset;
            if (style.excludes_outside && (at < 0 || at >= r.input)) weight = 0;
            total += weight;
            weights.push_back(weight);
            taps.places.push_back(static_cast<double>(std::clamp<int64_t>(at, 0, r.input - 1)));
        }
        for (const double weight : weights)
            taps.weights.push_back(style.excludes_outside || style.smooths ? weight / total : weight);
    }
    return taps;
}

Operand resized_along(const Call& call, const Operand& x, size_t axis, const Resizing& r,
                      const Style& style) {
    if (style.mode == "nearest") {
        std::vector<int64_t> table;
        for (int64_t o = 0; o < r.output; ++o)
            table.push_back(std::clamp<int64_t>(nearest_of(call, style.nearest, place_of(call, r, style, o)),
                                                0, r.input - 1));
        return pick(call, x, axis, table);
    }
    const Taps taps = taps_of(call, r, style);
    OperatorText text = operator_text(call);
    std::vector<Dim> shape = x.shape;
    shape[axis] = Dim(r.output);
    const std::vector<std::string> axes = axis_names(x.rank());
    for (size_t a = 0; a < axes.size(); ++a) text.over(axes[a], shape[a]);
    std::vector<std::string> read = axes;
    read[axis] = fmt::format("T[{}, j]", axes[axis]);
    text.folding("j", Dim(taps.count))
        .index(known_numbers(DataType::kInt32, {r.output, taps.count}, taps.places), "T", {axes[axis], "j"})
        .read(x, "X", read)
        .read(known_numbers(DataType::kFloat, {r.output, taps.count}, taps.weights), "W", {axes[axis], "j"});
    return call.build.add(text.write(x.type, shape, axes, "sum(X * W)"));
}

Operand resized(const Call& call, Operand x, const std::vector<size_t>& axes,
                const std::vector<Resizing>& how, const Style& style) {
    call.expect(style.mode == "nearest" || style.mode == "linear" || style.mode == "cubic",
                fmt::format("has the mode \"{}\"", style.mode));
    const bool may_leave = style.coordinates == "tf_crop_and_resize";
    std::vector<Operand> masks;
    for (size_t i = 0; i < axes.size(); ++i) {
        const Resizing& r = how[i];
        call.expect(r.output >= 0 && r.output <= kMostKnown, fmt::format("makes {} elements", r.output));
        call.expect(r.input > 0 || r.output == 0, "resizes an axis without elements");
        const bool stays = r.input == r.output && r.scale == 1 && !may_leave;
        if (!stays) x = resized_along(call, x, axes[i], r, style);
        if (!may_leave) continue;
        std::vector<double> inside;
        for (int64_t o = 0; o < r.output; ++o) {
            const double at = place_of(call, r, style, o);
            inside.push_back(at >= 0 && at <= static_cast<double>(r.input - 1) ? 1 : 0);
        }
        std::vector<int64_t> shape(x.rank(), 1);
        shape[axes[i]] = r.output;
        masks.push_back(known_numbers(DataType::kFloat, shape, inside));
    }
    for (const Operand& mask : masks)
        x = elementwise(call, {x, mask}, fmt::format("select(B != 0, A, {})", real_text(style.extrapolated)),
                        x.type);
    return x;
}

/// How often each element follows itself where an axis of any extent is resized; nothing for other scales.
std::optional<int64_t> repetition(const Call& call, const Style& style, double scale) {
    // Other coordinates depend on the extent.
    const bool moves = style.coordinates == "half_pixel" || style.coordinates == "asymmetric" ||
                       style.coordinates == "pytorch_half_pixel";
    if (style.mode != "nearest" || !moves || scale != std::floor(scale) || scale < 1 || scale > 64)
        return std::nullopt;
    const auto times = static_cast<int64_t>(scale);
    const Resizing few{.input = 4, .output = 4 * times, .scale = scale};
    for (int64_t o = 0; o < few.output; ++o) {
        const int64_t from = nearest_of(call, style.nearest, place_of(call, few, style, o));
        if (std::clamp<int64_t>(from, 0, few.input - 1) != o / times) return std::nullopt;
    }
    return times;
}

/// Each element along the axis, so many times.
Operand repeated(const Call& call, const Operand& x, size_t axis, int64_t times) {
    std::vector<Dim> shape = x.shape;
    shape[axis].factor *= times;
    const std::vector<std::string> axes = axis_names(x.rank());
    std::vector<std::string> read = axes;
    read[axis] = fmt::format("{} div {}", axes[axis], times);
    OperatorText text = operator_text(call);
    for (size_t a = 0; a < axes.size(); ++a) text.over(axes[a], shape[a]);
    return call.build.add(text.read(x, "X", read).write(x.type, shape, axes, "X"));
}

/// Axes with symbolic extents are resized and left out: they stay as they are, or their elements are
/// repeated.
Operand with_symbolic_resized(const Call& call, Operand x, const Style& style, std::vector<size_t>& axes,
                              std::vector<double>& scales, Forms& sizes) {
    for (size_t i = axes.size(); i > 0; --i) {
        const Dim extent = x.shape[axes[i - 1]];
        if (extent.is_constant()) continue;
        double scale = scales.empty() ? 0 : scales[i - 1];
        if (scales.empty()) {
            const Dim size = call.dim(sizes[i - 1]);
            if (size.symbol == extent.symbol)
                scale = static_cast<double>(size.factor) / static_cast<double>(extent.factor);
        }
        if (scale != 1) {
            const std::optional<int64_t> times = repetition(call, style, scale);
            if (!times) call.extent(x, axes[i - 1]);
            x = repeated(call, x, axes[i - 1], *times);
        }
        const auto at = static_cast<std::ptrdiff_t>(i - 1);
        axes.erase(axes.begin() + at);
        if (scales.empty())
            sizes.erase(sizes.begin() + at);
        else
            scales.erase(scales.begin() + at);
    }
    return x;
}

Results resize(const Call& call) {
    Operand x = call.in(0);
    Style style{.mode = call.text("mode", "nearest"),
                .coordinates = call.text("coordinate_transformation_mode", "half_pixel"),
                .nearest = call.text("nearest_mode", "round_prefer_floor"),
                .cubic = call.number("cubic_coeff_a", -0.75),
                .excludes_outside = call.integer("exclude_outside", 0) != 0,
                .smooths = call.integer("antialias", 0) != 0,
                .extrapolated = call.number("extrapolation_value", 0)};
    if (call.opset() == 10) {
        // Version 10 knows scales alone, and floors.
        style.coordinates = "asymmetric";
        style.nearest = "floor";
    }
    const size_t of_scales = call.opset() == 10 ? 1 : 2;
    std::vector<int64_t> numbers = call.integers("axes");
    if (numbers.empty()) {
        numbers.resize(x.rank());
        std::iota(numbers.begin(), numbers.end(), int64_t{0});
    }
    std::vector<size_t> axes;
    for (const int64_t number : numbers) axes.push_back(call.axis(number, x.rank()));
    std::vector<double> region, scales;
    Forms sizes;
    if (call.has(of_scales) && call.in(of_scales).shape != dims_of({0}))
        scales = call.known_numbers(of_scales);
    if (call.has(3) && call.in(3).shape != dims_of({0})) sizes = call.forms(3);
    if (style.coordinates == "tf_crop_and_resize" && call.has(1)) region = call.known_numbers(1);
    call.expect(scales.empty() != sizes.empty(), "has both or neither of scales and sizes");
    call.expect((scales.empty() ? sizes.size() : scales.size()) == axes.size(),
                "has scales or sizes of other axes");
    call.expect(region.empty() || region.size() == 2 * axes.size(), "has a region of other axes");
    const std::string policy = call.text("keep_aspect_ratio_policy", "stretch");
    if (region.empty() && (!scales.empty() || policy == "stretch"))
        x = with_symbolic_resized(call, x, style, axes, scales, sizes);
    const auto size = [&](size_t i) { return call.dim(sizes[i]).factor; };
    double common = 0;
    if (!sizes.empty() && policy != "stretch") {
        for (size_t i = 0; i < axes.size(); ++i) {
            const double own = static_cast<double>(size(i)) / static_cast<double>(call.extent(x, axes[i]));
            common = i == 0 ? own : policy == "not_larger" ? std::min(common, own) : std::max(common, own);
        }
    }
    std::vector<Resizing> how;
    for (size_t i = 0; i < axes.size(); ++i) {
        Resizing r{.input = call.extent(x, axes[i])};
        const auto input = static_cast<double>(r.input);
        if (!scales.empty()) {
            r.scale = scales[i];
            call.expect(r.scale > 0 && r.scale < 0x1p28, fmt::format("has the scale {}", r.scale));
            r.output = static_cast<int64_t>(std::floor(input * r.scale));
        } else if (common != 0) {
            r.scale = common;
            r.output = static_cast<int64_t>(std::floor(input * common + 0.5));
        } else {
            r.output = size(i);
            r.scale = r.input == 0 ? 1 : static_cast<double>(r.output) / input;
        }
        if (!region.empty()) {
            r.begin = region[i];
            r.end = region[i + axes.size()];
        }
        how.push_back(r);
    }
    return {resized(call, x, axes, how, style)};
}

Results upsample(const Call& call) {
    const Operand& x = call.in(0);
    const std::vector<double> scales = call.opset() >= 9 ? call.known_numbers(1) : call.numbers("scales");
    call.expect(scales.size() == x.rank(), "has scales of other axes");
    const Style style{.mode = call.text("mode", "nearest"), .coordinates = "asymmetric", .nearest = "floor"};
    std::vector<size_t> axes;
    std::vector<Resizing> how;
    for (size_t a = 0; a < x.rank(); ++a) {
        call.expect(scales[a] >= 1 && scales[a] < 0x1p28, fmt::format("has the scale {}", scales[a]));
        if (scales[a] == 1) continue;
        const int64_t input = call.extent(x, a);
        axes.push_back(a);
        how.push_back({.input = input,
                       .output = static_cast<int64_t>(std::floor(static_cast<double>(input) * scales[a])),
                       .scale = scales[a]});
    }
    return {resized(call, x, axes, how, style)};
}

}  // namespace

std::span<const Operator> resizing() {
    static constexpr std::array kOperators = {
        Operator{"Resize", resize},
        Operator{"Upsample", upsample},
    };
    return kOperators;
}

}  // namespace tessera::import::onnx
