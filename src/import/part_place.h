#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ir/graph.h"

namespace tessera::import {

/// The place of a part in the row-major form of a concatenation: `chunk` bytes of every `row`, from `begin`
/// on. Columns of W1 (chunk 2) and W2 (chunk 1, begin 2) take turns in rows of 3:
///
///     a0 a1 | b0           a0 a1 b0 a2 a3 b1
///     a2 a3 | b1
struct PartPlace {
    size_t begin = 0;
    size_t chunk = 0;
    size_t row = 0;
};

/// @pre the constant is of a verified graph
PartPlace place_of(const Value& constant, size_t part);
/// @pre the part has as many bytes as its place in the whole
void put_part(std::span<const std::byte> part, const PartPlace& place, std::span<std::byte> whole);
std::vector<std::byte> take_part(std::span<const std::byte> whole, const PartPlace& place);

}  // namespace tessera::import
