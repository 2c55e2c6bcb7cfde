#include "import/models/gemma.h"

#include <cmath>

namespace tessera::import {
namespace {

constexpr RealBounds kGemmaScale{1e-6, kLargestCap};

/// Norms before and behind each branch, and scaled embeddings.
void set_gemma_form(DecoderConfig& config) {
    config.form.embedding_scale = std::sqrt(static_cast<double>(config.size.hidden));
    config.set(Presence::kAlways, {LayerTensor::kAttentionPostNorm, LayerTensor::kFeedForwardPostNorm});
}

}  // namespace

double read_cap(HfSettings& settings, const char* field) {
    return settings.has(field) ? settings.real(field, kGemmaScale) : 0;
}

void complete_gemma_hf(HfSettings& settings, DecoderConfig& config) {
    set_gemma_form(config);
    config.form.norm = NormForm::kRmsFromOne;
    config.form.attention_scale = 1 / std::sqrt(settings.real("query_pre_attn_scalar", kGemmaScale));
    config.form.logits_cap = read_cap(settings, "final_logit_softcapping");
    config.names[LayerTensor::kFeedForwardNorm] = "pre_feedforward_layernorm.weight";
    if (settings.boolean("attention_bias", false))
        config.set(Presence::kAlways, {LayerTensor::kQueryBias, LayerTensor::kKeyBias,
                                       LayerTensor::kValueBias, LayerTensor::kOutputBias});
    settings.ignore("hidden_act");  // hidden_activation counts
    settings.ignore("cache_implementation");
    settings.ignore("attn_types");
}

void complete_gemma_gguf(GgufReader& reader, DecoderConfig& config, int64_t layers_of_27b) {
    set_gemma_form(config);
    const DecoderSize& size = config.size;
    const int64_t width = size.hidden / size.heads;
    if (size.layers == layers_of_27b) config.form.attention_scale = 1 / std::sqrt(static_cast<double>(width));
    config.form.logits_cap = reader.real("final_logit_softcapping", 0, kLargestCap);
}

}  // namespace tessera::import
