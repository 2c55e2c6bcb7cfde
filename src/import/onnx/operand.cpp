#include "import/onnx/operand.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include <fmt/core.h>

#include "import/onnx/narrow_float.h"
#include "ir/element_bits.h"
#include "ir/stored_number.h"
#include "support/error.h"

namespace tessera::import::onnx {

bool Operand::is_static() const {
    return std::ranges::all_of(shape, &Dim::is_constant);
}

std::vector<int64_t> Operand::extents() const {
    if (!is_static())
        throw Error("", "", "needs numbers as the extents of what has symbolic ones",
                    "give them by --dim NAME=NUMBER");
    std::vector<int64_t> extents;
    for (const Dim& dim : shape) extents.push_back(dim.factor);
    return extents;
}

int64_t Operand::elements() const {
    int64_t count = 1;
    for (const int64_t extent : extents()) count *= extent;
    return count;
}

ElementType Operand::element() const {
    const std::optional<ElementType> element = element_of(type);
    TESSERA_CHECK(element.has_value(), "{}", name(type));
    return *element;
}

void expect_readable(const Operand& operand) {
    if (operand.cache.empty()) return;
    throw Error(
        "", "",
        fmt::format("reads `{}`, which is aliased: expected that rows are appended to it, and that all else "
                    "reads the result",
                    operand.cache));
}

std::vector<Dim> stored_shape(const std::vector<Dim>& shape) {
    return shape.empty() ? std::vector<Dim>{Dim(1)} : shape;
}

std::vector<Dim> dims_of(const std::vector<int64_t>& extents) {
    return {extents.begin(), extents.end()};
}

void check_size(const std::vector<Dim>& shape) {
    const bool is_symbolic = !std::ranges::all_of(shape, &Dim::is_constant);
    if (is_symbolic && std::ranges::find(shape, Dim(0)) != shape.end())
        throw Error("", "", "has an extent of 0 beside symbolic ones", "give them by --dim NAME=NUMBER");
    int64_t count = 1;
    for (const Dim& dim : shape) {
        if (dim.factor < 0 || dim.factor > kMostExtent)
            throw Error("", "",
                        fmt::format("makes an extent of {}, expected at most {}", dim.factor, kMostExtent));
        if (dim.factor != 0 && count > kMostElements / dim.factor)
            throw Error("", "", fmt::format("makes more than {} elements", kMostElements));
        count *= dim.factor;
    }
}

Operand operand_of(const Tensor& tensor) {
    const std::optional<ElementType> element = element_of(tensor.type);
    if (!element) throw Error("", "", fmt::format("is of {}, which is not supported", name(tensor.type)));
    Operand operand{.type = tensor.type, .shape = dims_of(tensor.shape), .known = tensor.contents, .id = {}};
    if (tensor.type == DataType::kUint64)
        for (const int64_t number : integers_of(operand))
            if (number < 0)
                throw Error("", "",
                            fmt::format("holds the number {}, expected less than 2^63",
                                        static_cast<uint64_t>(number)));
    const std::optional<NarrowFloat> narrow = narrow_float(tensor.type);
    const int width = bits(tensor.type);
    if (!narrow && width >= 8 && tensor.type != DataType::kBool) return operand;
    // One element after the other, in the type that holds it; any byte but 0 is true.
    std::vector<double> numbers(static_cast<size_t>(operand.elements()));
    for (size_t i = 0; i < numbers.size(); ++i) {
        const int pattern = element_bits(tensor.contents.bytes.data(), width, i);
        numbers[i] = narrow                              ? number_of(*narrow, pattern)
                     : tensor.type == DataType::kBool    ? pattern != 0
                     : pattern > range(tensor.type).high ? pattern - (1 << width)
                                                         : pattern;
    }
    return known_numbers(tensor.type, tensor.shape, numbers);
}

Operand known_numbers(DataType type, const std::vector<int64_t>& shape, const std::vector<double>& numbers) {
    Operand operand{.type = type, .shape = dims_of(shape), .known = {}, .id = {}};
    const ElementType element = operand.element();
    const auto bytes = std::make_shared<std::vector<std::byte>>(
        (numbers.size() * static_cast<size_t>(tessera::bits(element)) + 7) / 8);
    for (size_t i = 0; i < numbers.size(); ++i) set_stored_number(*bytes, element, i, numbers[i]);
    operand.known = TensorContents{*bytes, bytes};
    return operand;
}

Operand known_scalar(DataType type, double number) {
    return known_numbers(type, {}, {number});
}

Operand known_int64(const std::vector<int64_t>& shape, const std::vector<int64_t>& integers) {
    const auto copy = std::make_shared<const std::vector<int64_t>>(integers);
    return {.type = DataType::kInt64,
            .shape = dims_of(shape),
            .known = TensorContents{std::as_bytes(std::span(*copy)), copy},
            .id = {}};
}

Operand operand_of_forms(DataType type, const std::vector<Dim>& shape, Forms forms) {
    const Operand operand{.type = type, .shape = shape, .known = {}, .id = {}};
    if (!std::ranges::all_of(forms, &LinearForm::is_constant)) {
        Operand symbolic = operand;
        symbolic.forms = std::move(forms);
        return symbolic;
    }
    std::vector<int64_t> integers;
    for (const LinearForm& form : forms) integers.push_back(form.constant);
    if (type == DataType::kInt64) return known_int64(operand.extents(), integers);
    return known_numbers(type, operand.extents(), {integers.begin(), integers.end()});
}

std::optional<Forms> forms_of(const Operand& operand) {
    if (operand.forms) return operand.forms;
    if (!operand.known || operand.elements() > kMostForms) return std::nullopt;
    Forms forms;
    for (const int64_t integer : integers_of(operand)) forms.push_back({.constant = integer, .terms = {}});
    return forms;
}

std::vector<double> numbers_of(const Operand& operand) {
    std::vector<double> numbers(static_cast<size_t>(operand.elements()));
    for (size_t i = 0; i < numbers.size(); ++i)
        numbers[i] = stored_number(operand.known.value().bytes, operand.element(), i);
    return numbers;
}

std::vector<int64_t> integers_of(const Operand& operand) {
    std::vector<int64_t> integers(static_cast<size_t>(operand.elements()));
    const std::span<const std::byte> bytes = operand.known.value().bytes;
    for (size_t i = 0; i < integers.size(); ++i) {
        if (operand.type == DataType::kInt64 || operand.type == DataType::kUint64) {
            std::memcpy(&integers[i], bytes.data() + i * sizeof(int64_t), sizeof(int64_t));
        } else {
            integers[i] = static_cast<int64_t>(stored_number(bytes, operand.element(), i));
        }
    }
    return integers;
}

}  // namespace tessera::import::onnx
