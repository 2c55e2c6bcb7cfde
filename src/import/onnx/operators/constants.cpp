// Operators whose result follows from attributes and shapes.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "import/onnx/operators/families.h"
#include "import/onnx/primitives.h"
#include "import/onnx/volume.h"

namespace tessera::import::onnx {
namespace {

using Results = std::vector<Operand>;

Results constant(const Call& call) {
    if (const Attribute* value = call.attribute("value"); value && value->tensor)
        return {operand_of(*value->tensor)};
    if (call.has_attribute("value_float"))
        return {known_scalar(DataType::kFloat, call.number("value_float", 0))};
    if (call.has_attribute("value_int")) return {known_int64({}, {call.integer("value_int", 0)})};
    if (call.has_attribute("value_floats")) {
        const std::vector<double> numbers = call.numbers("value_floats");
        return {known_numbers(DataType::kFloat, {static_cast<int64_t>(numbers.size())}, numbers)};
    }
    if (call.has_attribute("value_ints")) {
        const std::vector<int64_t> integers = call.integers("value_ints");
        return {known_int64({static_cast<int64_t>(integers.size())}, integers)};
    }
    call.refuse("has no value that is an array", "sparse tensors and texts are not supported");
}

Results constant_of_shape(const Call& call) {
    const std::vector<Dim> shape = call.known_shape(0);
    Operand value = float_scalar(0);
    if (const Attribute* given = call.attribute("value"); given && given->tensor)
        value = operand_of(*given->tensor);
    call.expect(value.elements() == 1, "has a value of several elements");
    const bool is_constant = std::ranges::all_of(shape, &Dim::is_constant);
    int64_t count = 1;
    for (const Dim& dim : shape) count = std::min(count, kMostKnown) * std::min(dim.factor, kMostKnown + 1);
    if (!is_constant || count > kMostKnown) return {expand(call, call.build.with_shape(value, {}), shape)};
    const size_t bytes = value.known->bytes.size();
    const auto all = std::make_shared<std::vector<std::byte>>();
    for (int64_t i = 0; i < count; ++i)
        all->insert(all->end(), value.known->bytes.begin(),
                    value.known->bytes.begin() + static_cast<std::ptrdiff_t>(bytes));
    return {Operand{.type = value.type, .shape = shape, .known = TensorContents{*all, all}, .id = {}}};
}

Results eye_like(const Call& call) {
    const std::vector<int64_t> shape = call.extents(call.in(0));
    call.expect(shape.size() == 2, "expects a matrix");
    const auto type = static_cast<DataType>(call.integer("dtype", static_cast<int64_t>(call.in(0).type)));
    call.expect(element_of(type).has_value(), fmt::format("is of {}, which is not supported", name(type)));
    call.expect(shape[0] * shape[1] <= kMostKnown, "has too many elements");
    const int64_t k = call.integer("k", 0);
    std::vector<double> numbers;
    for (int64_t i = 0; i < shape[0]; ++i)
        for (int64_t j = 0; j < shape[1]; ++j) numbers.push_back(j - i == k ? 1 : 0);
    return {known_numbers(type, shape, numbers)};
}

Results range_of(const Call& call) {
    const DataType type = call.in(0).type;
    int64_t count = 0;
    std::vector<double> numbers;
    if (is_integer(type) && !(call.in(0).known && call.in(1).known && call.in(2).known)) {
        // As many as a symbol says.
        const LinearForm begin = call.form(0), end = call.form(1), step = call.form(2);
        const LinearForm span = sum(end, begin, -1);
        call.expect(step.is_constant() && step.constant != 0, "has a step that is no number but 0");
        const std::optional<Dim> extent = step.constant == 1    ? dim_of(span)
                                          : step.constant == -1 ? dim_of(sum({}, span, -1))
                                                                : std::nullopt;
        if (!extent)
            call.refuse(fmt::format("counts from {} to {} by {}", print(begin), print(end), print(step)));
        return {call.build.add(
            operator_text(call)
                .over("x0", *extent)
                .write(type, {*extent}, {"x0"},
                       wrapped(fmt::format("({}) + x0 * {}", form_text(begin), step.constant), type)))};
    }
    if (is_integer(type)) {
        const int64_t begin = call.known_integer(0), end = call.known_integer(1),
                      step = call.known_integer(2);
        constexpr int64_t kLargest = int64_t{1} << 53;
        for (const int64_t number : {begin, end, step})
            call.expect(number >= -kLargest && number <= kLargest, fmt::format("has the number {}", number));
        call.expect(step != 0, "has the step 0");
        count = std::max<int64_t>(0, (end - begin + step + (step > 0 ? -1 : 1)) / step);
        call.expect(count <= kMostKnown, "has too many elements");
        for (int64_t i = 0; i < count; ++i) numbers.push_back(static_cast<double>(begin + i * step));
    } else {
        const double begin = call.known_number(0), end = call.known_number(1), step = call.known_number(2);
        const double wanted = std::ceil((end - begin) / step);
        call.expect(wanted <= static_cast<double>(kMostKnown), "has too many elements");
        count = std::max<int64_t>(0, static_cast<int64_t>(wanted));
        for (int64_t i = 0; i < count; ++i) numbers.push_back(begin + static_cast<double>(i) * step);
    }
    return {known_numbers(type, {count}, numbers)};
}

Results shape_of(const Call& call) {
    const std::vector<Dim>& shape = call.in(0).shape;
    const auto rank = static_cast<int64_t>(shape.size());
    const auto place = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank); };
    const int64_t begin = place(call.integer("start", 0)),
                  end = std::max(begin, place(call.integer("end", rank)));
    Forms forms;
    for (int64_t axis = begin; axis < end; ++axis)
        forms.push_back(call.build.extent(shape[static_cast<size_t>(axis)]));
    return {operand_of_forms(DataType::kInt64, dims_of({end - begin}), std::move(forms))};
}

Results size_of(const Call& call) {
    expect_readable(call.in(0));
    const std::optional<LinearForm> count = volume_of(call.in(0).shape).form();
    if (!count) call.refuse("multiplies symbolic extents", "give them by --dim NAME=NUMBER");
    return {operand_of_forms(DataType::kInt64, {}, {*count})};
}

}  // namespace

std::span<const Operator> constants() {
    static constexpr std::array kOperators = {
        Operator{"Constant", constant}, Operator{"ConstantOfShape", constant_of_shape},
        Operator{"EyeLike", eye_like},  Operator{"Range", range_of},
        Operator{"Shape", shape_of},    Operator{"Size", size_of},
    };
    return kOperators;
}

}  // namespace tessera::import::onnx
