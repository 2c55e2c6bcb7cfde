#pragma once

#include "ops/define.h"

/// Maps of two operands of one shape, f32[rows, width].
namespace tessera::ops {

/// Y = A + B: the residual connection.
DefinitionPtr add(Symbols symbols, const Dim& rows, int64_t width);

/// Y = silu(G) U = G sigmoid(G) U. Operands: gate G, U. Result: of type `result`.
/// Source: Shazeer, "GLU Variants Improve Transformer", 2020, eq. 6 (SwiGLU).
DefinitionPtr swiglu(Symbols symbols, const Dim& rows, int64_t width, ElementType result = ElementType::kF32);

}  // namespace tessera::ops
