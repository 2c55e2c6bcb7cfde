#include "import/part_place.h"

#include <cstring>

#include "support/error.h"

namespace tessera::import {

PartPlace place_of(const Value& constant, size_t part) {
    const std::vector<int64_t> shape = evaluate(constant.type.shape, {});
    size_t inner = static_cast<size_t>(bits(constant.type.element)) / 8;
    for (size_t axis = constant.concatenation->axis + 1; axis < shape.size(); ++axis)
        inner *= static_cast<size_t>(shape[axis]);
    size_t before = 0;
    for (size_t i = 0; i < part; ++i) before += static_cast<size_t>(constant.concatenation->extents[i]);
    return {.begin = before * inner,
            .chunk = static_cast<size_t>(constant.concatenation->extents[part]) * inner,
            .row = static_cast<size_t>(shape[constant.concatenation->axis]) * inner};
}

void put_part(std::span<const std::byte> part, const PartPlace& place, std::span<std::byte> whole) {
    const size_t rows = whole.size() / place.row;
    TESSERA_CHECK(part.size() == rows * place.chunk, "{} bytes for {} rows", part.size(), rows);
    for (size_t i = 0; i < rows; ++i)
        std::memcpy(&whole[place.begin + i * place.row], &part[i * place.chunk], place.chunk);
}

std::vector<std::byte> take_part(std::span<const std::byte> whole, const PartPlace& place) {
    std::vector<std::byte> part;
    part.reserve(whole.size() / place.row * place.chunk);
    for (size_t at = place.begin; at < whole.size(); at += place.row) {
        const auto chunk = whole.subspan(at, place.chunk);
        part.insert(part.end(), chunk.begin(), chunk.end());
    }
    return part;
}

}  // namespace tessera::import
