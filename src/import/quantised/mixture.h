#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "ir/ops/weight_format.h"

namespace tessera::import {

struct ModelSpec;

/// The formats that `--quantize` gives the matrices of a float model. Norms and biases stay. The mixtures are
/// those of llama.cpp (llama-quant.cpp) without an importance matrix; docs/types.md states them.
enum class Mixture : uint8_t { kQ8_0, kQ4_0, kQ4_K_M };

std::string_view name(Mixture mixture);  ///< "q8_0", "q4_0", "q4_k_m"
std::optional<Mixture> mixture_of(std::string_view name);

/// The format of a matrix of layer `layer` of `layers`, by its name in the text, with rows of `inputs`
/// elements: v_weight, down_weight and expert_down_weight have more bits in some layers. Empty: it stays as
/// it is, since no format has such rows.
std::optional<ops::WeightFormat> format_in(Mixture mixture, std::string_view tensor, int64_t layer,
                                           int64_t layers, int64_t inputs);
/// The format of the embedding, or of the head. `is_head`: an embedding that is the head too counts as one.
std::optional<ops::WeightFormat> format_in(Mixture mixture, bool is_head, int64_t inputs);

/// Puts the formats of the mixture into the spec. Returns them by the name of the source.
/// @throws Error naming a matrix that is quantised already.
std::map<std::string, ops::WeightFormat> apply(Mixture mixture, ModelSpec& spec);

}  // namespace tessera::import
