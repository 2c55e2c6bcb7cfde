// Choices among elements: orders, one-hot codes, triangles.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "import/onnx/operators/families.h"
#include "import/onnx/primitives.h"

namespace tessera::import::onnx {
namespace {

using Results = std::vector<Operand>;

/// The rank of an element is the number of those before it: greater ones, and equal ones of a lower index.
/// NaN counts as the greatest.
Results top_k(const Call& call) {
    const Operand& x = call.in(0);
    const size_t axis = call.axis(call.integer("axis", -1), x.rank());
    const int64_t k = call.opset() < 10 ? call.integer("k", 0) : call.known_integer(1);
    const bool takes_largest = call.integer("largest", 1) != 0;
    const int64_t extent = call.extent(x, axis);
    call.expect(k >= 0 && k <= extent, fmt::format("takes {} of {} elements", k, extent));
    std::vector<std::string> axes = axis_names(x.rank()), other = axes;
    other[axis] = "j";
    const auto element = [](const std::vector<std::string>& at) {
        std::string text;
        for (const std::string& c : at) text += (text.empty() ? "" : ", ") + c;
        return fmt::format("X[{}]", text);
    };
    const std::string mine = element(axes), its = element(other);
    OperatorText text = operator_text(call);
    for (size_t a = 0; a < axes.size(); ++a) text.over(axes[a], x.shape[a]);
    text.folding("j", x.shape[axis]).wide();
    call.expect(text.iterations() < int64_t{1} << 34, "has too many elements");
    const bool has_nan = !is_integer(x.type);
    std::string before = fmt::format("{} {} {}", its, takes_largest ? ">" : "<", mine);
    std::string equal = fmt::format("{} == {}", its, mine);
    if (has_nan) {
        before += takes_largest ? fmt::format(" or ({0} != {0} and {1} == {1})", its, mine)
                                : fmt::format(" or ({0} == {0} and {1} != {1})", its, mine);
        equal = fmt::format("({0} or ({1} != {1} and {2} != {2}))", equal, its, mine);
    }
    const Operand rank = call.build.add(
        text.read(x, "X", axes)
            .write(DataType::kInt64, x.shape, axes,
                   fmt::format("sum(select({} or ({} and j < {}), 1, 0))", before, equal, axes[axis])));
    std::vector<Dim> shape = x.shape;
    shape[axis] = Dim(k);
    const auto chosen = [&](const std::string& value, DataType type) {
        OperatorText picked = operator_text(call);
        for (size_t a = 0; a < axes.size(); ++a) picked.over(axes[a], shape[a]);
        picked.folding("j", x.shape[axis]).read(rank, "R", other);
        if (value == "X") picked.read(x, "X", other);
        return call.build.add(
            picked.write(type, shape, axes, fmt::format("sum(select(R == {}, {}, 0))", axes[axis], value)));
    };
    return {chosen("X", x.type), chosen("j", DataType::kInt64)};
}

/// Known numbers as bodies take them; none where one is infinite or NaN.
std::vector<std::string> literals(const Operand& operand) {
    std::vector<std::string> texts;
    if (!operand.known) return texts;
    if (is_integer(operand.type)) {
        for (const int64_t number : integers_of(operand)) texts.push_back(fmt::format("({})", number));
        return texts;
    }
    for (const double number : numbers_of(operand)) {
        if (!std::isfinite(number)) return {};
        texts.push_back(real_text(number));
    }
    return texts;
}

Results one_hot(const Call& call) {
    const Operand &indices = call.in(0), &values = call.in(2);
    const double stated = call.known_number(1);
    call.expect(stated >= 1 && stated < 0x1p31, fmt::format("has the depth {}", stated));
    const auto depth = static_cast<int64_t>(stated);
    call.expect(depth > 0 && values.rank() == 1, "needs a positive depth and two values");
    const size_t axis = call.axis(call.integer("axis", -1), indices.rank() + 1);
    std::vector<Dim> shape = indices.shape;
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), Dim(depth));
    const std::vector<std::string> axes = axis_names(shape.size());
    std::vector<std::string> read = axes;
    read.erase(read.begin() + static_cast<std::ptrdiff_t>(axis));
    OperatorText text = operator_text(call);
    for (size_t a = 0; a < axes.size(); ++a) text.over(axes[a], shape[a]);
    text.read(indices, "I", read);
    std::string off = "V[0]", on = "V[1]";
    if (const auto known = literals(values); known.size() == 2) {
        off = known[0];
        on = known[1];
    } else {
        text.read(values, "V", {"0"});
    }
    return {call.build.add(
        text.write(values.type, shape, axes,
                   fmt::format("select(I == {0} or I + {1} == {0}, {2}, {3})", axes[axis], depth, on, off)))};
}

Results trilu(const Call& call) {
    const Operand& x = call.in(0);
    call.expect(x.rank() >= 2, "needs matrices");
    const int64_t k = call.has(1) ? call.known_integer(1) : 0;
    const bool is_upper = call.integer("upper", 1) != 0;
    const std::string row = axis_name(x.rank() - 2), column = axis_name(x.rank() - 1);
    const std::string value =
        fmt::format("select({} - {} {} {}, A, 0)", column, row, is_upper ? ">=" : "<=", k);
    return {elementwise(call, {x}, value)};
}

Results hardmax(const Call& call) {
    const Operand x = call.in(0).rank() == 0 ? call.build.with_shape(call.in(0), {Dim(1)}) : call.in(0);
    Operand rows = x;
    size_t axis = call.axis(call.integer("axis", call.opset() < 13 ? 1 : -1), std::max<size_t>(x.rank(), 1));
    if (call.opset() < 13) {
        // Old versions see a matrix.
        const std::vector<int64_t> extents = call.extents(x);
        int64_t before = 1;
        for (size_t a = 0; a < axis; ++a) before *= extents[a];
        rows = call.build.with_shape(x, dims_of({before, before == 0 ? 0 : x.elements() / before}));
        axis = 1;
    }
    const Operand largest = reduce(call, rows, {axis}, true, "max(X)", rows.type);
    OperatorText text = operator_text(call);
    std::vector<std::string> axes = axis_names(rows.rank()), at = axes;
    at[axis] = "0";
    std::vector<Dim> kept = rows.shape;
    kept[axis] = Dim(1);
    for (size_t a = 0; a < rows.rank(); ++a)
        if (a != axis) text.over(axes[a], rows.shape[a]);
    text.folding(axes[axis], rows.shape[axis]).read(rows, "X", axes).read(largest, "M", at);
    const Operand first = call.build.add(
        text.write(DataType::kInt64, kept, at,
                   fmt::format("min(select(X == M, {}, {}))", axes[axis], call.extent(rows, axis))));
    const Operand result = elementwise(
        call, {rows, first}, fmt::format("select({} == B, 1, 0 * select(A == A, 1, 0))", axes[axis]));
    return {call.build.with_shape(result, call.in(0).shape)};
}

}  // namespace

std::span<const Operator> selections() {
    static constexpr std::array kOperators = {
        Operator{"Hardmax", hardmax},
        Operator{"OneHot", one_hot},
        Operator{"TopK", top_k},
        Operator{"Trilu", trilu},
    };
    return kOperators;
}

}  // namespace tessera::import::onnx
