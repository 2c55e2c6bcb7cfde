#pragma once

#include <string>
#include <string_view>

#include "ir/tensor_type.h"

namespace tessera::plan {

/// Reads what print(Layout) writes: "row-major", "order [1, 0]", "lanes <1:16, 0:4>", "order [1, 0] lanes
/// <1:16>".
/// @throws Error for anything else.
Layout parse_layout(std::string_view text, const std::string& where);

}  // namespace tessera::plan
