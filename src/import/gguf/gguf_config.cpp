#include "import/gguf/gguf_config.h"

#include <algorithm>
#include <iterator>
#include <type_traits>

#include <fmt/format.h>

#include "import/models/architecture.h"
#include "support/error.h"

// Keys: docs/gguf.md of ggml, "Standardized key-value pairs"; defaults as llama.cpp takes them.

namespace tessera {
namespace {

struct RefusedKey {
    const char* key;  ///< after "ARCH."
    const char* what;
};

/// Refused unless absent or 0.
constexpr RefusedKey kRefusedKeys[] = {
    {"expert_count", "mixture of experts"},
    {"expert_used_count", "mixture of experts"},
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

class Keys {
public:
    Keys(const GgufFile& file, std::string architecture, Findings& findings)
        : file_(file), architecture_(std::move(architecture)), findings_(findings) {}

    std::string key(const char* suffix) const { return architecture_ + "." + suffix; }

    int64_t integer(const char* suffix, int64_t high, std::optional<int64_t> absent = std::nullopt) {
        const std::string name = key(suffix);
        if (refuse_list(name)) return 1;
        const auto value = file_.metadata().get_u32(name);
        if (!value && absent) return *absent;
        if (!value || *value < 1 || *value > high)
            throw Error(file_.path(), name,
                        fmt::format("is {}, expected an integer from 1 to {}",
                                    value ? std::to_string(*value) : "missing", high));
        return *value;
    }

    double real(const char* suffix, double low, double high, std::optional<double> absent = std::nullopt) {
        const std::string name = key(suffix);
        const auto value = file_.metadata().get_f32(name);
        if (!value && absent) return *absent;
        if (!value || !(*value >= low) || !(*value <= high))
            throw Error(file_.path(), name,
                        fmt::format("is {}, expected a number from {} to {}",
                                    value ? fmt::to_string(*value) : "missing", low, high));
        return *value;
    }

    void refuse(const char* suffix, const std::string& what) { refuse_key(key(suffix), what); }

    void refuse_unless_zero(const RefusedKey& refused) {
        const GgufValue* found = file_.metadata().find(key(refused.key));
        if (!found) return;
        const bool is_zero = std::visit(
            [](const auto& value) {
                if constexpr (std::is_arithmetic_v<std::decay_t<decltype(value)>>)
                    return value == 0;
                else
                    return false;
            },
            found->data);
        if (!is_zero) refuse(refused.key, refused.what);
    }

private:
    void refuse_key(const std::string& name, const std::string& what) {
        findings_.unsupported.push_back(fmt::format("{}: {}", name, what));
    }

    /// One value for each layer, where the common form has one for all.
    bool refuse_list(const std::string& name) {
        const GgufValue* found = file_.metadata().find(name);
        if (!found || !std::holds_alternative<GgufArray>(found->data)) return false;
        refuse_key(name, "layers of different sizes");
        return true;
    }

    const GgufFile& file_;
    std::string architecture_;
    Findings& findings_;
};

RopeConfig read_rope(const GgufFile& file, Keys& keys) {
    RopeConfig rope;
    rope.base = keys.real("rope.freq_base", 1e-3, 1e15, rope.base);
    double factor = keys.real("rope.scale_linear", 0, 1e6, 1);  // before rope.scaling.* existed
    const auto type = file.metadata().get_string(keys.key("rope.scaling.type"));
    if (type && *type != "linear" && *type != "none")
        keys.refuse("rope.scaling.type", fmt::format("{}; known are linear and none", *type));
    if (type && *type == "linear") factor = keys.real("rope.scaling.factor", 0, 1e6, factor);
    if (type && *type == "none") factor = 1;
    if (factor != 0 && factor != 1) {  // llama.cpp reads 0 as no scaling
        rope.scaling = RopeConfig::Scaling::kLinear;
        rope.factor = factor;
    }
    return rope;
}

DecoderSize read_size(const GgufFile& file, Keys& keys) {
    DecoderSize size;
    size.layers = keys.integer("block_count", limits::kLayers);
    size.hidden = keys.integer("embedding_length", limits::kHidden);
    size.feed_forward = keys.integer("feed_forward_length", limits::kFeedForward);
    size.heads = keys.integer("attention.head_count", limits::kHeads);
    size.cache_heads = keys.integer("attention.head_count_kv", limits::kHeads, size.heads);
    size.head_width = keys.integer("attention.key_length", limits::kHeadWidth, size.hidden / size.heads);
    const GgufTensor* embedding = file.find_tensor(source_name(OuterTensor::kEmbedding, NameStyle::kGguf));
    if (!embedding || embedding->dimensions.size() != 2)
        throw Error(file.path(), "token_embd.weight", "is missing or no matrix, expected the embedding");
    size.vocabulary = keys.integer("vocab_size", limits::kVocabulary, embedding->dimensions[1]);
    return size;
}

void check_size(const GgufFile& file, Keys& keys, const DecoderSize& size) {
    if (size.heads % size.cache_heads != 0)
        throw Error(
            file.path(), keys.key("attention.head_count_kv"),
            fmt::format("is {}, expected a divisor of head_count = {}", size.cache_heads, size.heads));
    if (size.head_width < 2 || size.head_width % 2 != 0)
        throw Error(file.path(), keys.key("attention.key_length"),
                    fmt::format("is {}, expected an even number", size.head_width),
                    "without the key it is embedding_length / head_count");
    if (size.vocabulary > limits::kVocabulary)
        throw Error(file.path(), "token_embd.weight",
                    fmt::format("has {} rows, more than {}", size.vocabulary, limits::kVocabulary));
    if (keys.integer("attention.value_length", limits::kHeadWidth, size.head_width) != size.head_width)
        keys.refuse("attention.value_length", "values of another width than keys");
    if (keys.integer("rope.dimension_count", limits::kHeadWidth, size.head_width) != size.head_width)
        keys.refuse("rope.dimension_count", "rotation of a part of each head");
}

std::vector<int64_t> read_end_ids(const GgufFile& file) {
    std::vector<int64_t> ids;
    for (const char* key : {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id"})
        if (const auto id = file.metadata().get_u32(key))
            if (std::find(ids.begin(), ids.end(), *id) == ids.end()) ids.push_back(*id);
    return ids;
}

}  // namespace

std::optional<DecoderConfig> read_gguf_config(const GgufFile& file, Findings& findings) {
    const auto name = file.metadata().get_string("general.architecture");
    if (!name)
        throw Error(file.path(), "general.architecture", "is missing, expected the name of an architecture");
    Keys keys(file, std::string(*name), findings);
    for (const RefusedKey& refused : kRefusedKeys) keys.refuse_unless_zero(refused);
    const Architecture* architecture = find_architecture(*name);
    if (!architecture) {
        findings.unsupported.push_back(
            fmt::format("architecture {}: known are {}", *name, known_architectures()));
        return std::nullopt;
    }

    DecoderConfig config{.architecture = std::string(*name), .size = read_size(file, keys)};
    check_size(file, keys, config.size);
    config.epsilon = keys.real("attention.layer_norm_rms_epsilon", 0, 1);
    config.max_positions = keys.integer("context_length", limits::kPositions);
    config.rope = read_rope(file, keys);
    config.rope_form = architecture->gguf_rope_form;
    config.names = NameStyle::kGguf;
    config.end_ids = read_end_ids(file);
    config.set(Presence::kAlways, {LayerTensor::kAttentionNorm, LayerTensor::kQuery, LayerTensor::kKey,
                                   LayerTensor::kValue, LayerTensor::kOutput, LayerTensor::kFeedForwardNorm,
                                   LayerTensor::kGate, LayerTensor::kUp, LayerTensor::kDown});
    architecture->complete_gguf(config);
    return config;
}

}  // namespace tessera
