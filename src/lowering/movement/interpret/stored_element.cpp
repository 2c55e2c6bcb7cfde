#include "lowering/movement/interpret/stored_element.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "ir/element_bits.h"
#include "ir/half.h"
#include "ir/stored_number.h"
#include "support/error.h"

namespace tessera::movement {
namespace {

template <class T>
T plain(const std::byte* memory, int64_t index) {
    T value;
    std::memcpy(&value, memory + static_cast<size_t>(index) * sizeof(T), sizeof(T));
    return value;
}

float bf16_value(uint16_t pattern) {
    return std::bit_cast<float>(static_cast<uint32_t>(pattern) << 16);
}

double packed_value(const std::byte* memory, ElementType type, int64_t index) {
    const int width = bits(type);
    const int pattern = element_bits(memory, width, static_cast<size_t>(index));
    const bool is_negative = range(type).low < 0 && pattern >> (width - 1) & 1;
    return is_negative ? pattern - (1 << width) : pattern;
}

template <class Value>
void each(int64_t index, int64_t stride, int64_t count, double* values, Value value) {
    for (int64_t i = 0; i < count; ++i) values[i] = value(index + i * stride);
}

}  // namespace

double element_value(const std::byte* memory, ElementType type, int64_t index) {
    double value = 0;
    element_values(memory, type, index, 0, 1, &value);
    return value;
}

void element_values(const std::byte* memory, ElementType type, int64_t index, int64_t stride, int64_t count,
                    double* values) {
    const auto of = [&](auto value) { each(index, stride, count, values, value); };
    switch (type) {
        case ElementType::kF32:
            return of([&](int64_t i) { return plain<float>(memory, i); });
        case ElementType::kF16:
            return of([&](int64_t i) { return half_value(plain<uint16_t>(memory, i)); });
        case ElementType::kBF16:
            return of([&](int64_t i) { return bf16_value(plain<uint16_t>(memory, i)); });
        case ElementType::kF64:
            return of([&](int64_t i) { return plain<double>(memory, i); });
        case ElementType::kI64:
            return of([&](int64_t i) { return static_cast<double>(plain<int64_t>(memory, i)); });
        case ElementType::kI32:
            return of([&](int64_t i) { return plain<int32_t>(memory, i); });
        case ElementType::kI16:
            return of([&](int64_t i) { return plain<int16_t>(memory, i); });
        case ElementType::kU64:
            return of([&](int64_t i) { return static_cast<double>(plain<uint64_t>(memory, i)); });
        case ElementType::kU32:
            return of([&](int64_t i) { return plain<uint32_t>(memory, i); });
        case ElementType::kU16:
            return of([&](int64_t i) { return plain<uint16_t>(memory, i); });
        case ElementType::kBool:
            return of([&](int64_t i) { return plain<uint8_t>(memory, i) != 0 ? 1.0 : 0.0; });
        case ElementType::kI8:
            return of([&](int64_t i) { return plain<int8_t>(memory, i); });
        case ElementType::kU8:
            return of([&](int64_t i) { return plain<uint8_t>(memory, i); });
        default:
            return of([&](int64_t i) { return packed_value(memory, type, i); });
    }
}

void set_element_value(std::byte* memory, ElementType type, int64_t index, double value) {
    TESSERA_CHECK(bits(type) >= 8, "{} is stored element by element", name(type));
    const auto size = static_cast<size_t>(bits(type) / 8);
    set_stored_number({memory + static_cast<size_t>(index) * size, size}, type, 0, value);
}

}  // namespace tessera::movement
