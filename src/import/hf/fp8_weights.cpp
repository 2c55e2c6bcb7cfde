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
constexpr std::string_view kWeightEnd = ".weight";

/// A sign, an exponent, and so many bits of mantissa; exponent 0 has denormal numbers.
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

/// Whether a number of at most four significant bits, times the scale, is a BF16: eight bits, and an exponent
/// far from its ends.
bool keeps_bfloat16(double scale) {
    int exponent = 0;
    const double bits = std::ldexp(std::frexp(scale, &exponent), 4);
    return bits == std::floor(bits) && exponent > -90 && exponent < 90;
}

bool is_real(const StoredTensor& tensor) {
    return tensor.element == ElementType::kF32 || tensor.element == ElementType::kF16 ||
           tensor.element == ElementType::kBF16;
}

size_t element_count(const StoredTensor& tensor) {
    return tensor.bytes.size() * 8 / static_cast<size_t>(bits(*tensor.element));
}

int64_t divided_up(int64_t count, int64_t size) {
    return (count + size - 1) / size;
}

}  // namespace

double value_of_e4m3(uint8_t bits) {
    // There is no infinity: only the largest mantissa of the largest exponent is not a number.
    if ((bits & 0x7f) == 0x7f) return std::numeric_limits<double>::quiet_NaN();
    return small_float(bits, 3, 7);
}

double value_of_e5m2(uint8_t bits) {
    if ((bits & 0x7c) != 0x7c) return small_float(bits, 2, 15);
    if ((bits & 3) != 0) return std::numeric_limits<double>::quiet_NaN();
    return (bits & 0x80) != 0 ? -std::numeric_limits<double>::infinity()
                              : std::numeric_limits<double>::infinity();
}

Fp8Weights::Fp8Weights(std::shared_ptr<const WeightSource> checkpoint, PackedForm form)
    : checkpoint_(std::move(checkpoint)), form_(form) {
    for (const std::string& name : checkpoint_->names()) {
        const std::string& type = checkpoint_->find(name)->type;
        if ((type == kE4m3 || type == kE5m2) && name.ends_with(kWeightEnd)) add(name);
    }
}

void Fp8Weights::add(const std::string& name) {
    const StoredTensor& weight = *checkpoint_->find(name);
    const std::string stem = name.substr(0, name.size() - kWeightEnd.size());
    Matrix matrix{.tensor = {.type = weight.type, .element = {}, .shape = weight.shape, .bytes = {}}};
    const auto finish = [&](const std::string& why) {
        matrix.tensor.type += why;
        matrices_.emplace(name, std::move(matrix));
    };
    // Scales of activations round what Tessera does not round.
    for (const char* end : {".input_scale", ".activation_scale"})
        if (checkpoint_->find(stem + end)) hidden_.insert(stem + end);
    const StoredTensor* scale = nullptr;
    for (const char* end : {".weight_scale_inv", ".weight_scale"})
        if (const StoredTensor* found = checkpoint_->find(stem + end)) {
            if (scale != nullptr) return finish(" with two kinds of scales");
            scale = found;
            matrix.scale = stem + end;
            hidden_.insert(matrix.scale);
        }
    if (scale == nullptr) return finish(" without weight_scale_inv or weight_scale");
    if (weight.shape.size() != 2 || weight.bytes.empty()) return finish(" that is no matrix");
    if (!is_real(*scale)) return finish(" with scales of " + scale->type);

    const int64_t rows = weight.shape[0], columns = weight.shape[1];
    const std::vector<int64_t> blocks = {divided_up(rows, form_.block_rows),
                                         divided_up(columns, form_.block_columns)};
    const std::vector<int64_t>& shape = scale->shape;
    if (matrix.scale.ends_with("_inv") && shape == blocks) {
        matrix.rows = form_.block_rows, matrix.columns = form_.block_columns;
        matrix.scales_in_row = blocks[1];
    } else if (shape.empty() || shape == std::vector<int64_t>{1} || shape == std::vector<int64_t>{1, 1}) {
        matrix.rows = rows, matrix.columns = columns;
    } else if (shape == std::vector<int64_t>{rows} || shape == std::vector<int64_t>{rows, 1}) {
        matrix.columns = columns;
    } else {
        return finish(
            fmt::format(" whose scales do not fit blocks of {} x {}", form_.block_rows, form_.block_columns));
    }
    bool is_short = true;
    for (size_t i = 0; i < element_count(*scale) && is_short; ++i)
        is_short = keeps_bfloat16(stored_number(scale->bytes, *scale->element, i));
    matrix.tensor.element = is_short ? ElementType::kBF16 : ElementType::kF32;
    matrix.tensor.type = is_short ? "BF16" : "F32";
    matrices_.emplace(name, std::move(matrix));
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
    std::vector<double> scales(element_count(scale));
    for (size_t i = 0; i < scales.size(); ++i) scales[i] = stored_number(scale.bytes, *scale.element, i);

    const bool is_short = matrix.tensor.element == ElementType::kBF16;
    const size_t width = is_short ? 2 : 4;
    const int64_t columns = weight.shape[1];
    const auto result = std::make_shared<std::vector<std::byte>>(weight.bytes.size() * width);
    std::byte* to = result->data();
    for (int64_t i = 0; i < std::ssize(weight.bytes); ++i, to += width) {
        const int64_t row = i / columns, column = i % columns;
        const auto place =
            static_cast<size_t>(row / matrix.rows * matrix.scales_in_row + column / matrix.columns);
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
