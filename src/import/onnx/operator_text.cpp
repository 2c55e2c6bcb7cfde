#include "import/onnx/operator_text.h"

#include <algorithm>
#include <cctype>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/ops/define.h"
#include "support/error.h"

namespace tessera::import::onnx {
namespace {

std::string extents_text(const std::vector<Dim>& shape) {
    std::string text;
    for (const Dim& extent : stored_shape(shape)) text += (text.empty() ? "" : ", ") + ops::text(extent);
    return text;
}

/// A scalar is the first element of [1].
std::vector<std::string> stored_coordinates(std::vector<std::string> coordinates, size_t rank) {
    TESSERA_CHECK(coordinates.size() == rank, "{} coordinates of {} axes", coordinates.size(), rank);
    if (coordinates.empty()) coordinates.emplace_back("0");
    return coordinates;
}

/// The file may hold a tensor of another rank than its operator has.
void expect_rank(const Operand& operand, size_t rank) {
    if (operand.rank() == rank) return;
    throw Error("", "", fmt::format("has an array of {} axes, expected {}", operand.rank(), rank));
}

bool is_word_in(std::string_view text, std::string_view word) {
    const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
        const size_t end = at + word.size();
        if ((at == 0 || !is_part(text[at - 1])) && (end == text.size() || !is_part(text[end]))) return true;
    }
    return false;
}

}  // namespace

OperatorText& OperatorText::over(const std::string& iterator, const Dim& extent) {
    axes_.push_back({iterator, extent, false});
    return *this;
}

OperatorText& OperatorText::folding(const std::string& iterator, const Dim& extent) {
    axes_.push_back({iterator, extent, true});
    return *this;
}

OperatorText& OperatorText::read(const Operand& operand, const std::string& name,
                                 std::vector<std::string> coordinates) {
    expect_readable(operand);
    expect_rank(operand, coordinates.size());
    tensors_.push_back({operand, name, stored_coordinates(std::move(coordinates), operand.rank()), false});
    return *this;
}

OperatorText& OperatorText::index(const Operand& operand, const std::string& name,
                                  std::vector<std::string> coordinates) {
    expect_readable(operand);
    expect_rank(operand, coordinates.size());
    tensors_.push_back({operand, name, stored_coordinates(std::move(coordinates), operand.rank()), true});
    return *this;
}

OperatorText& OperatorText::where(std::string predicate) {
    predicate_ = std::move(predicate);
    return *this;
}

OperatorText& OperatorText::wide() {
    is_wide_ = true;
    return *this;
}

OperatorText& OperatorText::write(DataType type, std::vector<Dim> shape, std::vector<std::string> coordinates,
                                  std::string value) {
    type_ = type;
    coordinates_ = stored_coordinates(std::move(coordinates), shape.size());
    shape_ = std::move(shape);
    value_ = std::move(value);
    if (axes_.empty()) {
        axes_.push_back({"o", Dim(1), false});
        coordinates_.front() = "o";
    }
    return *this;
}

OperatorText& OperatorText::update(DataType type, std::vector<Dim> shape,
                                   std::vector<std::string> coordinates, std::string value) {
    updates_ = true;
    return write(type, std::move(shape), std::move(coordinates), std::move(value));
}

std::vector<OperatorText::Tensor> OperatorText::operands() const {
    std::vector<Tensor> ordered = tensors_;
    std::stable_partition(ordered.begin(), ordered.end(),
                          [](const Tensor& tensor) { return tensor.is_index; });
    return ordered;
}

/// F32 where it holds all numbers, as those of bytes; integers among themselves are integers of 64 bits,
/// others floats of 64.
std::string OperatorText::arithmetic() const {
    const auto is_plain = [](ElementType type) {
        return type == ElementType::kF32 || type == ElementType::kF16 || type == ElementType::kBF16;
    };
    const ElementType result = element_of(type_).value();
    bool all_plain = is_plain(result), all_integer = is_integer(result);
    for (const Tensor& tensor : tensors_) {
        if (tensor.is_index) continue;
        all_plain =
            all_plain && (is_plain(tensor.operand.element()) || is_read_as_f32(tensor.operand.element()));
        all_integer = all_integer && is_integer(tensor.operand.element());
    }
    for (size_t i = 0; i < kFunctions; ++i) {
        const auto function = static_cast<Function>(i);
        const bool needs_floats = function == Function::kPow || is_special(function);
        if (!is_called(function) || !is_word_in(value_, tessera::name(function))) continue;
        if (is_wide(function)) all_plain = false;
        if (needs_floats) all_integer = false;
    }
    if (all_integer) return "i64";
    return all_plain && !is_wide_ ? "" : "f64";
}

std::string OperatorText::text() const {
    std::string axes, lines;
    for (const Axis& axis : axes_)
        axes += fmt::format("{}{}{}: {}", axes.empty() ? "" : ", ", axis.name, axis.is_folded ? "*" : "",
                            ops::text(axis.extent));
    for (const Tensor& tensor : operands())
        lines += fmt::format(
            "{} {} {}[{}] of [{}]\n", tensor.is_index ? "index" : "in", tensor.name,
            tessera::name(tensor.operand.element()), fmt::join(tensor.coordinates, ", "),
            extents_text(tensor.operand.room.empty() ? tensor.operand.shape : tensor.operand.room));
    std::string text = fmt::format("op {}({})\n{}{} Y {}[{}] of [{}] = {}\n", name_, axes, lines,
                                   updates_ ? "update" : "out", tessera::name(element_of(type_).value()),
                                   fmt::join(coordinates_, ", "), extents_text(shape_), value_);
    if (!predicate_.empty()) text += fmt::format("where {}\n", predicate_);
    if (const std::string type = arithmetic(); !type.empty()) text += fmt::format("acc {}\n", type);
    return text;
}

OperatorText OperatorText::of_nothing() const {
    OperatorText text = *this;
    for (Axis& axis : text.axes_) {
        if (!(axis.extent == Dim(0))) continue;
        axis.extent = Dim(1);
        text.predicate_ = axis.name + " < 0";
    }
    for (Tensor& tensor : text.tensors_) {
        std::ranges::replace(tensor.operand.shape, Dim(0), Dim(1));
        const std::vector<double> unread(static_cast<size_t>(tensor.operand.elements()), 0);
        tensor.operand = known_numbers(tensor.operand.type, tensor.operand.extents(), unread);
    }
    return text;
}

int64_t OperatorText::iterations() const {
    int64_t count = 1;
    for (const Axis& axis : axes_) {
        if (!axis.extent.is_constant()) return std::numeric_limits<int64_t>::max();
        if (axis.extent.factor != 0 && count > std::numeric_limits<int64_t>::max() / axis.extent.factor)
            return std::numeric_limits<int64_t>::max();
        count *= axis.extent.factor;
    }
    return count;
}

}  // namespace tessera::import::onnx
