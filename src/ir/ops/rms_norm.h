#pragma once

#include <optional>
#include <vector>

#include "ir/ops/composite.h"
#include "ir/ops/define.h"

/// Root mean square normalisation over the last axis: Y = X / sqrt(mean(X^2) + epsilon) (W + offset).
/// Source: Zhang and Sennrich, "Root Mean Square Layer Normalization", 2019, eq. 4.
namespace tessera::ops {

inline constexpr std::string_view kRmsNorm = "rms_norm";

/// The composite. Operands: X f32[..., width] of two axes, or of three where each head is normalised alone,
/// and W[width], or W[heads, width] where each head has scales of its own, or none.
/// The result may have another float type: the sum of squares and the products are F32. `offset`: 1 where a
/// checkpoint stores the difference of the scales from 1, else 0.
Composite rms_norm(double epsilon, double offset = 0);

/// First part. Operand: X f32[outer..., width]. Result: f32[outer...], the reciprocal root mean square.
DefinitionPtr rms_reduce(Symbols symbols, const std::vector<Dim>& outer, int64_t width, double epsilon);
/// Second part. Operands: X f32[outer..., width], reciprocal f32[outer...], W[width] if it has a type, or
/// W[heads, width]. Result: [outer..., width] of type `result`.
DefinitionPtr rms_apply(Symbols symbols, const std::vector<Dim>& outer, int64_t width,
                        std::optional<ElementType> weight, ElementType result = ElementType::kF32,
                        double offset = 0, bool is_of_heads = false);

inline constexpr const char* kRmsNormExample = R"(graph "norm"
symbol T in 1..8
input x: f32[T, 2, 6]
input w: bf16[6]
value y: bf16[T, 2, 6] rounded
block body
  node y(x, w) -> y
    composite rms_norm: epsilon = 1e-06
output y
)";

void decompose_rms_norm(BlockBuilder& block, const Node& node);

}  // namespace tessera::ops
