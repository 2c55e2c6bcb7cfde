#pragma once

#include <optional>
#include <vector>

#include "ir/ops/composite.h"
#include "ir/ops/define.h"

/// Layer normalisation over the last axis: Y = (X - mean(X)) / sqrt(mean((X - mean(X))^2) + epsilon) W + B.
/// Source: Ba, Kiros and Hinton, "Layer Normalization", 2016, eq. 4.
namespace tessera::ops {

inline constexpr std::string_view kLayerNorm = "layer_norm";

/// The composite. Operands: X f32[..., width] of two axes, or of three where each head is normalised alone,
/// and none, W[width], or W and B[width]; W[heads, width] where each head has scales of its own. The result
/// may have another float type. `offset`: 1 where a checkpoint stores the difference of the scales from 1,
/// else 0.
Composite layer_norm(double epsilon, double offset = 0);

/// First part. Operand: X f32[outer..., width]. Result: f32[outer...].
DefinitionPtr layer_mean(Symbols symbols, const std::vector<Dim>& outer, int64_t width);
/// Second part. Operands: X and the mean. Result: f32[outer...], the reciprocal standard deviation.
DefinitionPtr layer_deviation(Symbols symbols, const std::vector<Dim>& outer, int64_t width, double epsilon);

struct LayerNormTypes {
    std::optional<ElementType> weight = ElementType::kF32;
    std::optional<ElementType> bias = ElementType::kF32;
    ElementType result = ElementType::kF32;
    double offset = 0;
    bool is_of_heads = false;  ///< scales have an axis of heads
};
/// Third part. Operands: X, the mean, the reciprocal, and W and B where they have types. Result: [outer...,
/// width].
DefinitionPtr layer_apply(Symbols symbols, const std::vector<Dim>& outer, int64_t width,
                          const LayerNormTypes& types);

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
