#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "import/decoder_config.h"
#include "import/gguf/gguf_settings.h"

namespace tessera::import {

/// How the matrices of experts are called where they are stored one by one, `*` for the number of one.
struct ExpertNames {
    std::string_view gate, up, down;
};

/// The layers have experts instead of a feed-forward of their own. The sizes must be read.
/// @throws Error naming `where` and `field` unless 1 <= chosen <= experts
void set_experts(DecoderConfig& config, int64_t experts, int64_t chosen, int64_t width,
                 const std::string& where, const std::string& field);

/// Experts of a folder, stored one by one, or as transformers 5 keeps them, behind each of `parents`:
/// "experts.gate_up_proj" [experts, 2 width, hidden] and "experts.down_proj" [experts, hidden, width].
void name_folder_experts(DecoderConfig& config, const ExpertNames& names,
                         std::initializer_list<const char*> parents);

/// The shares are of the chosen experts, as in llama.cpp, unless ollama's `norm_top_k_prob` says otherwise.
void read_gguf_shares(GgufReader& reader, DecoderConfig& config);

/// Experts of a GGUF file, stored together, or one by one as in files of llama.cpp before April 2024.
void name_gguf_experts(DecoderConfig& config);

}  // namespace tessera::import
