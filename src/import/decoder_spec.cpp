#include "import/decoder_spec.h"

#include <fmt/format.h>

#include "import/tensor_account.h"
#include "support/error.h"

namespace tessera::import {
namespace {

/// True if the head is the embedding. A stored head counts whatever the settings say, as in llama.cpp and
/// transformers 5; a warning tells if it contradicts them.
bool is_head_tied(const DecoderConfig& config, TensorAccount& account, Findings& findings) {
    if (config.names.is_embedding_in_head) return true;
    const std::string head = source_name(OuterTensor::kHead, config.names);
    const std::string embedding = source_name(OuterTensor::kEmbedding, config.names);
    const bool is_stored = account.contains(head);
    const bool is_tied = config.is_tied.value_or(!is_stored);
    if (is_tied && is_stored && account.contains(embedding) && !account.is_copy(embedding, head)) {
        findings.warnings.push_back(
            fmt::format("{} differs from {}, though tie_word_embeddings is true: the stored head is used",
                        head, embedding));
        return false;
    }
    if (!is_tied && !is_stored)
        findings.unsupported.push_back(fmt::format(
            "{} is missing, and tie_word_embeddings is not true: the embedding may not stand in for it",
            head));
    return is_tied || !is_stored;
}

}  // namespace

DecoderSpec resolve_tensors(Checkpoint& checkpoint, const std::string& name) {
    TESSERA_CHECK(checkpoint.config && checkpoint.weights, "{}", checkpoint.path);
    const DecoderConfig& config = *checkpoint.config;
    const DecoderSize& size = config.size;
    TensorAccount account(*checkpoint.weights, config, checkpoint.findings);
    DecoderSpec spec{.name = name,
                     .size = size,
                     .epsilon = config.epsilon,
                     .rope_form = config.rope_form,
                     .rope_pairs = rotated_pairs(config.rope, size.head_width),
                     .names = config.names,
                     .form = config.form};
    const auto outer = [&](OuterTensor tensor) {
        return account.resolve(source_name(tensor, config.names), shape_of(tensor, size));
    };
    spec.embedding = outer(OuterTensor::kEmbedding);
    if (size.positions > 0) spec.positions = outer(OuterTensor::kPositions);
    spec.final_norm = outer(OuterTensor::kFinalNorm);
    if (config.form.norm == NormForm::kLayer) spec.final_norm_bias = outer(OuterTensor::kFinalNormBias);
    spec.is_tied = is_head_tied(config, account, checkpoint.findings);
    if (!spec.is_tied) spec.head = outer(OuterTensor::kHead);

    for (int64_t layer = 0; layer < size.layers; ++layer) {
        LayerFormats formats{};
        for (size_t i = 0; i < kLayerTensors; ++i) {
            const auto tensor = static_cast<LayerTensor>(i);
            const std::string source = source_name(tensor, layer, config.names);
            const Presence presence = config.tensors[i];
            if (presence == Presence::kAlways ||
                (presence == Presence::kIfStored && account.contains(source)))
                formats[i] = account.resolve(source, shape_of(tensor, size));
        }
        spec.layers.push_back(formats);
    }
    for (const char* factors : {kRopeFactorsSource, kShortRopeFactorsSource, kLongRopeFactorsSource})
        if (config.is_gguf() && account.contains(factors)) account.resolve_f32(factors, {spec.rope_pairs});
    account.close();
    return spec;
}

}  // namespace tessera::import
