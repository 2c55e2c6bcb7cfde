#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "ir/tensor_type.h"

namespace tessera {

/// Rewrites a row-major tensor of `element_bytes`-byte elements into a layout, in pieces of at most a few
/// hundred KiB that `write` takes in order. Padding is zero. Invertible: every element appears once.
/// @pre source.size() is the product of the shape times element_bytes.
void pack(std::span<const std::byte> source, const std::vector<int64_t>& shape, const Layout& layout,
          size_t element_bytes, const std::function<void(std::span<const std::byte>)>& write);

}  // namespace tessera
