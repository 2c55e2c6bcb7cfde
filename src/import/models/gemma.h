#pragma once

#include "import/models/architecture.h"

/// The common parts of Gemma 2 and 3: norms before and behind each branch, a gate by GELU, scaled embeddings,
/// and layers with a sliding window in turns with others.
namespace tessera::import {

inline constexpr ops::ActivationFunction kGemmaActivation = ops::ActivationFunction::kGeluTanh;

inline constexpr double kLargestCap = 1e9;

/// The soft cap that a field states; 0 if it is null, or missing without a default.
double read_cap(HfSettings& settings, const char* field);

/// The settings of folders.
void complete_gemma_hf(HfSettings& settings, DecoderConfig& config);

/// @param layers_of_27b the number of layers that marks the largest model, as in llama.cpp; its hidden size
/// gives the scale of the scores
void complete_gemma_gguf(GgufReader& reader, DecoderConfig& config, int64_t layers_of_27b);

}  // namespace tessera::import
