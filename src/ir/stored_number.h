#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ir/element_type.h"

namespace tessera {

/// The number that element `index` of a densely stored tensor holds; every element type is exact in a double.
/// @pre the bytes hold the element
double stored_number(std::span<const std::byte> bytes, ElementType type, size_t index);

}  // namespace tessera
