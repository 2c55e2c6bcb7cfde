#include "import/models/default_settings.h"

// Sources: the configuration classes of HuggingFace transformers 4.57.1 and 5.24, which agree; llama.cpp,
// llama-hparams.h and load_arch_hparams of each model. Facts for the test are in tests/import/defaults.

namespace tessera::import {
namespace {

constexpr DefaultSettings kDefaults[] = {
    {"llama",
     R"({"vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32,
         "num_attention_heads": 32, "max_position_embeddings": 2048, "rms_norm_eps": 1e-6,
         "hidden_act": "silu", "rope_theta": 1e4, "tie_word_embeddings": false})",
     R"({"rope.freq_base": 1e4})"},
    {"mistral",
     R"({"vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
         "num_attention_heads": 32, "num_key_value_heads": 8, "max_position_embeddings": 131072,
         "rms_norm_eps": 1e-6, "hidden_act": "silu", "rope_theta": 1e4, "tie_word_embeddings": false,
         "sliding_window": 4096})",
     "{}"},
    {"qwen2",
     R"({"vocab_size": 151936, "hidden_size": 4096, "intermediate_size": 22016, "num_hidden_layers": 32,
         "num_attention_heads": 32, "num_key_value_heads": 32, "max_position_embeddings": 32768,
         "rms_norm_eps": 1e-6, "hidden_act": "silu", "rope_theta": 1e4, "tie_word_embeddings": false,
         "use_sliding_window": false, "sliding_window": 4096, "max_window_layers": 28})",
     R"({"rope.freq_base": 1e4})"},
    {"qwen3",
     R"({"vocab_size": 151936, "hidden_size": 4096, "intermediate_size": 22016, "num_hidden_layers": 32,
         "num_attention_heads": 32, "num_key_value_heads": 32, "head_dim": 128,
         "max_position_embeddings": 32768, "rms_norm_eps": 1e-6, "hidden_act": "silu", "rope_theta": 1e4,
         "tie_word_embeddings": false, "use_sliding_window": false, "sliding_window": 4096,
         "max_window_layers": 28})",
     R"({"rope.freq_base": 1e4})"},
    {"qwen3_moe",
     R"({"vocab_size": 151936, "hidden_size": 2048, "intermediate_size": 6144, "num_hidden_layers": 24,
         "num_attention_heads": 32, "num_key_value_heads": 4, "max_position_embeddings": 32768,
         "rms_norm_eps": 1e-6, "hidden_act": "silu", "rope_theta": 1e4, "tie_word_embeddings": false,
         "use_sliding_window": false, "sliding_window": 4096, "num_experts": 128, "num_experts_per_tok": 8,
         "moe_intermediate_size": 768, "norm_topk_prob": false})",
     R"({"rope.freq_base": 1e4})"},
    {"mixtral",
     R"({"vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
         "num_attention_heads": 32, "num_key_value_heads": 8, "max_position_embeddings": 131072,
         "rms_norm_eps": 1e-5, "hidden_act": "silu", "rope_theta": 1e6, "tie_word_embeddings": false,
         "num_local_experts": 8, "num_experts_per_tok": 2})",
     "{}"},
    {"gemma2",
     R"({"vocab_size": 256000, "hidden_size": 2304, "intermediate_size": 9216, "num_hidden_layers": 26,
         "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256,
         "max_position_embeddings": 8192, "rms_norm_eps": 1e-6, "hidden_activation": "gelu_pytorch_tanh",
         "rope_theta": 1e4, "tie_word_embeddings": true, "sliding_window": 4096,
         "query_pre_attn_scalar": 256, "attn_logit_softcapping": 50, "final_logit_softcapping": 30})",
     R"({"rope.freq_base": 1e4, "attention.sliding_window": 4096, "attention.sliding_window_pattern": 2,
         "attn_logit_softcapping": 50, "final_logit_softcapping": 30})"},
    {"gemma3_text",
     R"({"vocab_size": 262208, "hidden_size": 2304, "intermediate_size": 9216, "num_hidden_layers": 26,
         "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256,
         "max_position_embeddings": 131072, "rms_norm_eps": 1e-6, "hidden_activation": "gelu_pytorch_tanh",
         "rope_theta": 1e6, "rope_local_base_freq": 1e4, "tie_word_embeddings": true,
         "sliding_window": 4096, "sliding_window_pattern": 6, "query_pre_attn_scalar": 256})",
     R"({"rope.freq_base": 1e4, "rope.freq_base_swa": 1e4, "attention.sliding_window_pattern": 6,
         "final_logit_softcapping": 0})"},
    {"phi3",
     R"({"vocab_size": 32064, "hidden_size": 3072, "intermediate_size": 8192, "num_hidden_layers": 32,
         "num_attention_heads": 32, "max_position_embeddings": 4096,
         "original_max_position_embeddings": 4096, "rms_norm_eps": 1e-5, "hidden_act": "silu",
         "rope_theta": 1e4, "tie_word_embeddings": false})",
     R"({"rope.freq_base": 1e4})"},
    {"smollm3",
     R"({"vocab_size": 128256, "hidden_size": 2048, "intermediate_size": 11008, "num_hidden_layers": 36,
         "num_attention_heads": 16, "num_key_value_heads": 4, "max_position_embeddings": 32768,
         "rms_norm_eps": 1e-6, "hidden_act": "silu", "rope_theta": 2e6, "tie_word_embeddings": true,
         "no_rope_layer_interval": 4})",
     R"({"rope.freq_base": 1e4})"},
    {"olmo2",
     R"({"vocab_size": 50304, "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32,
         "num_attention_heads": 32, "max_position_embeddings": 2048, "rms_norm_eps": 1e-5,
         "hidden_act": "silu", "rope_theta": 1e4, "tie_word_embeddings": false})",
     R"({"rope.freq_base": 1e4})"},
    {"opt",
     R"({"vocab_size": 50272, "hidden_size": 768, "ffn_dim": 3072, "num_hidden_layers": 12,
         "num_attention_heads": 12, "max_position_embeddings": 2048, "activation_function": "relu",
         "tie_word_embeddings": true})",
     "{}"},
    {"gpt2",
     R"({"vocab_size": 50257, "n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024,
         "layer_norm_epsilon": 1e-5, "activation_function": "gelu_new", "tie_word_embeddings": true})",
     R"({"rope.freq_base": 1e4})"},
};

}  // namespace

const DefaultSettings& default_settings(std::string_view architecture) {
    static constexpr DefaultSettings kNone{.architecture = "", .folder = "{}", .gguf = "{}"};
    for (const DefaultSettings& each : kDefaults)
        if (each.architecture == architecture) return each;
    return kNone;
}

}  // namespace tessera::import
