#pragma once

#include "ir/ops/define.h"

/// Reshapes between [rows, heads * width] and [rows, heads, width]. Row-major, both are the same bytes, so
/// alias analysis makes them views.
namespace tessera::ops {

/// Y[t, h, e] = X[t, h width + e].
DefinitionPtr split_heads(Symbols symbols, const Dim& rows, int64_t heads, int64_t width,
                          ElementType type = ElementType::kF32);

/// Y[t, n] = X[t, n div width, n mod width].
DefinitionPtr merge_heads(Symbols symbols, const Dim& rows, int64_t heads, int64_t width,
                          ElementType type = ElementType::kF32);

}  // namespace tessera::ops
