#include "import/resolve_model.h"

#include <functional>

#include <fmt/format.h>

#include "import/rope_bases.h"
#include "import/tensor_account.h"
#include "support/error.h"

namespace tessera::import {
namespace {

/// Finds the format of a source of this shape.
using FormatOf = std::function<ops::WeightFormat(const std::string&, const std::vector<int64_t>&)>;

SpecPart resolved(const Part& part, const PlacedPart& placed, const FormatOf& format_of) {
    SpecPart result{.steps = part.steps, .tensors = {}};
    for (const auto& [name, part_tensor] : part.tensors) {
        const PartTensor& tensor = part_tensor;  // a lambda captures no structured binding
        const std::vector<int64_t> shape = tensor.stacked_shape();
        const auto add = [&](const std::string& own, const std::vector<int64_t>& extents) {
            const auto source = placed.sources.find(own);
            if (source == placed.sources.end()) return;
            result.tensors[own] = {
                extents, source->second, format_of(source->second, extents), tensor.matrices(), {}};
        };
        add(name, shape);
        add(bias_of(name), shape.size() == 2 ? std::vector{shape[0]} : shape);
    }
    return result;
}

/// True if the head is the embedding. A stored head counts whatever the settings say, as in llama.cpp and
/// transformers 5; a warning tells if it contradicts them.
bool is_head_tied(const std::string& head, const std::string& embedding, const ModelConfig& config,
                  TensorAccount& account, Findings& findings) {
    if (head == embedding) return true;
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

/// The head without the tensors that others stand in for: `is_tied` says of each whether that is so.
SpecPart resolved_head(const ModelParts& parts, const PlacedTensors& placed, const SpecPart& embed,
                       const FormatOf& format_of,
                       const std::function<bool(const std::string&, const std::string&)>& is_tied) {
    Part own = parts.head;
    std::map<std::string, SpecTensor> shared;
    for (const auto& [name, tensor] : parts.head.tensors) {
        const auto embedding = embed.tensors.find(tensor.text->tied);
        if (embedding == embed.tensors.end()) continue;
        if (!is_tied(placed.head.sources.at(name), embedding->second.source)) continue;
        shared[name] = embedding->second;
        shared[name].tied = tensor.text->tied;
        PartTensor bias = tensor;
        own.tensors.erase(name);
        if (placed.head.sources.contains(bias_of(name))) {
            const std::string& source = placed.head.sources.at(bias_of(name));
            const std::vector<int64_t> extents = {bias.shape[0]};
            shared[bias_of(name)] = {extents, source, format_of(source, extents), 1, {}};
        }
    }
    SpecPart result = resolved(own, placed.head, format_of);
    result.tensors.merge(shared);
    return result;
}

ModelSpec spec_of(const ModelConfig& config, const ModelParts& parts, const PlacedTensors& placed,
                  const std::string& name, const FormatOf& format_of,
                  const std::function<bool(const std::string&, const std::string&)>& is_tied) {
    ModelSpec spec{.name = name,
                   .embedded = parts.embedded,
                   .result = parts.result,
                   .ropes = config.ropes,
                   .has_source = parts.has_source,
                   .features = parts.features,
                   .is_encoder = parts.is_encoder,
                   .vocabulary = config.vocabulary};
    spec.rope_names = rope_names(config);
    spec.embed = resolved(parts.embed, placed.embed, format_of);
    spec.head = resolved_head(parts, placed, spec.embed, format_of, is_tied);
    for (size_t i = 0; i < parts.layers.size(); ++i)
        spec.layers.push_back(resolved(parts.layers[i], placed.layers[i], format_of));
    return spec;
}

}  // namespace

ModelSpec resolve_model(Checkpoint& checkpoint, const std::string& name) {
    TESSERA_CHECK(checkpoint.config && checkpoint.parts && checkpoint.placed && checkpoint.weights, "{}",
                  checkpoint.path);
    const ModelConfig& config = *checkpoint.config;
    TensorAccount account(*checkpoint.weights, config, *checkpoint.placed, checkpoint.findings);
    ModelSpec spec = spec_of(
        config, *checkpoint.parts, *checkpoint.placed, name,
        [&](const std::string& source, const std::vector<int64_t>& shape) {
            return account.resolve(source, shape);
        },
        [&](const std::string& head, const std::string& embedding) {
            return is_head_tied(head, embedding, config, account, checkpoint.findings);
        });
    if (config.is_gguf && !config.architecture->ropes.empty())
        for (const char* factors : {kRopeFactorsSource, kShortRopeFactorsSource, kLongRopeFactorsSource})
            if (account.contains(factors))
                account.resolve_f32(factors,
                                    {config.ropes.at(config.architecture->ropes.front().name).pairs()});
    account.close();
    return spec;
}

ModelSpec assume_model(const ModelConfig& config, const std::string& name, ops::WeightFormat format) {
    const ModelParts parts = parts_of(config);
    return spec_of(
        config, parts, place_tensors(config, parts, nullptr), name,
        [&](const std::string&, const std::vector<int64_t>&) { return format; },
        [&](const std::string&, const std::string&) { return config.is_tied.value_or(false); });
}

}  // namespace tessera::import
