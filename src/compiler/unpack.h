#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ir/tensor_type.h"

namespace tessera::compiler {

/// The inverse of `pack`: the row-major form of a tensor that is stored in a layout. Padding is dropped.
/// @pre packed.size() is stored_elements(layout, shape) times element_bits, in whole bytes; element_bits is
/// as for `pack`.
std::vector<std::byte> unpack(std::span<const std::byte> packed, const std::vector<int64_t>& shape,
                              const Layout& layout, int element_bits);

}  // namespace tessera::compiler
