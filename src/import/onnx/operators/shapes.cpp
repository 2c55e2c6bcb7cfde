// Shapes: elements stay as they are, and lie elsewhere.
#include <algorithm>
#include <array>
#include <numeric>
#include <span>

#include <fmt/format.h>

#include "import/onnx/operators/families.h"
#include "import/onnx/primitives.h"
#include "import/onnx/volume.h"

namespace tessera::import::onnx {
namespace {

using Results = std::vector<Operand>;

Results identity(const Call& call) {
    return {call.in(0)};
}

/// In inference it does nothing; its mask is true everywhere.
Results dropout(const Call& call) {
    if (call.has(2)) {
        const bool trains = call.known_integer(2) != 0;
        const double ratio = call.has(1) ? call.known_number(1) : 0.5;
        call.expect(!trains || ratio == 0, "drops elements, as in training");
    }
    Results results = {call.in(0)};
    if (call.outputs() > 1)
        results.push_back(expand(call, known_scalar(DataType::kBool, 1), call.in(0).shape));
    return results;
}

Results reshaped(const Call& call, const Forms& wanted, bool allows_zero) {
    const Operand& x = call.in(0);
    std::vector<Dim> to;
    std::optional<size_t> open;
    for (const LinearForm& form : wanted) {
        const size_t axis = to.size();
        if (form == LinearForm{} && !allows_zero) {
            call.expect(axis < x.rank(), fmt::format("keeps axis {} of {} axes", axis, x.rank()));
            to.push_back(x.shape[axis]);
        } else if (form == LinearForm{.constant = -1, .terms = {}}) {
            call.expect(!open, "leaves two extents open");
            open = axis;
            to.emplace_back(1);
        } else {
            to.push_back(call.dim(form));
        }
    }
    const Volume from = volume_of(x.shape), known = volume_of(to);
    if (open) {
        const std::optional<Volume> rest = quotient(from, known);
        const std::optional<LinearForm> extent = rest ? rest->form() : std::nullopt;
        if (!extent)
            call.refuse(
                fmt::format("cannot make {} of multiples of {}", shape_text(x.shape), shape_text(to)));
        to[*open] = call.dim(*extent);
    }
    call.expect(volume_of(to) == from, fmt::format("makes {} of {}, which has another number of elements",
                                                   shape_text(to), shape_text(x.shape)));
    return {call.build.with_shape(x, to)};
}

Results reshape(const Call& call) {
    Forms shape;
    if (call.opset() < 5) {
        for (const int64_t extent : call.integers("shape"))
            shape.push_back({.constant = extent, .terms = {}});
    } else {
        shape = call.forms(1);
    }
    return reshaped(call, shape, call.integer("allowzero", 0) != 0);
}

Results flatten(const Call& call) {
    const Operand& x = call.in(0);
    const int64_t rank = static_cast<int64_t>(x.rank());
    int64_t axis = call.integer("axis", 1);
    call.expect(axis >= -rank && axis <= rank, fmt::format("has the axis {} of {}", axis, rank));
    if (axis < 0) axis += rank;
    std::vector<Dim> shape;
    const std::span<const Dim> all(x.shape);
    const auto cut = static_cast<size_t>(axis);
    for (const std::span<const Dim>& part : {all.first(cut), all.subspan(cut)}) {
        const std::optional<LinearForm> extent = volume_of(part).form();
        if (!extent) call.refuse("joins several symbolic extents", "give them by --dim NAME=NUMBER");
        shape.push_back(call.dim(*extent));
    }
    return {call.build.with_shape(x, shape)};
}

/// Axes are an attribute before opset 13.
std::vector<int64_t> axes_of(const Call& call) {
    return call.has(1) ? call.known_integers(1) : call.integers("axes");
}

Results squeeze(const Call& call) {
    const Operand& x = call.in(0);
    const std::vector<size_t> axes = call.axes(axes_of(call), x.rank());
    const bool takes_all = !call.has(1) && !call.has_attribute("axes");
    std::vector<Dim> shape;
    for (size_t axis = 0; axis < x.rank(); ++axis) {
        const bool is_one = x.shape[axis] == Dim(1);
        const bool is_named = std::ranges::binary_search(axes, axis);
        call.expect(!is_named || is_one, fmt::format("takes away axis {}, whose extent is not 1", axis));
        if (!(is_named || (takes_all && is_one))) shape.push_back(x.shape[axis]);
    }
    return {call.build.with_shape(x, shape)};
}

Results unsqueeze(const Call& call) {
    const Operand& x = call.in(0);
    const std::vector<int64_t> numbers = axes_of(call);
    const std::vector<size_t> axes = call.axes(numbers, x.rank() + numbers.size());
    std::vector<Dim> shape = x.shape;
    for (const size_t axis : axes) shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), Dim(1));
    return {call.build.with_shape(x, shape)};
}

Results transpose_operator(const Call& call) {
    const Operand& x = call.in(0);
    std::vector<int64_t> numbers = call.integers("perm");
    if (numbers.empty())
        for (int64_t axis = static_cast<int64_t>(x.rank()); axis > 0; --axis) numbers.push_back(axis - 1);
    call.expect(numbers.size() == x.rank() && call.axes(numbers, x.rank()).size() == x.rank(),
                "has an order of other axes");
    std::vector<size_t> order;
    for (const int64_t number : numbers) order.push_back(call.axis(number, x.rank()));
    return {transpose(call, x, order)};
}

Results concat_operator(const Call& call) {
    const std::vector<Operand> parts = call.all();
    call.expect(!parts.empty(), "has no inputs");
    const size_t axis = call.axis(call.integer("axis", 1), parts.front().rank());
    for (const Operand& part : parts) {
        call.expect(part.rank() == parts.front().rank(), "joins tensors of different ranks");
        for (size_t a = 0; a < part.rank(); ++a)
            call.expect(a == axis || part.shape[a] == parts.front().shape[a],
                        "joins tensors of different shapes");
    }
    return {concat(call, parts, axis)};
}

Results expand_operator(const Call& call) {
    const Operand target{.type = call.in(0).type, .shape = call.known_shape(1), .known = {}, .id = {}};
    return {expand(call, call.in(0), broadcast_shape(call, {call.in(0), target}))};
}

Results tile(const Call& call) {
    const Operand& x = call.in(0);
    const std::vector<Dim> times = call.known_shape(1);
    call.expect(times.size() == x.rank(), "has another number of repetitions than axes");
    OperatorText text = operator_text(call);
    std::vector<Dim> shape;
    std::vector<std::string> read;
    for (size_t axis = 0; axis < x.rank(); ++axis) {
        const Dim& extent = x.shape[axis];
        call.expect(times[axis].factor < (1 << 30), fmt::format("repeats {} times", times[axis].factor));
        const std::optional<LinearForm> total = product(linear_form(extent), linear_form(times[axis]));
        if (!total) call.refuse("repeats a symbolic extent a symbolic number of times");
        shape.push_back(call.dim(*total));
        text.over(axis_name(axis), shape.back());
        if (times[axis] == Dim(1))
            read.push_back(axis_name(axis));
        else
            read.push_back(extent.factor == 0
                               ? "0"
                               : fmt::format("{} mod ({})", axis_name(axis), form_text(linear_form(extent))));
    }
    return {call.build.add(text.read(x, "X", read).write(x.type, shape, axis_names(x.rank()), "X"))};
}

/// Elements begin, begin + step, ... of an axis, as ONNX counts them.
Range range_along(const Call& call, size_t axis, int64_t extent, int64_t begin, int64_t end, int64_t step) {
    call.expect(step != 0, "has the step 0");
    const auto place = [&](int64_t at, int64_t low, int64_t high) {
        if (at < 0) at = at < -extent ? -1 : at + extent;
        return std::clamp(at, low, high);
    };
    int64_t first, last, count;
    if (step > 0) {
        first = begin < -extent ? 0 : place(begin, 0, extent);
        last = end < -extent ? 0 : place(end, 0, extent);
        count = last > first ? (last - first - 1) / step + 1 : 0;
    } else {
        first = place(begin, extent == 0 ? 0 : -1, std::max<int64_t>(extent - 1, 0));
        last = end < -extent ? -1 : place(end, -1, extent);
        count = first > last ? (first - last - 1) / -std::max(step, -(int64_t{1} << 62)) + 1 : 0;
    }
    if (count <= 1) step = 1;
    return number_range(axis, count == 0 ? 0 : first, step, count);
}

/// The same one by one, where an end is known up to symbols: their bounds must say where it lies.
Range symbolic_range(const Call& call, size_t axis, const LinearForm& extent, const LinearForm& begin,
                     const LinearForm& end) {
    const auto bounds = [&](const LinearForm& form) { return range(form, call.build.graph().symbols); };
    const auto place = [&](const LinearForm& stated) {
        LinearForm at = bounds(stated).high < 0 ? sum(stated, extent) : stated;
        if (bounds(at).high <= 0) return LinearForm{};
        if (bounds(sum(at, extent, -1)).low >= 0) return extent;
        if (bounds(at).low < 0 || bounds(sum(extent, at, -1)).low < 0)
            call.refuse(fmt::format("has the bound {} along axis {} of {}, inside of it or outside",
                                    print(stated), axis, print(extent)),
                        "give the symbol by --dim NAME=NUMBER");
        return at;
    };
    const LinearForm first = place(begin), count = sum(place(end), first, -1);
    if (bounds(count).high <= 0) return number_range(axis, 0, 1, 0);
    return {.axis = axis, .begin = first, .step = 1, .count = call.dim(count)};
}

Results slice_operator(const Call& call) {
    const Operand& x = call.in(0);
    const bool has_inputs = call.opset() >= 10;
    const auto ends_of = [&](size_t input, const char* name) {
        if (has_inputs) return call.forms(input);
        Forms forms;
        for (const int64_t number : call.integers(name)) forms.push_back({.constant = number, .terms = {}});
        return forms;
    };
    const Forms begins = ends_of(1, "starts"), ends = ends_of(2, "ends");
    std::vector<int64_t> axes = call.has(3) ? call.known_integers(3) : call.integers("axes");
    std::vector<int64_t> steps =
        call.has(4) ? call.known_integers(4) : std::vector<int64_t>(begins.size(), 1);
    if (axes.empty() && !call.has(3)) {
        axes.resize(begins.size());
        std::iota(axes.begin(), axes.end(), int64_t{0});
    }
    call.expect(begins.size() == ends.size() && begins.size() == axes.size() && begins.size() == steps.size(),
                "has different numbers of starts, ends, axes and steps");
    (void)call.axes(axes, x.rank());
    std::vector<Range> ranges;
    for (size_t i = 0; i < axes.size(); ++i) {
        const size_t axis = call.axis(axes[i], x.rank());
        const LinearForm extent = linear_form(x.shape[axis]);
        if (extent.is_constant() && begins[i].is_constant() && ends[i].is_constant()) {
            ranges.push_back(
                range_along(call, axis, extent.constant, begins[i].constant, ends[i].constant, steps[i]));
        } else {
            call.expect(steps[i] == 1, "steps along a symbolic extent");
            ranges.push_back(symbolic_range(call, axis, extent, begins[i], ends[i]));
        }
    }
    return {slice(call, x, ranges)};
}

Results split(const Call& call) {
    const Operand& x = call.in(0);
    const size_t axis = call.axis(call.integer("axis", 0), x.rank());
    const int64_t extent = call.extent(x, axis);
    const auto parts = static_cast<int64_t>(call.outputs());
    std::vector<int64_t> lengths = call.has(1) ? call.known_integers(1) : call.integers("split");
    if (lengths.empty()) {
        if (call.has_attribute("num_outputs"))
            call.expect(call.integer("num_outputs", 0) == parts,
                        "has another number of outputs than it says");
        call.expect(parts > 0, "has no outputs");
        const int64_t each = (extent + parts - 1) / parts;
        call.expect(
            extent % parts == 0 || (call.has_attribute("num_outputs") && each * (parts - 1) <= extent),
            fmt::format("splits {} elements in {} parts", extent, parts));
        for (int64_t i = 0, rest = extent; i < parts; ++i, rest -= each)
            lengths.push_back(std::clamp<int64_t>(rest, 0, each));
    }
    Results results;
    int64_t begin = 0;
    for (const int64_t length : lengths) {
        call.expect(length >= 0 && length <= extent - begin,
                    fmt::format("takes {} elements of {}", length, extent));
        results.push_back(slice(call, x, {number_range(axis, length == 0 ? 0 : begin, 1, length)}));
        begin += length;
    }
    call.expect(begin == extent, fmt::format("takes {} elements of {}", begin, extent));
    call.expect(results.size() == call.outputs(), "has another number of parts than of outputs");
    return results;
}

Results depth_to_space(const Call& call) {
    const Operand& x = call.in(0);
    const std::vector<int64_t> e = call.extents(x);
    const int64_t b = call.integer("blocksize", 0);
    call.expect(e.size() == 4 && b > 0 && b < (1 << 15) && e[1] % (b * b) == 0, "needs [n, c * b * b, h, w]");
    const int64_t c = e[1] / (b * b);
    const bool is_crd = call.text("mode", "DCR") == "CRD";
    const Operand six =
        call.build.with_shape(x, dims_of(is_crd ? std::vector<int64_t>{e[0], c, b, b, e[2], e[3]}
                                                : std::vector<int64_t>{e[0], b, b, c, e[2], e[3]}));
    const Operand moved = transpose(
        call, six, is_crd ? std::vector<size_t>{0, 1, 4, 2, 5, 3} : std::vector<size_t>{0, 3, 4, 1, 5, 2});
    return {call.build.with_shape(moved, dims_of({e[0], c, e[2] * b, e[3] * b}))};
}

Results space_to_depth(const Call& call) {
    const Operand& x = call.in(0);
    const std::vector<int64_t> e = call.extents(x);
    const int64_t b = call.integer("blocksize", 0);
    call.expect(e.size() == 4 && b > 0 && b < (1 << 15) && e[2] % b == 0 && e[3] % b == 0,
                "needs [n, c, h * b, w * b]");
    const Operand six = call.build.with_shape(x, dims_of({e[0], e[1], e[2] / b, b, e[3] / b, b}));
    const Operand moved = transpose(call, six, {0, 3, 5, 1, 2, 4});
    return {call.build.with_shape(moved, dims_of({e[0], e[1] * b * b, e[2] / b, e[3] / b}))};
}

Results reverse_sequence(const Call& call) {
    const Operand& x = call.in(0);
    const int64_t time = call.integer("time_axis", 0), batch = call.integer("batch_axis", 1);
    call.expect(x.rank() >= 2 && time + batch == 1 && time * batch == 0,
                "needs the axes 0 and 1 for time and batch");
    // Each element is looked for along its sequence: the place is no affine function of a length.
    OperatorText text = operator_text(call);
    std::vector<std::string> axes = axis_names(x.rank()), read = axes;
    const size_t t = static_cast<size_t>(time), n = static_cast<size_t>(batch);
    for (size_t a = 0; a < x.rank(); ++a) text.over(axes[a], x.shape[a]);
    text.folding("j", x.shape[t]);
    read[t] = "j";
    text.read(x, "X", read).read(call.in(1), "L", {axes[n]});
    return {call.build.add(
        text.write(x.type, x.shape, axes,
                   fmt::format("sum(select(j == select({0} < L, L - 1 - {0}, {0}), X, 0))", axes[t])))};
}

}  // namespace

std::span<const Operator> shapes() {
    static constexpr std::array kOperators = {
        Operator{"Concat", concat_operator},
        Operator{"DepthToSpace", depth_to_space},
        Operator{"Dropout", dropout},
        Operator{"Expand", expand_operator},
        Operator{"Flatten", flatten},
        Operator{"Identity", identity},
        Operator{"Reshape", reshape},
        Operator{"ReverseSequence", reverse_sequence},
        Operator{"Slice", slice_operator},
        Operator{"SpaceToDepth", space_to_depth},
        Operator{"Split", split},
        Operator{"Squeeze", squeeze},
        Operator{"Tile", tile},
        Operator{"Transpose", transpose_operator},
        Operator{"Unsqueeze", unsqueeze},
    };
    return kOperators;
}

}  // namespace tessera::import::onnx
