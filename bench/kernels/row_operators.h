#pragma once

#include "instance_builder.h"

/// The operators of a block besides products and attention, as in Qwen3: F32 between operators, BF16 or
/// blocks of bytes for operands of the next product. Weights are F32.
namespace tessera {

/// Rows of one head each; `heads` of them are a row of the block.
inline constexpr int64_t kHeadWidth = 128;

/// RMS norm: the reciprocal root alone, the product alone, and both.
Instance norm_sum(int64_t rows, int64_t width);
Instance norm_product(int64_t rows, int64_t width);
Instance norm(int64_t rows, int64_t width);
Instance rope(int64_t rows, int64_t heads);
/// RMS norm of every head by itself, then its rotation.
Instance norm_and_rope(int64_t rows, int64_t heads);
Instance swiglu(int64_t rows, int64_t width);
/// The addition of a residual connection.
Instance add(int64_t rows, int64_t width);
/// F32 to BF16.
Instance cast(int64_t rows, int64_t width);
/// F32 to blocks of bytes, of which the scales are there.
Instance round(int64_t rows, int64_t width);
/// Rows of a BF16 table, here and there.
Instance embedding(int64_t rows, int64_t vocabulary, int64_t width);

}  // namespace tessera
