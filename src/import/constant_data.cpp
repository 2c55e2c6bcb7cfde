#include "import/constant_data.h"

#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "import/constant_contents.h"
#include "ir/element_bits.h"
#include "ir/half.h"
#include "support/error.h"

namespace tessera {
namespace {

template <typename T>
T load(std::span<const std::byte> bytes, size_t index) {
    T value;
    std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
    return value;
}

double element(std::span<const std::byte> bytes, ElementType type, size_t index) {
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
            break;
    }
    const int pattern = element_bits(bytes.data(), bits(type), index);
    return pattern > range(type).high ? pattern - (1 << bits(type)) : pattern;  // two's complement
}

}  // namespace

TensorData constant_data(const WeightSource& weights, const Value& constant, int64_t repetition) {
    TensorData data{.shape = evaluate(constant.type.shape, {}), .values = {}};
    size_t count = 1;
    for (const int64_t extent : data.shape) count *= static_cast<size_t>(extent);
    data.values.reserve(count);
    const TensorContents contents = constant_contents(weights, constant, repetition, "weights");
    if (contents.bytes.size() != (count * static_cast<size_t>(bits(constant.type.element)) + 7) / 8)
        throw Error("weights", constant.name,
                    fmt::format("has {} bytes for {} elements of {}", contents.bytes.size(), count,
                                name(constant.type.element)));
    for (size_t i = 0; i < count; ++i)
        data.values.push_back(element(contents.bytes, constant.type.element, i));
    return data;
}

}  // namespace tessera
