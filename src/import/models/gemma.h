#pragma once

#include "import/models/architecture.h"

/// What Gemma 2 and 3 share: norms before and behind each branch, a gate by GELU, scaled embeddings, and
/// layers with a sliding window in turns with others.
namespace tessera::import {

inline constexpr ops::ActivationFunction kGemmaActivation = ops::ActivationFunction::kGeluTanh;

inline constexpr double kLargestCap = 1e9;

/// The soft cap that a field states; 0: null, or left out without a default.
double read_cap(HfSettings& settings, const char* field);

/// The settings of folders.
void complete_gemma_hf(HfSettings& settings, DecoderConfig& config);

/// `layers_of_27b`: the scale of the scores of the largest model comes from its hidden size, and its number
/// of layers tells which one that is, as in llama.cpp.
void complete_gemma_gguf(GgufReader& reader, DecoderConfig& config, int64_t layers_of_27b);

}  // namespace tessera::import
