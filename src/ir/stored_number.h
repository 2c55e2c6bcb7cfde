#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ir/element_type.h"

namespace tessera {

/// The number that element `index` of a densely stored tensor holds; exact in a double for all types
/// but i64 and u64, whose numbers beyond 2^53 are rounded.
/// @pre the bytes hold the element
double stored_number(std::span<const std::byte> bytes, ElementType type, size_t index);

/// Its inverse: the number as the type holds it, 0 for NaN in integers. @pre the bytes hold the element;
/// other elements of its byte stay
void set_stored_number(std::span<std::byte> bytes, ElementType type, size_t index, double number);

/// True if none of the elements is infinite or NaN. @pre the bytes are whole elements
bool are_finite(std::span<const std::byte> bytes, ElementType type);

}  // namespace tessera
