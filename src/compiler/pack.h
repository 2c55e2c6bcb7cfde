#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "ir/tensor_type.h"

namespace tessera::compiler {

/// Takes the packed bytes from front to back.
using PackSink = std::function<void(std::span<const std::byte>)>;

/// Rewrites a row-major tensor of elements of 1 to 8, 16, 32 or 64 bits (below a byte: a stream of bits as
/// ElementType says) into a layout, in pieces of at most 256 KiB. Padding is zero. Invertible: every element
/// appears once.
/// @pre source.size() is the product of the shape times element_bits, in whole bytes.
void pack(std::span<const std::byte> source, const std::vector<int64_t>& shape, const Layout& layout,
          int element_bits, const PackSink& write);

}  // namespace tessera::compiler
