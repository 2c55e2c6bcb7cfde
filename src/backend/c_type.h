#pragma once

#include <string_view>

#include "ir/element_type.h"

namespace tessera::backend {

/// The type of C for an element in memory; empty for those that C has none for: floats of 16 bits, and
/// elements of less than a byte.
std::string_view c_type(ElementType type);

}  // namespace tessera::backend
