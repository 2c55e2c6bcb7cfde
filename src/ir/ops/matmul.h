#pragma once

#include "ir/ops/activation.h"
#include "ir/ops/weight_format.h"

namespace tessera::ops {

struct MatmulShape {
    Dim rows;
    int64_t outputs;
    int64_t inputs;
};

/// Y[t, n] = sum over k of X[t, k] W[n, k], plus bias[n]: the linear layer of a checkpoint, with W as it is
/// stored. Operands: X[rows, inputs] as `input` says, with the low terms XL[rows, inputs] and the scales
/// XS[rows, inputs / block] behind it if it has them; those of the weight; and bias[outputs] if it has a
/// type.
/// @throws Error if `inputs` is no multiple of the weight's block.
DefinitionPtr matmul(Symbols symbols, const MatmulShape& shape, WeightFormat weight,
                     std::optional<ElementType> bias = std::nullopt, Activation input = {});

}  // namespace tessera::ops
