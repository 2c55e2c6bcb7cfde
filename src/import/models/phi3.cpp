#include <array>

#include "import/models/architecture.h"
#include "import/models/windows.h"

// Phi-3 and Phi-4: Llama with Q, K and V in one matrix, and gate and up in another. Source: modeling_phi3.py
// and configuration_phi3.py of HuggingFace transformers; phi3.cpp of llama.cpp.

namespace tessera::import {
namespace {

constexpr std::array kQueryKeyValue = {LayerTensor::kQuery, LayerTensor::kKey, LayerTensor::kValue};
constexpr std::array kGateUp = {LayerTensor::kGate, LayerTensor::kUp};

void complete_phi3_hf(HfSettings& settings, DecoderConfig& config) {
    split(config, "self_attn.qkv_proj.weight", kQueryKeyValue);
    split(config, "mlp.gate_up_proj.weight", kGateUp);
    window_all_layers(settings, config);
    settings.ignore("attention_bias");  // the class has none
}

// llama.cpp leaves out the window that the model was trained with, since some files state a wrong one.
void complete_phi3_gguf(GgufReader& reader, DecoderConfig& config) {
    split(config, "ffn_up.weight", kGateUp);
    const std::string window = reader.key("attention.sliding_window");
    const int64_t tokens = reader.integer_or_zero("attention.sliding_window", limits::kPositions);
    if (tokens > 0 && tokens < config.max_positions)
        reader.settings.warn(window, "the window is left out, as llama.cpp does");
}

}  // namespace

const Architecture& phi3_architecture() {
    static const Architecture architecture{.name = "phi3",
                                           .hf_class = "Phi3ForCausalLM",
                                           .rotates_part_in_gguf = true,
                                           .rope = {.has_longrope = true, .may_rotate_part = true},
                                           .complete_hf = complete_phi3_hf,
                                           .complete_gguf = complete_phi3_gguf};
    return architecture;
}

}  // namespace tessera::import
