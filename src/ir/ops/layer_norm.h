#pragma once

#include "ir/ops/composite.h"
#include "ir/ops/define.h"

/// Layer normalisation over the last axis: Y = (X - mean(X)) / sqrt(mean((X - mean(X))^2) + epsilon) W + B.
/// Source: Ba, Kiros and Hinton, "Layer Normalization", 2016, eq. 4.
namespace tessera::ops {

inline constexpr std::string_view kLayerNorm = "layer_norm";

/// The composite. Operands: X f32[rows, width], W[width] and B[width]. The result may have another float
/// type.
Composite layer_norm(double epsilon);

/// First part. Operand: X f32[rows, width]. Result: f32[rows].
DefinitionPtr layer_mean(Symbols symbols, const Dim& rows, int64_t width);
/// Second part. Operands: X and the mean. Result: f32[rows], the reciprocal standard deviation.
DefinitionPtr layer_deviation(Symbols symbols, const Dim& rows, int64_t width, double epsilon);

struct LayerNormTypes {
    ElementType weight = ElementType::kF32;
    ElementType bias = ElementType::kF32;
    ElementType result = ElementType::kF32;
};
/// Third part. Operands: X, the mean, the reciprocal, W and B. Result: [rows, width].
DefinitionPtr layer_apply(Symbols symbols, const Dim& rows, int64_t width, const LayerNormTypes& types);

inline constexpr const char* kLayerNormExample = R"(graph "norm"
symbol T in 1..8
input x: f32[T, 6]
input w: bf16[6]
input b: f32[6]
value y: bf16[T, 6] rounded
block body
  node y(x, w, b) -> y
    composite layer_norm: epsilon = 0.001
output y
)";

void decompose_layer_norm(BlockBuilder& block, const Node& node);

}  // namespace tessera::ops
