#include "import/hf/config.h"

#include <algorithm>
#include <filesystem>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "import/hf/json_file.h"
#include "import/hf/settings.h"
#include "import/hf/unsupported_settings.h"
#include "import/models/architecture.h"
#include "support/error.h"

namespace tessera {
namespace {

/// `model_type` decides; `architectures` may only name the class of that type, or stand in for it.
const Architecture* read_architecture(HfSettings& settings, Findings& findings) {
    const std::vector<std::string> classes = settings.texts("architectures");
    const auto type = settings.text("model_type");
    if (!type && classes.empty())
        throw Error(settings.path(), "model_type", "is missing, and so is `architectures`",
                    "the architecture must be named: " + known_architectures());
    const Architecture* found = type ? find_architecture(*type) : nullptr;
    if (!type)
        for (const Architecture* each : architectures())
            if (each->hf_class == classes.front()) found = each;
    if (!found) {
        findings.unsupported.push_back(fmt::format("architecture {}: known are {}",
                                                   type ? *type : classes.front(), known_architectures()));
        return nullptr;
    }
    if (!classes.empty() && std::find(classes.begin(), classes.end(), found->hf_class) == classes.end())
        settings.refuse("architectures", fmt::format("expected {}", found->hf_class));
    return found;
}

/// "llama3" and "linear" scale frequencies only; the other forms also depend on the length of the text.
void read_rope_scaling(HfSettings scaling, RopeConfig& rope) {
    const std::string key =
        scaling.has("rope_type") ? "rope_type" : "type";  // `type` before transformers 4.43
    const std::string type = scaling.text(key).value_or("default");
    if (type == "default" || type == "none") return;
    constexpr RealBounds kFactor{1e-3, 1e6};
    if (type == "linear") {
        rope.scaling = RopeConfig::Scaling::kLinear;
        rope.factor = scaling.real("factor", kFactor);
    } else if (type == "llama3") {
        rope.scaling = RopeConfig::Scaling::kLlama3;
        rope.factor = scaling.real("factor", kFactor);
        rope.low_frequency_factor = scaling.real("low_freq_factor", kFactor);
        rope.high_frequency_factor = scaling.real("high_freq_factor", kFactor);
        rope.original_context = scaling.integer("original_max_position_embeddings", {1, limits::kPositions});
        if (!(rope.high_frequency_factor > rope.low_frequency_factor))
            throw Error(scaling.path(), "rope_scaling.high_freq_factor",
                        fmt::format("is {}, expected more than low_freq_factor = {}",
                                    rope.high_frequency_factor, rope.low_frequency_factor));
    } else {
        scaling.refuse(key, "scaling of the rotary position embedding; known are linear and llama3");
    }
}

/// transformers 5 moves `rope_theta` and the scaling into `rope_parameters`.
RopeConfig read_rope(HfSettings& settings) {
    constexpr RealBounds kBase{1e-3, 1e15};
    RopeConfig rope;
    rope.base = settings.real("rope_theta", kBase, rope.base);
    for (const char* field : {"rope_parameters", "rope_scaling"}) {
        auto scaling = settings.object(field);
        if (!scaling) continue;
        rope.base = scaling->real("rope_theta", kBase, rope.base);
        scaling->refuse_unless_number("partial_rotary_factor", 1, "rotation of a part of each head");
        read_rope_scaling(*scaling, rope);
    }
    return rope;
}

DecoderSize read_size(HfSettings& settings) {
    DecoderSize size;
    size.layers = settings.integer("num_hidden_layers", {1, limits::kLayers});
    size.hidden = settings.integer("hidden_size", {1, limits::kHidden});
    size.feed_forward = settings.integer("intermediate_size", {1, limits::kFeedForward});
    size.heads = settings.integer("num_attention_heads", {1, limits::kHeads});
    size.cache_heads = settings.integer("num_key_value_heads", {1, limits::kHeads}, size.heads);
    size.head_width = settings.integer("head_dim", {1, limits::kHeadWidth}, size.hidden / size.heads);
    size.vocabulary = settings.integer("vocab_size", {1, limits::kVocabulary});
    return size;
}

/// What no single range says.
void check_size(const HfSettings& settings, const DecoderSize& size) {
    if (size.heads % size.cache_heads != 0)
        throw Error(settings.path(), "num_key_value_heads",
                    fmt::format("is {}, expected a divisor of num_attention_heads = {}", size.cache_heads,
                                size.heads));
    if (size.head_width < 2 || size.head_width % 2 != 0 || size.head_width > limits::kHeadWidth)
        throw Error(
            settings.path(), "head_dim",
            fmt::format("is {}, expected an even number up to {}", size.head_width, limits::kHeadWidth),
            "without head_dim it is hidden_size / num_attention_heads");
}

std::vector<int64_t> read_end_ids(HfSettings& settings) {
    return settings.integers("eos_token_id", {0, limits::kVocabulary});
}

void add_generation_config(const std::string& config_path, DecoderConfig& config, Findings& findings) {
    const auto path = std::filesystem::path(config_path).parent_path() / "generation_config.json";
    if (!std::filesystem::exists(path)) return;
    const nlohmann::json document = read_json_object(path.string());
    HfSettings settings(document, path.string(), findings);
    for (const int64_t id : read_end_ids(settings))
        if (std::find(config.end_ids.begin(), config.end_ids.end(), id) == config.end_ids.end())
            config.end_ids.push_back(id);
}

}  // namespace

std::optional<DecoderConfig> read_hf_config(const std::string& path, Findings& findings) {
    const nlohmann::json document = read_json_object(path);
    HfSettings settings(document, path, findings);
    const Architecture* architecture = read_architecture(settings, findings);
    refuse_unsupported_settings(settings);
    if (!architecture) return std::nullopt;

    DecoderConfig config{.architecture = std::string(architecture->name), .size = read_size(settings)};
    config.epsilon = settings.real("rms_norm_eps", {0, 1}, 1e-6);
    config.max_positions = settings.integer("max_position_embeddings", {1, limits::kPositions}, 2048);
    config.rope = read_rope(settings);
    config.is_tied = settings.boolean("tie_word_embeddings", false);
    config.end_ids = read_end_ids(settings);
    config.stated_type = settings.text(settings.has("dtype") ? "dtype" : "torch_dtype").value_or("");
    config.set(Presence::kAlways, {LayerTensor::kAttentionNorm, LayerTensor::kQuery, LayerTensor::kKey,
                                   LayerTensor::kValue, LayerTensor::kOutput, LayerTensor::kFeedForwardNorm,
                                   LayerTensor::kGate, LayerTensor::kUp, LayerTensor::kDown});
    architecture->complete_hf(settings, config);
    check_size(settings, config.size);
    add_generation_config(path, config, findings);

    const std::vector<std::string> ignored = unknown_settings(settings);
    if (!ignored.empty())
        findings.notes.push_back(
            fmt::format("settings that Tessera does not know: {}", fmt::join(ignored, ", ")));
    return config;
}

}  // namespace tessera
