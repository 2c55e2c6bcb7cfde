#include "ir/stored_number.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "ir/element_bits.h"
#include "ir/half.h"

namespace tessera {
namespace {

template <typename T>
T load(std::span<const std::byte> bytes, size_t index) {
    T value;
    std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
    return value;
}

template <typename T>
void put(std::span<std::byte> bytes, size_t index, T value) {
    std::memcpy(bytes.data() + index * sizeof(T), &value, sizeof(T));
}

/// The ends of 64 bits are no doubles.
int64_t whole_number(ElementType type, double value) {
    const IntegerRange limits = range(type);
    if (std::isnan(value)) return 0;
    if (value >= static_cast<double>(limits.high)) return limits.high;
    if (value <= static_cast<double>(limits.low)) return limits.low;
    return static_cast<int64_t>(value);
}

void put_bits(std::span<std::byte> bytes, int width, size_t index, uint64_t pattern) {
    for (int bit = 0; bit < width; ++bit) {
        const size_t at = index * static_cast<size_t>(width) + static_cast<size_t>(bit);
        const auto mask = static_cast<std::byte>(1U << at % 8);
        bytes[at / 8] = (pattern >> bit & 1) != 0 ? bytes[at / 8] | mask : bytes[at / 8] & ~mask;
    }
}

/// True if no element has all bits of the exponent, as infinities and NaN have.
template <typename Pattern>
bool has_no_full_exponent(std::span<const std::byte> bytes, Pattern exponent) {
    bool found = false;
    for (size_t i = 0; i < bytes.size() / sizeof(Pattern); ++i)
        found |= (load<Pattern>(bytes, i) & exponent) == exponent;
    return !found;
}

}  // namespace

bool are_finite(std::span<const std::byte> bytes, ElementType type) {
    switch (type) {
        case ElementType::kF64:
            return has_no_full_exponent(bytes, uint64_t{0x7FF} << 52);
        case ElementType::kF32:
            return has_no_full_exponent(bytes, uint32_t{0xFF} << 23);
        case ElementType::kF16:
            return has_no_full_exponent(bytes, uint16_t{0x1F << 10});
        case ElementType::kBF16:
            return has_no_full_exponent(bytes, uint16_t{0xFF << 7});
        default:
            return true;
    }
}

void set_stored_number(std::span<std::byte> bytes, ElementType type, size_t index, double number) {
    switch (type) {
        case ElementType::kF64:
            return put(bytes, index, number);
        case ElementType::kF32:
            return put(bytes, index, static_cast<float>(number));
        case ElementType::kF16:
            return put(bytes, index, half_pattern(static_cast<float>(number)));
        case ElementType::kBF16: {
            const auto nearest = static_cast<float>(round_to(type, number));
            // The bits of another NaN could all be in the half that is dropped.
            constexpr uint16_t kQuietNaN = 0x7FC0;
            return put(bytes, index,
                       std::isnan(number) ? kQuietNaN
                                          : static_cast<uint16_t>(std::bit_cast<uint32_t>(nearest) >> 16));
        }
        default:
            break;
    }
    const int64_t whole = whole_number(type, number);
    switch (bits(type)) {
        case 64:
            return put(bytes, index, whole);
        case 32:
            return put(bytes, index, static_cast<uint32_t>(whole));
        case 16:
            return put(bytes, index, static_cast<uint16_t>(whole));
        case 8:
            return put(bytes, index, static_cast<uint8_t>(whole));
        default:
            return put_bits(bytes, bits(type), index, static_cast<uint64_t>(whole));
    }
}

double stored_number(std::span<const std::byte> bytes, ElementType type, size_t index) {
    switch (type) {
        case ElementType::kF32:
            return load<float>(bytes, index);
        case ElementType::kF16:
            return half_value(load<uint16_t>(bytes, index));
        case ElementType::kBF16:
            return std::bit_cast<float>(uint32_t{load<uint16_t>(bytes, index)} << 16);
        case ElementType::kF64:
            return load<double>(bytes, index);
        case ElementType::kI64:
            return static_cast<double>(load<int64_t>(bytes, index));
        case ElementType::kI32:
            return load<int32_t>(bytes, index);
        case ElementType::kI16:
            return load<int16_t>(bytes, index);
        case ElementType::kU64:
            return static_cast<double>(load<uint64_t>(bytes, index));
        case ElementType::kU32:
            return load<uint32_t>(bytes, index);
        case ElementType::kU16:
            return load<uint16_t>(bytes, index);
        case ElementType::kBool:
            return load<uint8_t>(bytes, index) != 0;
        case ElementType::kI8:
        case ElementType::kU8:
        case ElementType::kU6:
        case ElementType::kU5:
        case ElementType::kI4:
        case ElementType::kU4:
        case ElementType::kU3:
        case ElementType::kU2:
            break;
    }
    const int pattern = element_bits(bytes.data(), bits(type), index);
    return pattern > range(type).high ? pattern - (1 << bits(type)) : pattern;  // two's complement
}

}  // namespace tessera
