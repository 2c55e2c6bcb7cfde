#include "import/hf/fp8_weights.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "ir/stored_number.h"
#include "support/error.h"

namespace tessera::import {
namespace {

constexpr const char* kE4m3 = "F8_E4M3";
constexpr const char* kE5m2 = "F8_E5M2";
constexpr const char* kE8m0 = "F8_E8M0";

/// The value of a sign, an exponent, and `mantissa_bits` bits of mantissa; exponent 0 has denormal numbers.
double small_float(uint8_t bits, int mantissa_bits, int bias) {
    const int mantissa = bits & ((1 << mantissa_bits) - 1);
    const int exponent = (bits & 0x7f) >> mantissa_bits;
    const double magnitude =
        exponent == 0 ? std::ldexp(mantissa, 1 - bias - mantissa_bits)
                      : std::ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
    return (bits & 0x80) != 0 ? -magnitude : magnitude;
}

std::array<double, 256> table_of(std::string_view type) {
    std::array<double, 256> values{};
    for (size_t i = 0; i < values.size(); ++i)
        values[i] =
            type == kE4m3 ? value_of_e4m3(static_cast<uint8_t>(i)) : value_of_e5m2(static_cast<uint8_t>(i));
    return values;
}

/// True if a number of at most four significant bits, times the scale, is a BF16: eight bits, and an exponent
/// far from its ends.
bool keeps_bfloat16(double scale) {
    int exponent = 0;
    const double bits = std::ldexp(std::frexp(scale, &exponent), 4);
    return bits == std::floor(bits) && exponent > -90 && exponent < 90;
}

bool is_real(const StoredTensor& tensor) {
    return tensor.element == ElementType::kF32 || tensor.element == ElementType::kF16 ||
           tensor.element == ElementType::kBF16 || tensor.type == kE8m0;
}

std::vector<double> numbers_of(const StoredTensor& scale) {
    std::vector<double> numbers;
    if (scale.type == kE8m0)
        for (const std::byte each : scale.bytes) numbers.push_back(value_of_e8m0(static_cast<uint8_t>(each)));
    else
        for (size_t i = 0; i < scale.bytes.size() * 8 / static_cast<size_t>(bits(*scale.element)); ++i)
            numbers.push_back(stored_number(scale.bytes, *scale.element, i));
    return numbers;
}

int64_t divided_up(int64_t count, int64_t size) {
    return (count + size - 1) / size;
}

}  // namespace

double value_of_e4m3(uint8_t bits) {
    // There is no infinity: only the largest mantissa of the largest exponent is NaN.
    if ((bits & 0x7f) == 0x7f) return std::numeric_limits<double>::quiet_NaN();
    return small_float(bits, 3, 7);
}

double value_of_e5m2(uint8_t bits) {
    if ((bits & 0x7c) != 0x7c) return small_float(bits, 2, 15);
    if ((bits & 3) != 0) return std::numeric_limits<double>::quiet_NaN();
    return (bits & 0x80) != 0 ? -std::numeric_limits<double>::infinity()
                              : std::numeric_limits<double>::infinity();
}

double value_of_e8m0(uint8_t bits) {
    return bits == 255 ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1.0, bits - 127);
}

Fp8Weights::Fp8Weights(std::shared_ptr<const WeightSource> checkpoint, PackedForm form)
    : checkpoint_(std::move(checkpoint)), form_(form) {
    for (const std::string& name : checkpoint_->names()) {
        const std::string& type = checkpoint_->find(name)->type;
        if (type == kE4m3 || type == kE5m2) add(name);
    }
}

void Fp8Weights::add(const std::string& name) {
    const StoredTensor& weight = *checkpoint_->find(name);
    const std::string stem = name.substr(0, name.rfind('.'));
    Matrix matrix{.tensor = {.type = weight.type, .element = {}, .shape = weight.shape, .bytes = {}}};
    const auto finish = [&](const std::string& why) {
        matrix.tensor.type += why;
        matrices_.emplace(name, std::move(matrix));
    };
    // Scales of activations round values that Tessera does not round.
    for (const char* end : {".input_scale", ".activation_scale"})
        if (checkpoint_->find(stem + end)) hidden_.insert(stem + end);
    const StoredTensor* scale = nullptr;
    for (const char* end : {"_scale_inv", "_scale"})
        if (const StoredTensor* found = checkpoint_->find(name + end)) {
            if (scale != nullptr) return finish(" with two kinds of scales");
            scale = found;
            matrix.scale = name + end;
            hidden_.insert(matrix.scale);
        }
    if (scale == nullptr) return finish(fmt::format(" without {0}_scale_inv or {0}_scale", name));
    // Experts may lie together, [experts, outputs, inputs].
    const size_t rank = weight.shape.size();
    if ((rank != 2 && rank != 3) || weight.bytes.empty()) return finish(" that is no matrix");
    if (!is_real(*scale)) return finish(" with scales of " + scale->type);
    if (!find_places(weight.shape, *scale, matrix))
        return finish(
            fmt::format(" whose scales do not fit blocks of {} x {}", form_.block_rows, form_.block_columns));
    const std::vector<double> scales = numbers_of(*scale);
    const bool is_short = std::all_of(scales.begin(), scales.end(), keeps_bfloat16);
    matrix.tensor.element = is_short ? ElementType::kBF16 : ElementType::kF32;
    matrix.tensor.type = is_short ? "BF16" : "F32";
    matrices_.emplace(name, std::move(matrix));
}

bool Fp8Weights::find_places(const std::vector<int64_t>& shape, const StoredTensor& scale,
                             Matrix& matrix) const {
    const int64_t rows = shape[shape.size() - 2], columns = shape.back();
    matrix.matrix_rows = rows;
    std::vector<int64_t> blocks = {divided_up(rows, form_.block_rows),
                                   divided_up(columns, form_.block_columns)};
    const int64_t scales_of_matrix = blocks[0] * blocks[1], scales_in_row = blocks[1];
    std::vector<int64_t> one_each = {1, 1}, each_row = {rows, 1};
    const int64_t matrices = shape.size() == 3 ? shape[0] : 1;
    if (shape.size() == 3)
        for (auto* expected : {&blocks, &one_each, &each_row}) expected->insert(expected->begin(), matrices);
    if (matrix.scale.ends_with("_inv") && scale.shape == blocks) {
        matrix.rows = form_.block_rows, matrix.columns = form_.block_columns;
        matrix.scales_in_row = scales_in_row, matrix.scales_of_matrix = scales_of_matrix;
        return true;
    }
    const auto without_last = [](std::vector<int64_t> extents) {
        extents.pop_back();
        return extents;
    };
    matrix.columns = columns;
    if (scale.shape == each_row || scale.shape == without_last(each_row)) {
        matrix.scales_of_matrix = rows;
        return true;
    }
    matrix.rows = rows, matrix.scales_of_matrix = 1;
    if (scale.shape == one_each || scale.shape == without_last(one_each)) return true;
    matrix.scales_of_matrix = 0;  // one for all matrices
    return scale.shape.empty() || scale.shape == std::vector<int64_t>{1};
}

const StoredTensor* Fp8Weights::find(std::string_view name) const {
    if (hidden_.contains(name)) return nullptr;
    const auto found = matrices_.find(name);
    return found == matrices_.end() ? checkpoint_->find(name) : &found->second.tensor;
}

std::vector<std::string> Fp8Weights::names() const {
    std::vector<std::string> all = checkpoint_->names();
    std::erase_if(all, [&](const std::string& name) { return hidden_.contains(name); });
    return all;
}

TensorContents Fp8Weights::contents(std::string_view name) const {
    const auto found = matrices_.find(name);
    if (found == matrices_.end()) return checkpoint_->contents(name);
    const Matrix& matrix = found->second;
    TESSERA_CHECK(matrix.tensor.element.has_value(), "{} is {}", name, matrix.tensor.type);
    const StoredTensor& weight = *checkpoint_->find(name);
    const StoredTensor& scale = *checkpoint_->find(matrix.scale);
    const std::array<double, 256> values = table_of(weight.type);
    const std::vector<double> scales = numbers_of(scale);

    const bool is_short = matrix.tensor.element == ElementType::kBF16;
    const size_t width = is_short ? 2 : 4;
    const int64_t columns = weight.shape.back();
    const auto result = std::make_shared<std::vector<std::byte>>(weight.bytes.size() * width);
    std::byte* to = result->data();
    for (int64_t i = 0; i < std::ssize(weight.bytes); ++i, to += width) {
        const int64_t row = i / columns % matrix.matrix_rows, column = i % columns;
        const auto place =
            static_cast<size_t>(i / columns / matrix.matrix_rows * matrix.scales_of_matrix +
                                row / matrix.rows * matrix.scales_in_row + column / matrix.columns);
        const double number = values[static_cast<uint8_t>(weight.bytes[static_cast<size_t>(i)])];
        const auto product = static_cast<float>(number * scales[place]);
        // A BF16 is the upper half of an F32; machines of both supported kinds are little-endian.
        std::array<std::byte, 4> bytes{};
        std::memcpy(bytes.data(), &product, sizeof(product));
        std::memcpy(to, bytes.data() + bytes.size() - width, width);
    }
    return {.bytes = *result, .owner = result};
}

void Fp8Weights::release(std::string_view name) const {
    checkpoint_->release(name);
}

}  // namespace tessera::import
