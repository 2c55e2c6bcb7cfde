#pragma once

#include <string>

#include "import/diffusion_operators.h"
#include "ir/graph.h"

namespace tessera::import {

/// Width of the sinusoids of a time step.
inline constexpr int64_t kTimeWidth = 256;

/// The graph of one denoising step of `shape.images` images. Inputs: the latent images
/// f32[images, channels, side, side], the sinusoids of the time f32[images, 256], the class i32[images].
/// Embeddings of time and class are shared by all layers. Its constants name tensors that need not exist.
/// Source: Peebles and Xie, "Scalable Diffusion Models with Transformers", 2023, figure 3, and the code of
/// the authors.
Graph build_diffusion_transformer(const std::string& name, const DiffusionShape& shape);

}  // namespace tessera::import
