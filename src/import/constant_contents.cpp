#include "import/constant_contents.h"

#include <functional>
#include <numeric>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "import/part_place.h"
#include "support/error.h"

namespace tessera::import {
namespace {

TensorContents contents_of(const WeightSource& weights, const Value& constant, const std::string& source,
                           const std::vector<int64_t>& shape, const std::string& where) {
    const StoredTensor* tensor = weights.find(source);
    if (!tensor) throw Error(where, source, "is missing", "constant " + constant.name + " needs it");
    if (tensor->shape != shape || tensor->element != constant.type.element) {
        throw Error(
            where, source,
            fmt::format("is {} [{}], the graph expects {} [{}]", tensor->type, fmt::join(tensor->shape, ", "),
                        name(constant.type.element), fmt::join(shape, ", ")));
    }
    return weights.contents(source);
}

}  // namespace

TensorContents constant_contents(const WeightSource& weights, const Value& constant, int64_t repetition,
                                 const std::string& where) {
    if (!constant.concatenation)
        return contents_of(weights, constant, constant.source(repetition, 0), constant.part_shape(0), where);
    const std::vector<int64_t> shape = evaluate(constant.type.shape, {});
    const int64_t elements = std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
    const auto whole = std::make_shared<std::vector<std::byte>>(
        static_cast<size_t>(elements) * static_cast<size_t>(bits(constant.type.element)) / 8);
    for (size_t part = 0; part < constant.parts(); ++part) {
        const std::string& source = constant.source(repetition, part);
        put_part(contents_of(weights, constant, source, constant.part_shape(part), where).bytes,
                 place_of(constant, part), *whole);
        weights.release(source);
    }
    return {.bytes = *whole, .owner = whole};
}

}  // namespace tessera::import
