#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "import/decoder_config.h"
#include "import/gguf/gguf_settings.h"
#include "import/hf/rope_settings.h"
#include "import/hf/settings.h"

namespace tessera::import {

/// How config.json calls the sizes of a model.
struct HfNames {
    const char* layers = "num_hidden_layers";
    const char* hidden = "hidden_size";
    const char* feed_forward = "intermediate_size";
    const char* heads = "num_attention_heads";
    const char* cache_heads = "num_key_value_heads";
    const char* positions = "max_position_embeddings";
    const char* epsilon = "rms_norm_eps";
    const char* activation = "hidden_act";
    bool is_feed_forward_fourfold = false;   ///< four times the hidden size where it is left out
    std::vector<SettingAlias> aliases = {};  ///< further names
};

/// The differences of one architecture from the common decoder.
struct Architecture {
    std::string_view name;            ///< `model_type` of HuggingFace, `general.architecture` of GGUF
    std::string_view hf_class;        ///< in `architectures` of HuggingFace
    std::string_view gguf_name = {};  ///< where GGUF calls it otherwise
    bool has_gguf = true;             ///< whether llama.cpp has it under a name of its own
    HfNames hf = {};
    ops::RopeForm gguf_rope_form = ops::RopeForm::kHalves;
    bool rotates_part_in_gguf =
        false;  ///< llama.cpp computes a `rope.dimension_count` below the head's width
    ops::ActivationFunction gguf_activation = ops::ActivationFunction::kSilu;  ///< which no key states
    RopeRules rope = {};
    /// Completes a configuration whose common part has been read: `head_width` where config.json has none,
    /// the form, and which tensors the layers have. Refuses settings of its own that change the computation.
    void (*complete_hf)(HfSettings& settings, DecoderConfig& config);
    /// The same for a GGUF file: which tensors its layers have besides the common ones, and its form.
    void (*complete_gguf)(GgufReader& reader, DecoderConfig& config);
};

const Architecture& gemma2_architecture();
const Architecture& gemma3_architecture();
const Architecture& gpt2_architecture();
const Architecture& llama_architecture();
const Architecture& mistral_architecture();
const Architecture& mixtral_architecture();
const Architecture& olmo2_architecture();
const Architecture& opt_architecture();
const Architecture& phi3_architecture();
const Architecture& qwen2_architecture();
const Architecture& qwen3_architecture();
const Architecture& qwen3_moe_architecture();
const Architecture& smollm3_architecture();

/// All of them, in the order in which they are listed to users.
std::span<const Architecture* const> architectures();
/// By `model_type`, or by `general.architecture`. Null if there is none.
const Architecture* find_architecture(std::string_view name);
const Architecture* find_gguf_architecture(std::string_view name);
/// By the same names: "llama, mistral, qwen2, ..".
std::string known_architectures();
std::string known_gguf_architectures();

}  // namespace tessera::import
