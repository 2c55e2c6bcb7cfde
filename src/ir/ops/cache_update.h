#pragma once

#include "ir/ops/define.h"

namespace tessera::ops {

/// Slots of one page of a cache: state is [pages, kPageSlots, heads, width].
inline constexpr int64_t kPageSlots = 16;

/// The row of token t goes to slot[t] of a paged cache; other slots keep their contents.
/// C[slot[t] div 16, slot[t] mod 16, h, d] = X[t, h, d]. Operands: slot i32[rows], X[rows, heads, width] of
/// the type `given`. Result (and previous contents): C[pages, 16, heads, width].
DefinitionPtr cache_update(Symbols symbols, const Dim& rows, const Dim& pages, int64_t heads, int64_t width,
                           ElementType cache, ElementType given = ElementType::kF32);

}  // namespace tessera::ops
