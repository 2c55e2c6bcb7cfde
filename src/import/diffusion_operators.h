#pragma once

#include <cstdint>

#include "import/diffusion_config.h"
#include "ir/graph.h"

/// The operators of a diffusion transformer that decoders do not have. Row t of an activation is patch
/// t mod N of image t div N, where an image has N patches. Weights and biases have the type `weight`.
namespace tessera::import {

/// Extents of a step: so many images at once.
struct DiffusionShape {
    const DiffusionConfig& config;
    int64_t images = 1;
    ElementType weight = ElementType::kF16;

    int64_t rows() const { return images * config.patches(); }
};

/// Y[t, n] = sum over channels and pixels of the patch + bias. Operands: the latent images
/// f32[images, channels, side, side], W[n, c, y, x], bias[n].
DefinitionPtr patch_embedding(const DiffusionShape& shape);
/// Y[t, k] = X[t, k] + E[t mod N, k]. Operands: X, E[patches, hidden].
DefinitionPtr add_patch_positions(const DiffusionShape& shape);
/// Y[t, d] = (X - mean) reciprocal (1 + M[t div N, scale + d]) + M[t div N, shift + d]: a norm without
/// weights, modulated; `scale` and `shift` are offsets into the modulation M f32[images, width].
DefinitionPtr modulated_norm(const DiffusionShape& shape, int64_t width, int64_t shift, int64_t scale);
/// Y[t, d] = X[t, d] + M[t div N, gate + d] B[t, d]: a residual connection whose branch has a gate.
DefinitionPtr gated_residual(const DiffusionShape& shape, int64_t width, int64_t gate);
/// scale sum over e of Q[b N + i, h w + e] K[b N + s, h w + e]: every patch sees all of its image. Result:
/// f32[images, heads, patches, patches].
DefinitionPtr patch_scores(const DiffusionShape& shape);
/// The softmax of the scores over s, with the values. Operands: scores, V[rows, hidden]. Results: as those
/// of ops::attend_batch.
DefinitionPtr patch_attend(const DiffusionShape& shape);
/// Y[b N + i, h w + d] = A / L. Operands: A, L.
DefinitionPtr patch_attended(const DiffusionShape& shape);
/// The latent images from patches: Y[b, c, y, x]. Operand: X[rows, patch patch channels].
DefinitionPtr unpatched(const DiffusionShape& shape);

}  // namespace tessera::import
