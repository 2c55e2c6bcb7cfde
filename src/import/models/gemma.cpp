#include "import/models/gemma.h"

#include <cmath>

namespace tessera::import {
namespace {

constexpr RealBounds kGemmaScale{1e-6, 1e9};
constexpr double kGemmaScalar = 256;
constexpr int64_t kGemmaHeadWidth = 256;

/// Norms before and behind each branch, and scaled embeddings.
void set_gemma_form(DecoderConfig& config) {
    config.form.embedding_scale = std::sqrt(static_cast<double>(config.size.hidden));
    config.set(Presence::kAlways, {LayerTensor::kAttentionPostNorm, LayerTensor::kFeedForwardPostNorm});
}

double read_cap(HfSettings& settings, const char* field, double absent) {
    if (!settings.has(field)) return settings.is_stated(field) ? 0 : absent;
    return settings.real(field, kGemmaScale);
}

}  // namespace

void complete_gemma_hf(HfSettings& settings, DecoderConfig& config, double score_cap, double logits_cap) {
    set_gemma_form(config);
    config.form.norm = NormForm::kRmsFromOne;
    config.form.attention_scale =
        1 / std::sqrt(settings.real("query_pre_attn_scalar", kGemmaScale, kGemmaScalar));
    config.form.attention_cap = read_cap(settings, "attn_logit_softcapping", score_cap);
    config.form.logits_cap = read_cap(settings, "final_logit_softcapping", logits_cap);
    config.names[LayerTensor::kFeedForwardNorm] = "pre_feedforward_layernorm.weight";
    if (!settings.has("head_dim")) config.size.head_width = kGemmaHeadWidth;
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
    config.form.attention_cap = reader.real("attn_logit_softcapping", 0, kGemmaScale.high, 0);
    config.form.logits_cap = reader.real("final_logit_softcapping", 0, kGemmaScale.high, 0);
}

}  // namespace tessera::import
