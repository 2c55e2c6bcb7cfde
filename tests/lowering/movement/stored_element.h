#pragma once

#include <cstdint>

#include "ir/element_type.h"

/// Elements in memory, one bit pattern after the other in a little-endian stream: element i of B bits
/// occupies the bits [i B, (i + 1) B). Written without the code that packs and imports.
namespace tessera::testing {

/// @pre the type holds the value.
void put_element(unsigned char* to, ElementType type, int64_t at, double value);
double get_element(const unsigned char* from, ElementType type, int64_t at);

}  // namespace tessera::testing
