#pragma once

#include <string>
#include <vector>

#include "ops/block_builder.h"
#include "ops/define.h"

/// What weights are multiplied with: activations as they are, or rounded as the policy allows.
namespace tessera::ops {

/// Numbers of a type; in blocks along the last axis with an F32 scale each if `block` is not 1.
struct Activation {
    ElementType element = ElementType::kF32;
    int64_t block = 1;
    bool operator==(const Activation&) const = default;
};

/// The blocks of Q8_0, which int8 dot products multiply quantised weights with. 32 divides every format's
/// block.
inline constexpr Activation kInt8Blocks{ElementType::kI8, 32};

/// The type in which an operator leaves what becomes this activation.
ElementType computed_type(const Activation& activation);

/// scale[t, b] = max |X[t, b, j]| / 127 over the numbers j of a block. Operand: X[rows, width / block, block]
/// in F32.
DefinitionPtr block_scales(Symbols symbols, const Dim& rows, int64_t width, int64_t block);

/// Q[t, k] = X[t, k] / scale[t, k div block] in I8, rounded to the nearest; 0 in a block of zeros. Operands:
/// X[rows, width] and scale[rows, width / block] in F32.
DefinitionPtr round_to_blocks(Symbols symbols, const Dim& rows, int64_t width, int64_t block);

/// The operands that a product takes for `x`, [rows, width] of the computed type: x itself, or its numbers
/// and scales, which nodes "NAME_blocks", "NAME_scales" and "NAME_rounded" make.
/// @throws Error if the width is no multiple of the block.
std::vector<ValueId> factor_operands(BlockBuilder& block, const std::string& name, ValueId x,
                                     const Activation& activation);

}  // namespace tessera::ops
