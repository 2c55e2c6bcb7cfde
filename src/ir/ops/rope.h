#pragma once

#include "ir/ops/define.h"

/// Rotary position embedding. Source: Su et al., "RoFormer", 2021, eq. 34.
namespace tessera::ops {

/// Which two elements of a head are rotated together. Checkpoints of HuggingFace have `kHalves`; the
/// converter to GGUF permutes the rows of Q and K of "llama" into `kPairs`.
enum class RopeForm : uint8_t {
    kHalves,  ///< d and d + rotated / 2
    kPairs,   ///< 2 i and 2 i + 1
};

struct RopeShape {
    Dim rows;
    int64_t heads;
    int64_t width;             ///< of a head
    int64_t positions;         ///< rows of the tables
    int64_t rotated = 0;       ///< elements at the beginning of a head, even; the rest stays; 0: all
    bool is_backward = false;  ///< by the negative angle
};

/// Operands: position i32[rows], X f32[rows, heads, width], cos and sin f32[positions, rotated / 2], whose
/// column i is that of pair i. Result: f32[rows, heads, width].
DefinitionPtr rope(Symbols symbols, const RopeShape& shape, RopeForm form);

}  // namespace tessera::ops
