#include "import/models/architecture.h"
#include "import/models/learned_positions.h"

// OPT: LayerNorm, learned positions that begin at row 2, ReLU without a gate. Source: modeling_opt.py and
// configuration_opt.py of HuggingFace transformers. llama.cpp has no such model.

namespace tessera::import {
namespace {

constexpr int64_t kFirstPosition = 2;
constexpr double kOptEpsilon = 1e-5;  // of torch.nn.LayerNorm, which no setting changes

void name_opt_tensors(TensorNames& names) {
    using enum LayerTensor;
    names.layers = "decoder.layers.";
    names[OuterTensor::kEmbedding] = "decoder.embed_tokens.weight";
    names[OuterTensor::kPositions] = "decoder.embed_positions.weight";
    names[OuterTensor::kFinalNorm] = "decoder.final_layer_norm.weight";
    names[OuterTensor::kFinalNormBias] = "decoder.final_layer_norm.bias";
    names[kAttentionNorm] = "self_attn_layer_norm.weight";
    names[kAttentionNormBias] = "self_attn_layer_norm.bias";
    names[kOutput] = "self_attn.out_proj.weight";
    names[kOutputBias] = "self_attn.out_proj.bias";
    names[kFeedForwardNorm] = "final_layer_norm.weight";
    names[kFeedForwardNormBias] = "final_layer_norm.bias";
    names[kUp] = "fc1.weight";
    names[kUpBias] = "fc1.bias";
    names[kDown] = "fc2.weight";
    names[kDownBias] = "fc2.bias";
}

void complete_opt_hf(HfSettings& settings, DecoderConfig& config) {
    set_learned_positions(config, kFirstPosition);
    name_opt_tensors(config.names);
    config.epsilon = kOptEpsilon;
    settings.refuse_unless_number("word_embed_proj_dim", static_cast<double>(config.size.hidden),
                                  "embeddings of another width");
    const auto refuse_unless_true = [&](const char* field, const char* what) {
        if (!settings.boolean(field, true)) settings.refuse(field, what);
    };
    refuse_unless_true("do_layer_norm_before", "norms behind the branches");
    refuse_unless_true("enable_bias", "matrices without biases");
    refuse_unless_true("layer_norm_elementwise_affine", "norms without scales");
    settings.refuse_unless_neutral("_remove_final_layer_norm", "no norm behind the layers");
    settings.ignore("init_std");
    settings.ignore("layerdrop");  // of the training
}

void complete_opt_gguf(GgufReader&, DecoderConfig&) {}

}  // namespace

const Architecture& opt_architecture() {
    static const Architecture architecture{
        .name = "opt",
        .hf_class = "OPTForCausalLM",
        .has_gguf = false,
        .hf = {.feed_forward = "ffn_dim", .epsilon = nullptr, .activation = "activation_function"},
        .complete_hf = complete_opt_hf,
        .complete_gguf = complete_opt_gguf};
    return architecture;
}

}  // namespace tessera::import
