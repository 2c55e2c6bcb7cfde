#pragma once

#include <string>
#include <vector>

#include "ir/ops/block_builder.h"
#include "ir/ops/define.h"

/// The factors that weights are multiplied with: activations as they are, or rounded as the policy allows.
namespace tessera::ops {

/// Numbers of a type; in blocks along the last axis with an F32 scale each if `block` is not 1.
struct Activation {
    ElementType element = ElementType::kF32;
    int64_t block = 1;
    int64_t radix = 1;  ///< not 1: each is two signed bytes, `high` * radix + `low`
    bool operator==(const Activation&) const = default;
};

/// Activations for dot products of bytes with quantised weights: the blocks of Q8_0.
inline constexpr Activation kInt8Blocks{ElementType::kI8, 32, 1};

/// Activations of two bytes whose value always fits a short, in blocks whose scale serves many blocks of the
/// weights.
inline constexpr Activation kInt15Blocks{ElementType::kI8, 256, 128};

/// The same for formats whose blocks of 256 have integers for smaller ones: products with these are integers
/// over several of them (lowering/kernels/block_contraction.h).
inline constexpr Activation kInt13Blocks{ElementType::kI8, 256, 32};

/// The activation with blocks that divide the width. They are at least 32, since the blocks of every format
/// divide it, too.
Activation fitted(Activation activation, int64_t width);

/// The result type of the operator that computes this activation before it is rounded.
ElementType computed_type(const Activation& activation);

/// scale[t, b] = max |X[t, b, j]| over the numbers j of a block, / 127 and / radix.
/// Operand: X[rows, width / block, block] in F32.
DefinitionPtr block_scales(Symbols symbols, const Dim& rows, int64_t width, const Activation& activation);

/// Q[t, k] = X[t, k] / scale[t, k div block] / radix in I8, rounded to the nearest; 0 in a block of zeros.
/// Operands: X[rows, width] and scale[rows, width / block] in F32.
DefinitionPtr round_to_blocks(Symbols symbols, const Dim& rows, int64_t width, const Activation& activation);

/// The remainder of `round_to_blocks`: low[t, k] = X[t, k] / scale[t, k div block] - radix high[t, k],
/// rounded to the nearest. Operands: X, scale, and high[rows, width] in I8.
DefinitionPtr round_rest(Symbols symbols, const Dim& rows, int64_t width, const Activation& activation);

/// The operands that a product takes for `x`, [rows, width] of the computed type: x itself, or its numbers,
/// term by term, and scales, which nodes "NAME_blocks", "NAME_scales", "NAME_rounded" and "NAME_rest" make.
/// @throws Error if the width is no multiple of the block.
std::vector<ValueId> factor_operands(BlockBuilder& block, const std::string& name, ValueId x,
                                     const Activation& activation);

}  // namespace tessera::ops
