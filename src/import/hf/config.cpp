#include "import/hf/config.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "import/end_ids.h"
#include "import/hf/quantisation_settings.h"
#include "import/hf/rope_settings.h"
#include "import/hf/settings.h"
#include "import/hf/unsupported_settings.h"
#include "import/models/architecture.h"
#include "import/models/default_settings.h"
#include "support/error.h"
#include "support/json.h"

namespace tessera::import {
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

void read_size(HfSettings& settings, const HfNames& names, DecoderConfig& config) {
    DecoderSize& size = config.size;
    size.layers = settings.integer(names.layers, {1, limits::kLayers});
    const auto of_layers = [&](const char* field, int64_t high, std::optional<int64_t> absent = {}) {
        const auto value = settings.integer_of_layers(field, {1, high}, size.layers, absent);
        if (!value) config.layers_differ = true;
        return value.value_or(1);
    };
    size.hidden = settings.integer(names.hidden, {1, limits::kHidden});
    size.feed_forward =
        of_layers(names.feed_forward, limits::kFeedForward,
                  names.is_feed_forward_fourfold ? std::optional(4 * size.hidden) : std::nullopt);
    size.heads = of_layers(names.heads, limits::kHeads);
    size.cache_heads = of_layers(names.cache_heads, limits::kHeads, size.heads);
    size.head_width = settings.integer("head_dim", {1, limits::kHeadWidth}, size.hidden / size.heads);
    size.vocabulary = settings.integer("vocab_size", {1, limits::kVocabulary});
    config.form.layers.resize(static_cast<size_t>(size.layers));
}

/// By the names of transformers' activations.py.
ops::ActivationFunction read_activation(HfSettings& settings, const HfNames& names) {
    using enum ops::ActivationFunction;
    static constexpr std::pair<std::string_view, ops::ActivationFunction> kKnown[] = {
        {"silu", kSilu},
        {"swish", kSilu},
        {"gelu", kGelu},
        {"gelu_pytorch_tanh", kGeluTanh},
        {"gelu_new", kGeluTanh},
        {"gelu_fast", kGeluTanh},
        {"gelu_accurate", kGeluTanh},
        {"gelu_python_tanh", kGeluTanh},
        {"gelu_python", kGelu},
        {"relu", kRelu}};
    const auto found = settings.text(names.activation);
    for (const auto& [name, function] : kKnown)
        if (found && *found == name) return function;
    settings.refuse(names.activation, "known are silu, gelu, gelu_pytorch_tanh and relu");
    return kSilu;
}

/// Checks that no single range covers.
void check_size(const HfSettings& settings, const DecoderConfig& config) {
    const DecoderSize& size = config.size;
    if (size.heads % size.cache_heads != 0)
        throw Error(settings.path(), "num_key_value_heads",
                    fmt::format("is {}, expected a divisor of num_attention_heads = {}", size.cache_heads,
                                size.heads));
    const bool is_rotated = config.form.has(LayerRope::kGlobal) || config.form.has(LayerRope::kLocal);
    const int64_t pairs = rotated_pairs(config.rope, size.head_width);
    if (size.head_width < 1 || size.head_width > limits::kHeadWidth ||
        (is_rotated && 2 * pairs > size.head_width))
        throw Error(
            settings.path(), "head_dim",
            fmt::format("is {}, expected an even number up to {}", size.head_width, limits::kHeadWidth),
            "without head_dim it is hidden_size / num_attention_heads");
    for (const auto* factors : {&config.rope.short_factors, &config.rope.long_factors})
        if (config.rope.scaling == RopeConfig::Scaling::kLongRope && std::ssize(*factors) != pairs)
            throw Error(
                settings.path(), "rope_scaling",
                fmt::format("has {} factors, expected one for each of {} pairs", factors->size(), pairs));
}

/// One number or a list; text has no meaning here.
void read_token_ids(HfSettings& settings, const std::string& file, DecoderConfig& config,
                    Findings& findings) {
    constexpr IntegerBounds kAny{INT64_MIN, INT64_MAX};
    add_end_ids(settings.integers("eos_token_id", kAny), file + "eos_token_id", config, findings);
    if (!settings.has_integers("bos_token_id")) return;
    for (const int64_t id : settings.integers("bos_token_id", kAny))
        check_token_id(id, file + "bos_token_id", config, findings);
}

void add_generation_config(const std::string& config_path, DecoderConfig& config, Findings& findings) {
    const auto path = std::filesystem::path(config_path).parent_path() / "generation_config.json";
    if (!std::filesystem::exists(path)) return;
    HfSettings settings(read_json_object(path.string()), findings);
    read_token_ids(settings, "generation_config.json: ", config, findings);
}

}  // namespace

std::optional<DecoderConfig> read_hf_config(const std::string& path, Findings& findings) {
    HfSettings settings(read_json_object(path), findings);
    const Architecture* architecture = read_architecture(settings, findings);
    if (!architecture) {
        refuse_unsupported_settings(settings);
        return std::nullopt;
    }
    const HfNames& names = architecture->hf;
    settings.adopt(parse_json(default_settings(architecture->name).folder, std::string(architecture->name)),
                   names.aliases);
    DecoderConfig config{.architecture = std::string(architecture->name)};
    config.names = common_names(NameStyle::kHuggingFace);
    read_size(settings, names, config);
    if (names.epsilon) config.epsilon = settings.real(names.epsilon, {0, 1});
    config.max_positions = settings.integer(names.positions, {1, limits::kPositions});
    config.form.activation = read_activation(settings, names);
    RopeRules rope = architecture->rope;
    rope.max_positions = config.max_positions;
    rope.head_width = config.size.head_width;
    config.rope = read_rope(settings, rope);
    if (rope.is_by_layer_types) config.local_rope = read_local_rope(settings, rope);
    config.is_tied = settings.boolean("tie_word_embeddings", false);
    const auto old_type = settings.text("torch_dtype");
    config.stated_type = settings.text("dtype").value_or(old_type.value_or(""));
    config.packed = read_quantisation(settings, findings);
    config.set(Presence::kAlways, {LayerTensor::kAttentionNorm, LayerTensor::kQuery, LayerTensor::kKey,
                                   LayerTensor::kValue, LayerTensor::kOutput, LayerTensor::kFeedForwardNorm,
                                   LayerTensor::kGate, LayerTensor::kUp, LayerTensor::kDown});
    architecture->complete_hf(settings, config);
    refuse_unsupported_settings(settings);
    if (!config.layers_differ) check_size(settings, config);
    read_token_ids(settings, "", config, findings);
    add_generation_config(path, config, findings);
    account_for_rest(settings, findings);
    return config;
}

}  // namespace tessera::import
