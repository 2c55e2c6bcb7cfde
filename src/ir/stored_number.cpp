#include "ir/stored_number.h"

#include <bit>
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

}  // namespace

double stored_number(std::span<const std::byte> bytes, ElementType type, size_t index) {
    switch (type) {
        case ElementType::kF32:
            return load<float>(bytes, index);
        case ElementType::kF16:
            return half_value(load<uint16_t>(bytes, index));
        case ElementType::kBF16:
            return std::bit_cast<float>(uint32_t{load<uint16_t>(bytes, index)} << 16);
        case ElementType::kI32:
            return load<int32_t>(bytes, index);
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
