#pragma once

#include <string>
#include <vector>

#include "ir/ops/define.h"

namespace tessera::ops {

/// The axes of an operand before the last one, as the text of a definition: rows, or rows and heads.
struct OuterAxes {
    std::string iterators;  ///< "t: T, h: 4"
    std::string map;        ///< "t, h"
};

/// @pre one or two axes
OuterAxes outer_axes(const std::vector<Dim>& outer);

/// The attribute of a norm whose scales are stored as differences from it.
inline constexpr const char* kNormOffset = "offset";

/// The map of the scales of a norm: "d", or "h, d" where each head has its own.
std::string scale_map(bool is_of_heads);

}  // namespace tessera::ops
