#include "import/constant_data.h"

#include <fmt/core.h>

#include "import/constant_contents.h"
#include "ir/stored_number.h"
#include "support/error.h"

namespace tessera::import {

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
        data.values.push_back(stored_number(contents.bytes, constant.type.element, i));
    return data;
}

}  // namespace tessera::import
