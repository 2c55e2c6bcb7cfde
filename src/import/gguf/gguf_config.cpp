#include "import/gguf/gguf_config.h"

#include <iterator>

#include <fmt/format.h>

#include "import/end_ids.h"
#include "import/gguf/gguf_settings.h"
#include "import/models/architecture.h"
#include "import/models/default_settings.h"
#include "support/error.h"
#include "support/shown.h"

// Keys: docs/gguf.md of ggml, "Standardized key-value pairs"; defaults as llama.cpp takes them.

namespace tessera::import {
namespace {

struct RefusedKey {
    const char* key;  ///< after "ARCH."
    const char* what;
};

/// Refused unless absent, 0 or false.
constexpr RefusedKey kRefusedKeys[] = {
    {"expert_count", "mixture of experts"},
    {"expert_used_count", "mixture of experts"},
    {"expert_shared_count", "mixture of experts"},
    {"expert_feed_forward_length", "mixture of experts"},
    {"attention.sliding_window", "attention over a sliding window"},
    {"attention.scale", "a scale of the attention scores of its own"},
    {"attention.clamp_kqv", "clipping of queries, keys and values"},
    {"attention.max_alibi_bias", "a position bias of the attention scores"},
    {"attn_logit_softcapping", "a soft cap of the attention scores"},
    {"final_logit_softcapping", "a soft cap of the logits"},
    {"logit_scale", "scaled logits"},
    {"embedding_scale", "scaled embeddings"},
    {"residual_scale", "scaled residuals"},
    {"use_parallel_residual", "attention and feed-forward side by side"},
};

constexpr HarmlessSettings kHarmlessKeys[] = {
    {"what people want to know of a file", "general.*"},
    {"how the file was quantised", "quantize.* imatrix.*"},
    {"of the tokenizer, and checked there", "tokenizer.*"},
    {"read where the parts of a model are put together", "split.no split.count split.tensors.count"},
};

/// Behind "ARCH.": llama.cpp reads the first for no supported architecture, the others for scalings that are
/// refused.
constexpr std::string_view kHarmlessOfArchitecture[] = {
    "tensor_data_layout", "rope.scaling.original_context_length", "rope.scaling.finetuned"};

/// The number of rotations at one end of the ramp of "yarn". llama.cpp takes the default for most
/// architectures, whatever the file says; transformers does not.
double read_rotations(GgufReader& reader, const char* suffix, double usual) {
    const double rotations = reader.real(suffix, 1e-3, 1e6, usual);
    if (rotations != usual)
        reader.settings.warn(reader.key(suffix),
                             fmt::format("llama.cpp takes {} for most architectures", usual));
    return rotations;
}

/// 0, as ollama writes it for models without, is none.
int64_t read_gguf_context(GgufReader& reader, int64_t max_positions) {
    const int64_t found = reader.integer_or_zero("rope.scaling.original_context_length", limits::kPositions);
    return found == 0 ? max_positions : found;
}

/// llama.cpp multiplies the scale of "yarn" by `attn_factor`.
RopeConfig read_gguf_yarn(GgufReader& reader, RopeConfig rope, double factor, int64_t max_positions) {
    if (!(rope.base > 1))
        throw Error(reader.settings.path(), reader.key("rope.freq_base"),
                    fmt::format("is {}, expected more than 1 for yarn", rope.base));
    rope.scaling = RopeConfig::Scaling::kYarn;
    rope.factor = factor == 0 ? 1 : factor;
    rope.original_context = read_gguf_context(reader, max_positions);
    rope.fast_rotations = read_rotations(reader, "rope.scaling.yarn_beta_fast", rope.fast_rotations);
    rope.slow_rotations = read_rotations(reader, "rope.scaling.yarn_beta_slow", rope.slow_rotations);
    rope.amplitude *= yarn_amplitude(rope.factor);
    return rope;
}

/// llama.cpp takes a factor without a type as linear, and 0 as no scaling. The factors of "longrope" are
/// tensors.
RopeConfig read_gguf_rope(GgufReader& reader, const Architecture& architecture, int64_t max_positions) {
    GgufSettings& settings = reader.settings;
    const bool has_longrope = architecture.rope.has_longrope;
    RopeConfig rope;
    rope.base = reader.real("rope.freq_base", 1e-3, 1e15);
    const std::string type_key = reader.key("rope.scaling.type");
    const std::string type = settings.text(type_key).value_or("linear");
    if (type != "linear" && type != "none" && type != "yarn" && !(type == "longrope" && has_longrope))
        settings.refuse(type_key,
                        fmt::format("known are linear, yarn{} and none", has_longrope ? ", longrope" : ""));
    const double old_factor = reader.real("rope.scale_linear", 0, 1e6, 0);
    const double factor = reader.real("rope.scaling.factor", 0, 1e6, old_factor);
    const std::string amplitude_key = reader.key("rope.scaling.attn_factor");
    rope.amplitude = settings.real(amplitude_key, 1e-6, 1e6, rope.amplitude);
    if (rope.amplitude != 1 && !has_longrope)
        settings.warn(amplitude_key, "rotated queries and keys are multiplied by it, as llama.cpp does");
    if (type == "yarn") return read_gguf_yarn(reader, rope, factor, max_positions);
    if (has_longrope) rope.original_context = read_gguf_context(reader, max_positions);
    if (type == "linear" && factor != 0 && factor != 1) {
        rope.scaling = RopeConfig::Scaling::kLinear;
        rope.factor = factor;
    }
    return rope;
}

void read_size(GgufReader& reader, const GgufTensor& embedding, DecoderConfig& config) {
    GgufSettings& settings = reader.settings;
    DecoderSize& size = config.size;
    size.layers = settings.integer(reader.key("block_count"), limits::kLayers);
    const auto of_layers = [&](const char* suffix, int64_t high, std::optional<int64_t> absent = {}) {
        const auto value = settings.integer_of_layers(reader.key(suffix), high, size.layers, absent);
        if (!value) config.layers_differ = true;
        return value.value_or(1);
    };
    size.hidden = settings.integer(reader.key("embedding_length"), limits::kHidden);
    size.feed_forward = of_layers("feed_forward_length", limits::kFeedForward);
    size.heads = of_layers("attention.head_count", limits::kHeads);
    size.cache_heads = of_layers("attention.head_count_kv", limits::kHeads, size.heads);
    // ollama's name for the length of keys and values, which older versions of it write alone.
    const int64_t usual = reader.integer("attention.head_dim", limits::kHeadWidth, size.hidden / size.heads);
    size.head_width = of_layers("attention.key_length", limits::kHeadWidth, usual);
    if (reader.has("attention.head_dim") && usual != size.head_width && !config.layers_differ)
        settings.refuse(reader.key("attention.head_dim"), "another width of heads than key_length says");
    size.vocabulary =
        settings.integer(reader.key("vocab_size"), limits::kVocabulary, embedding.dimensions[1]);
    config.form.layers.resize(static_cast<size_t>(size.layers));
}

/// Checks that no single range covers.
void check_size(GgufReader& reader, const DecoderConfig& config) {
    const DecoderSize& size = config.size;
    GgufSettings& settings = reader.settings;
    if (size.heads % size.cache_heads != 0)
        throw Error(
            settings.path(), reader.key("attention.head_count_kv"),
            fmt::format("is {}, expected a divisor of head_count = {}", size.cache_heads, size.heads));
    const bool is_rotated = config.form.has(LayerRope::kGlobal) || config.form.has(LayerRope::kLocal);
    if (is_rotated && rotated_elements(config.rope, size.head_width) % 2 != 0)
        throw Error(settings.path(), reader.key("attention.key_length"),
                    fmt::format("is {}, expected an even number", size.head_width),
                    "without the key it is embedding_length / head_count");
    if (size.vocabulary > limits::kVocabulary)
        throw Error(settings.path(), "token_embd.weight",
                    fmt::format("has {} rows, more than {}", size.vocabulary, limits::kVocabulary));
}

void check_widths(GgufReader& reader, const DecoderConfig& config) {
    const DecoderSize& size = config.size;
    const auto expect_width = [&](const char* suffix, const char* otherwise) {
        const auto value = reader.settings.integer_of_layers(reader.key(suffix), limits::kHeadWidth,
                                                             size.layers, size.head_width);
        if (value && *value != size.head_width && !config.layers_differ)
            reader.settings.refuse(reader.key(suffix), otherwise);
    };
    expect_width("attention.value_length", "values of another width than keys");
}

/// The elements of a head that are rotated.
void read_rotated(GgufReader& reader, const Architecture& architecture, DecoderConfig& config) {
    const std::string key = reader.key("rope.dimension_count");
    const auto rotated = reader.settings.integer_of_layers(key, limits::kHeadWidth, config.size.layers,
                                                           config.size.head_width);
    if (!rotated || *rotated == config.size.head_width || config.layers_differ) return;
    if (!architecture.rotates_part_in_gguf || *rotated > config.size.head_width || *rotated % 2 != 0)
        return reader.settings.refuse(key, "rotation of a part of each head");
    config.rope.rotated = config.local_rope.rotated = *rotated;
}

void refuse_unsupported_keys(GgufReader& reader) {
    for (const RefusedKey& refused : kRefusedKeys)
        if (!reader.settings.was_read(reader.key(refused.key)))
            reader.settings.refuse_unless_zero(reader.key(refused.key), refused.what);
    const std::string causal = reader.key("attention.causal");
    if (!reader.settings.boolean(causal, true))
        reader.settings.refuse(causal, "attention that is not causal");
    const auto type = reader.settings.text("general.type");
    if (type && *type != "model") reader.settings.refuse("general.type", "expected a whole model");
}

void read_token_ids(GgufSettings& settings, DecoderConfig& config, Findings& findings) {
    for (const char* key : {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id"})
        add_end_ids(settings.integers(key), key, config, findings);
    constexpr const char* kBos = "tokenizer.ggml.bos_token_id";
    for (const int64_t id : settings.integers(kBos)) check_token_id(id, kBos, config, findings);
}

void account_for_rest(GgufReader& reader, Findings& findings) {
    std::string names;
    for (const std::string_view suffix : kHarmlessOfArchitecture) names += reader.key(suffix) + " ";
    std::vector<HarmlessSettings> harmless(std::begin(kHarmlessKeys), std::end(kHarmlessKeys));
    harmless.push_back({"not read for these architectures", names});
    account_for(reader.settings.unread(), harmless, findings);
}

}  // namespace

std::optional<DecoderConfig> read_gguf_config(const GgufFile& file, const GgufTensor* embedding,
                                              Findings& findings) {
    GgufSettings settings(file, findings);
    const auto name = settings.text("general.architecture");
    if (!name)
        throw Error(file.path(), "general.architecture", "is missing, expected the name of an architecture");
    GgufReader reader{settings, *name};
    const Architecture* architecture = find_gguf_architecture(*name);
    if (!architecture) {
        refuse_unsupported_keys(reader);
        findings.unsupported.push_back(
            fmt::format("architecture {}: known are {}", shown(*name), known_gguf_architectures()));
        return std::nullopt;
    }
    reader.defaults = parse_json(default_settings(architecture->name).gguf, *name);
    if (!embedding || embedding->dimensions.size() != 2)
        throw Error(file.path(), "token_embd.weight", "is missing or no matrix, expected the embedding");

    DecoderConfig config{.architecture = std::string(architecture->name)};
    read_size(reader, *embedding, config);
    check_widths(reader, config);
    config.max_positions = reader.integer("context_length", limits::kPositions);
    config.rope = read_gguf_rope(reader, *architecture, config.max_positions);
    read_rotated(reader, *architecture, config);
    config.rope_form = architecture->gguf_rope_form;
    config.form.activation = architecture->gguf_activation;
    const std::string tied = reader.key("tie_word_embeddings");
    if (settings.has(tied)) config.is_tied = settings.boolean(tied, false);
    config.names = common_names(NameStyle::kGguf);
    read_token_ids(settings, config, findings);
    config.set(Presence::kAlways, {LayerTensor::kAttentionNorm, LayerTensor::kQuery, LayerTensor::kKey,
                                   LayerTensor::kValue, LayerTensor::kOutput, LayerTensor::kFeedForwardNorm,
                                   LayerTensor::kGate, LayerTensor::kUp, LayerTensor::kDown});
    // As the converter's --fuse-qkv writes them, and for some architectures always.
    using enum LayerTensor;
    config.stored_together = {{"attn_qkv.weight", {kQuery, kKey, kValue}},
                              {"attn_qkv.bias", {kQueryBias, kKeyBias, kValueBias}}};
    architecture->complete_gguf(reader, config);
    refuse_unsupported_keys(reader);
    if (!config.layers_differ) check_size(reader, config);
    config.epsilon = reader.real(config.form.norm == NormForm::kLayer ? "attention.layer_norm_epsilon"
                                                                      : "attention.layer_norm_rms_epsilon",
                                 0, 1);
    account_for_rest(reader, findings);
    return config;
}

}  // namespace tessera::import
