#include "import/onnx/primitives.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "import/onnx/narrow_float.h"
#include "ir/characters.h"

namespace tessera::import::onnx {
namespace {

/// The name of a definition, which no tensor or iterator of it has.
std::string definition_name(const Call& call) {
    std::string name = "op_";
    for (const char c : call.op()) name += continues_name(c) ? c : '_';
    return name;
}

bool is_one(const Dim& dim) {
    return dim == Dim(1);
}

}  // namespace

std::string shape_text(const std::vector<Dim>& shape) {
    std::vector<std::string> extents;
    for (const Dim& dim : shape) extents.push_back(print(linear_form(dim)));
    return fmt::format("[{}]", fmt::join(extents, ", "));
}

std::string axis_name(size_t axis) {
    return fmt::format("x{}", axis);
}

std::vector<std::string> axis_names(size_t rank) {
    std::vector<std::string> names;
    for (size_t axis = 0; axis < rank; ++axis) names.push_back(axis_name(axis));
    return names;
}

OperatorText operator_text(const Call& call) {
    return OperatorText(definition_name(call));
}

std::vector<Dim> broadcast_shape(const Call& call, const std::vector<Operand>& operands) {
    size_t rank = 0;
    for (const Operand& operand : operands) rank = std::max(rank, operand.rank());
    std::vector<Dim> shape(rank, Dim(1));
    for (const Operand& operand : operands) {
        for (size_t axis = 0; axis < operand.rank(); ++axis) {
            Dim& extent = shape[rank - operand.rank() + axis];
            const Dim& own = operand.shape[axis];
            if (is_one(own) || own == extent) continue;
            if (!is_one(extent)) {
                std::vector<std::string> all;
                for (const Operand& each : operands) all.push_back(shape_text(each.shape));
                call.refuse(fmt::format("has inputs of the shapes {}, which do not broadcast",
                                        fmt::join(all, " and ")));
            }
            extent = own;
        }
    }
    return shape;
}

std::vector<std::string> broadcast_coordinates(const Operand& operand, const std::vector<std::string>& axes) {
    std::vector<std::string> coordinates;
    for (size_t axis = 0; axis < operand.rank(); ++axis)
        coordinates.push_back(is_one(operand.shape[axis]) ? "0" : axes[axes.size() - operand.rank() + axis]);
    return coordinates;
}

std::vector<Operand> beside_each_other(const Call& call, const Operand& a, const Operand& b) {
    if (call.opset() >= 7 || call.integer("broadcast", 0) == 0 || !call.has_attribute("axis")) return {a, b};
    const size_t axis = call.axis(call.integer("axis", 0), a.rank());
    call.expect(axis + b.rank() <= a.rank(), "broadcasts an input beyond the axes of the other");
    std::vector<Dim> shape = b.shape;
    shape.insert(shape.end(), a.rank() - axis - b.rank(), Dim(1));
    return {a, call.build.with_shape(b, shape)};
}

std::vector<Operand> both_inputs(const Call& call) {
    call.expect(call.inputs() == 2, "expects two inputs");
    call.expect(call.in(0).type == call.in(1).type,
                fmt::format("has inputs of {} and {}", name(call.in(0).type), name(call.in(1).type)));
    return beside_each_other(call, call.in(0), call.in(1));
}

Operand elementwise(const Call& call, const std::vector<Operand>& operands, const std::string& body,
                    DataType type) {
    const std::vector<Dim> shape = broadcast_shape(call, operands);
    const std::vector<std::string> axes = axis_names(shape.size());
    OperatorText text = operator_text(call);
    for (size_t axis = 0; axis < shape.size(); ++axis) text.over(axes[axis], shape[axis]);
    for (size_t i = 0; i < operands.size(); ++i)
        text.read(operands[i], std::string(1, static_cast<char>('A' + i)),
                  broadcast_coordinates(operands[i], axes));
    return call.build.add(text.write(type, shape, axes, body));
}

Operand elementwise(const Call& call, const std::vector<Operand>& operands, const std::string& body) {
    return elementwise(call, operands, body, operands.front().type);
}

DataType sum_type(DataType type) {
    return type == DataType::kFloat16 || type == DataType::kBfloat16 ? DataType::kFloat : type;
}

std::string wrapped(const std::string& body, DataType type) {
    if (!is_integer(type) || type == DataType::kBool || bits(type) == 64) return body;
    const int64_t count = int64_t{1} << bits(type);
    if (range(type).low == 0) return fmt::format("({}) mod {}", body, count);
    return fmt::format("({} + {}) mod {} - {}", body, count / 2, count, count / 2);
}

std::string real_text(double number) {
    std::string text = fmt::format("{:.17g}", number);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return number < 0 ? fmt::format("({})", text) : text;
}

Operand less_zero_point(const Call& call, const Operand& x, const Operand& zero) {
    return elementwise(call, {cast(call, x, DataType::kInt32), cast(call, zero, DataType::kInt32)}, "A - B");
}

Operand reduce(const Call& call, const Operand& x, const std::vector<size_t>& axes, bool keeps,
               const std::string& value, DataType type) {
    OperatorText text = operator_text(call);
    const std::vector<std::string> names = axis_names(x.rank());
    std::vector<Dim> shape;
    std::vector<std::string> written;
    for (size_t axis = 0; axis < x.rank(); ++axis) {
        if (!std::ranges::binary_search(axes, axis)) {
            text.over(names[axis], x.shape[axis]);
            shape.push_back(x.shape[axis]);
            written.push_back(names[axis]);
            continue;
        }
        text.folding(names[axis], x.shape[axis]);
        if (!keeps) continue;
        shape.emplace_back(1);
        written.emplace_back("0");
    }
    return call.build.add(text.read(x, "X", names).write(type, shape, written, value));
}

std::string count_text(const Operand& x, const std::vector<size_t>& axes) {
    int64_t constant = 1;
    std::string symbols;
    for (const size_t axis : axes) {
        constant *= x.shape[axis].factor;
        if (x.shape[axis].symbol) symbols += fmt::format(" * ${}", *x.shape[axis].symbol);
    }
    return symbols.empty() ? fmt::format("{}.0", constant) : fmt::format("({}{})", constant, symbols);
}

Operand transpose(const Call& call, const Operand& x, const std::vector<size_t>& order) {
    call.expect(order.size() == x.rank(),
                fmt::format("has an array of {} axes, expected {}", x.rank(), order.size()));
    OperatorText text = operator_text(call);
    std::vector<Dim> shape;
    std::vector<std::string> read(x.rank());
    for (size_t axis = 0; axis < order.size(); ++axis) {
        shape.push_back(x.shape[order[axis]]);
        text.over(axis_name(axis), shape.back());
        read[order[axis]] = axis_name(axis);
    }
    return call.build.add(text.read(x, "X", read).write(x.type, shape, axis_names(order.size()), "X"));
}

Operand product(const Call& call, const Operand& a, const Operand& b, DataType type) {
    call.expect(a.rank() >= 2 && b.rank() >= 2, "multiplies what are no matrices");
    const auto outer = [](const Operand& x) {
        Operand batch = x;
        batch.shape.erase(batch.shape.end() - 2, batch.shape.end());
        return batch;
    };
    std::vector<Dim> shape = broadcast_shape(call, {outer(a), outer(b)});
    OperatorText text = operator_text(call);
    std::vector<std::string> axes = axis_names(shape.size());
    for (size_t axis = 0; axis < shape.size(); ++axis) text.over(axes[axis], shape[axis]);
    std::vector<std::string> of_a = broadcast_coordinates(outer(a), axes),
                             of_b = broadcast_coordinates(outer(b), axes);
    const Dim rows = a.shape[a.rank() - 2], columns = b.shape[b.rank() - 1], inner = a.shape[a.rank() - 1];
    if (!(inner == b.shape[b.rank() - 2]))
        call.refuse(fmt::format("multiplies {} by {}", shape_text(a.shape), shape_text(b.shape)));
    of_a.insert(of_a.end(), {"m", "k"});
    of_b.insert(of_b.end(), {"k", "n"});
    axes.insert(axes.end(), {"m", "n"});
    shape.insert(shape.end(), {rows, columns});
    text.over("m", rows).over("n", columns).folding("k", inner).read(a, "A", of_a).read(b, "B", of_b);
    return call.build.add(text.write(type, shape, axes, wrapped("sum(A * B)", type)));
}

Range number_range(size_t axis, int64_t begin, int64_t step, int64_t count) {
    return {.axis = axis, .begin = {.constant = begin, .terms = {}}, .step = step, .count = Dim(count)};
}

Operand slice(const Call& call, const Operand& x, const std::vector<Range>& ranges) {
    OperatorText text = operator_text(call);
    std::vector<Dim> shape = x.shape;
    std::vector<std::string> read = axis_names(x.rank());
    for (const Range& range : ranges) {
        shape[range.axis] = range.count;
        std::string& at = read[range.axis];
        if (range.step != 1) at = fmt::format("{} * {}", at, range.step);
        if (range.begin != LinearForm{}) at = fmt::format("{} + {}", at, form_text(range.begin));
    }
    for (size_t axis = 0; axis < shape.size(); ++axis) text.over(axis_name(axis), shape[axis]);
    return call.build.add(text.read(x, "X", read).write(x.type, shape, axis_names(shape.size()), "X"));
}

Operand concat(const Call& call, const std::vector<Operand>& parts, size_t axis) {
    if (parts.size() == 2 && !parts.front().cache.empty())
        return call.build.append(parts.front(), parts.back(), axis);
    for (const Operand& part : parts) expect_readable(part);
    // An operator chooses among a few parts; many are joined in groups.
    constexpr size_t kMostParts = 8;
    if (parts.size() > kMostParts) {
        std::vector<Operand> groups;
        const size_t each = (parts.size() + kMostParts - 1) / kMostParts;
        for (size_t begin = 0; begin < parts.size(); begin += each)
            groups.push_back(
                concat(call,
                       {parts.begin() + static_cast<std::ptrdiff_t>(begin),
                        parts.begin() + static_cast<std::ptrdiff_t>(std::min(begin + each, parts.size()))},
                       axis));
        return concat(call, groups, axis);
    }
    OperatorText text = operator_text(call);
    std::vector<Dim> shape = parts.front().shape;
    int64_t total = 0;
    std::string body, closing;
    const std::vector<std::string> axes = axis_names(shape.size());
    std::vector<Operand> used;
    for (const Operand& part : parts) {
        const int64_t extent = call.extent(part, axis);
        if (extent == 0) continue;
        std::vector<std::string> read = axes;
        if (total > 0) read[axis] = fmt::format("{} - {}", axes[axis], total);
        const std::string name = fmt::format("A{}", used.size());
        text.read(part, name, read);
        used.push_back(part);
        total += extent;
        body = used.size() == 1
                   ? name
                   : fmt::format("select({} < {}, {}, {})", axes[axis], total - extent, body, name);
    }
    if (used.size() == 1) return used.front();
    shape[axis] = Dim(total);
    for (size_t a = 0; a < shape.size(); ++a) text.over(axes[a], shape[a]);
    if (used.empty()) return parts.front();
    return call.build.add(text.write(parts.front().type, shape, axes, body));
}

Operand pick(const Call& call, const Operand& x, size_t axis, const std::vector<int64_t>& table) {
    OperatorText text = operator_text(call);
    std::vector<Dim> shape = x.shape;
    const std::vector<std::string> axes = axis_names(shape.size());
    shape[axis] = Dim(static_cast<int64_t>(table.size()));
    for (size_t a = 0; a < shape.size(); ++a) text.over(axes[a], shape[a]);
    std::vector<double> numbers(table.begin(), table.end());
    const bool has_gaps = std::ranges::any_of(table, [](int64_t at) { return at < 0; });
    std::ranges::transform(numbers, numbers.begin(), [](double at) { return std::max(at, 0.0); });
    text.index(known_numbers(DataType::kInt32, {shape[axis].factor}, numbers), "T", {axes[axis]});
    std::vector<std::string> read = axes;
    read[axis] = fmt::format("T[{}]", axes[axis]);
    std::string body = "X";
    text.read(x, "X", read);
    if (has_gaps) {
        std::vector<double> holds;
        for (const int64_t at : table) holds.push_back(at < 0 ? 0 : 1);
        text.index(known_numbers(DataType::kInt32, {shape[axis].factor}, holds), "H", {axes[axis]});
        body = "select(H != 0, X, 0)";
    }
    return call.build.add(text.write(x.type, shape, axes, body));
}

Operand cast(const Call& call, const Operand& x, DataType to, bool saturates) {
    if (x.type == to) return x;
    if (to == DataType::kFloat8E8M0) call.refuse("casts to FLOAT8E8M0, which is not supported");
    if (const std::optional<NarrowFloat> narrow = narrow_float(to))
        return elementwise(call, {x}, rounded_text(*narrow, "A", saturates), to);
    if (to == DataType::kBool) return elementwise(call, {x}, "A != 0", to);
    if (!is_integer(to) || is_integer(x.type)) return elementwise(call, {x}, wrapped("A", to), to);
    // As processors convert: towards zero; what 64 bits do not hold is their least number, of which narrower
    // types keep the low bits, but 32 bits their own least.
    if (to == DataType::kUint64) {
        // Larger numbers than 64 bits with a sign hold are those with the same bits.
        const Operand whole = elementwise(
            call, {x}, "select(A >= 9223372036854775808.0, A - 18446744073709551616.0, A)", DataType::kInt64);
        return elementwise(call, {whole}, "A + 0", to);
    }
    const double beyond = bits(to) == 64 ? 0x1p63 : 0x1p31;
    if (bits(to) >= 32 && to != DataType::kUint32)
        return elementwise(call, {x}, fmt::format("select(abs(A) < {0:.1f}, A, -{0:.1f})", beyond), to);
    const Operand whole = elementwise(call, {x}, "A", DataType::kInt64);
    return elementwise(call, {whole}, wrapped("A", to), to);
}

Operand softmax(const Call& call, const Operand& x, const std::vector<size_t>& axes, bool is_log) {
    const DataType type = sum_type(x.type);
    const Operand largest = reduce(call, x, axes, true, "max(X)", type);
    const Operand power = elementwise(call, {x, largest}, "exp(A - B)", type);
    const Operand sum = reduce(call, power, axes, true, "sum(X)", type);
    if (is_log) return elementwise(call, {x, largest, sum}, "A - B - log(C)", x.type);
    return elementwise(call, {power, sum}, "A / B", x.type);
}

Operand expand(const Call& call, const Operand& x, const std::vector<Dim>& shape) {
    if (x.shape == shape) return x;
    const std::vector<std::string> axes = axis_names(shape.size());
    OperatorText text = operator_text(call);
    for (size_t axis = 0; axis < shape.size(); ++axis) text.over(axes[axis], shape[axis]);
    return call.build.add(text.read(x, "X", broadcast_coordinates(x, axes)).write(x.type, shape, axes, "X"));
}

Operand float_scalar(double number) {
    return known_scalar(DataType::kFloat, number);
}

}  // namespace tessera::import::onnx
