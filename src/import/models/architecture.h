#pragma once

#include <span>
#include <string>
#include <string_view>

#include "import/decoder_config.h"
#include "import/hf/settings.h"

namespace tessera::import {

/// The differences of one architecture from the common decoder.
struct Architecture {
    std::string_view name;      ///< `model_type` of HuggingFace, `general.architecture` of GGUF
    std::string_view hf_class;  ///< in `architectures` of HuggingFace
    ops::RopeForm gguf_rope_form = ops::RopeForm::kHalves;
    bool ties_embeddings = false;  ///< the head is the embedding where config.json says nothing
    /// Completes a configuration whose common part has been read: `head_width` where config.json has none,
    /// and which tensors the layers have. Refuses settings of its own that change the computation.
    void (*complete_hf)(HfSettings& settings, DecoderConfig& config);
    /// Which tensors the layers of a GGUF file have besides the common ones.
    void (*complete_gguf)(DecoderConfig& config);
};

const Architecture& llama_architecture();
const Architecture& qwen2_architecture();
const Architecture& qwen3_architecture();

/// All of them, in the order in which they are listed to users.
std::span<const Architecture* const> architectures();
/// Null if there is none.
const Architecture* find_architecture(std::string_view name);
/// "llama, qwen2, qwen3".
std::string known_architectures();

}  // namespace tessera::import
