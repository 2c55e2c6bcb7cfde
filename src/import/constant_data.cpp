#include "import/constant_data.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "support/error.h"

namespace tessera {
namespace {

template <typename T>
T load(std::span<const std::byte> bytes, size_t index) {
    T value;
    std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
    return value;
}

/// IEEE 754 binary16.
double half(uint16_t bits) {
    const int exponent = bits >> 10 & 31;
    const double fraction = bits & 1023;
    const double sign = bits >> 15 ? -1 : 1;
    if (exponent == 31) return fraction == 0 ? sign * HUGE_VAL : std::numeric_limits<double>::quiet_NaN();
    return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25));
}

double element(const StoredTensor& tensor, ElementType type, size_t index) {
    switch (type) {
        case ElementType::kF32:
            return load<float>(tensor.bytes, index);
        case ElementType::kF16:
            return half(load<uint16_t>(tensor.bytes, index));
        case ElementType::kBF16:
            return std::bit_cast<float>(uint32_t{load<uint16_t>(tensor.bytes, index)} << 16);
        case ElementType::kI32:
            return load<int32_t>(tensor.bytes, index);
        case ElementType::kI8:
            return load<int8_t>(tensor.bytes, index);
        case ElementType::kU8:
            return load<uint8_t>(tensor.bytes, index);
        default:
            break;
    }
    throw Error("", "", fmt::format("elements of type {} have no common storage", name(type)));
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
    for (size_t i = 0; i < count; ++i) data.values.push_back(element(tensor, *tensor.element, i));
    return data;
}

}  // namespace tessera
