#pragma once

#include "ops/define.h"

namespace tessera::ops {

struct MatmulShape {
    Dim rows;
    int64_t outputs;
    int64_t inputs;
};

/// Y[t, n] = sum over k of X[t, k] W[n, k], plus bias[n]: the linear layer of a checkpoint, with W as it is
/// stored. Operands: X f32[rows, inputs], W[outputs, inputs], and bias[outputs] if it has a type.
DefinitionPtr matmul(Symbols symbols, const MatmulShape& shape, ElementType weight,
                     std::optional<ElementType> bias = std::nullopt);

}  // namespace tessera::ops
