#include "import/constant_data.h"

#include <bit>
#include <cstring>

#include <fmt/format.h>

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

const StoredTensor& stored_constant(const WeightSource& weights, const Value& constant, int64_t repetition) {
    const size_t own = constant.sources.size() == 1 ? 0 : static_cast<size_t>(repetition);
    TESSERA_CHECK(own < constant.sources.size(), "repetition {} of {}", repetition, constant.name);
    const StoredTensor* tensor = weights.find(constant.sources[own]);
    if (!tensor)
        throw Error("weights", constant.sources[own], "is missing",
                    "constant " + constant.name + " needs it");
    return *tensor;
}

TensorData constant_data(const WeightSource& weights, const Value& constant, int64_t repetition) {
    const StoredTensor& tensor = stored_constant(weights, constant, repetition);
    if (!tensor.element)
        throw Error("weights", constant.name,
                    fmt::format("has type {}, which is not supported", tensor.type));
    size_t count = 1;
    for (const int64_t extent : tensor.shape) count *= static_cast<size_t>(extent);
    TensorData data{.shape = tensor.shape, .values = {}};
    data.values.reserve(count);
    const size_t own = constant.sources.size() == 1 ? 0 : static_cast<size_t>(repetition);
    const TensorContents contents = weights.contents(constant.sources[own]);
    if (contents.bytes.size() != (count * static_cast<size_t>(bits(*tensor.element)) + 7) / 8)
        throw Error("weights", constant.sources[own],
                    fmt::format("has {} bytes for {} elements of {}", contents.bytes.size(), count,
                                name(*tensor.element)));
    for (size_t i = 0; i < count; ++i) data.values.push_back(element(contents.bytes, *tensor.element, i));
    return data;
}

}  // namespace tessera
