#include "import/gguf/gguf_config.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "import/architecture/ignored_settings.h"
#include "import/architecture/read_settings.h"
#include "import/end_ids.h"
#include "import/gguf/gguf_settings.h"
#include "import/rope_bases.h"
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
    const int64_t found = reader.integer("rope.scaling.original_context_length", 0, limits::kPositions, 0);
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
RopeConfig read_gguf_rope(GgufReader& reader, const RopeText& text, double base, int64_t max_positions) {
    GgufSettings& settings = reader.settings;
    const bool has_longrope = text.has_longrope;
    RopeConfig rope;
    rope.base = base;
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

/// The elements of a head that are rotated.
void read_rotated(GgufReader& reader, const RopeText& text, int64_t layers, ModelRope& rope) {
    // Layers with a window may have a number of their own, as they have a base.
    constexpr const char* kOfWindows = "rope.dimension_count_swa";
    const bool is_of_windows =
        std::ranges::find(text.gguf.names, "rope.freq_base_swa") != text.gguf.names.end();
    const std::string key =
        reader.key(is_of_windows && reader.has(kOfWindows) ? kOfWindows : "rope.dimension_count");
    const std::vector<int64_t> all = reader.settings.integers(key);
    if (all.empty()) return;
    const bool are_alike = std::ranges::all_of(all, [&](int64_t each) { return each == all.front(); });
    const int64_t rotated = all.front();
    if (rotated == rope.width && are_alike) return;
    const bool has_list = reader.settings.is_list(key);
    if (!text.has_gguf_part || !are_alike || rotated < 1 || rotated > rope.width || rotated % 2 != 0 ||
        (has_list && std::ssize(all) != layers))
        return reader.settings.refuse(key, "rotation of a part of each head");
    rope.config.rotated = rotated;
}

void read_gguf_ropes(GgufReader& reader, ModelConfig& config) {
    constexpr double kLowestBase = 1e-3, kHighestBase = 1e15;
    bool is_first = true;
    for (const RopeText& text : config.architecture->ropes) {
        double base = text.gguf.absent
                          ? number_of(evaluate(text.gguf.absent, config.scope(), text.where), text.where)
                          : 0;
        bool is_stated = text.gguf.absent != nullptr;
        for (const std::string& name : text.gguf.names)
            if (reader.has(name)) {
                base = reader.real(name, kLowestBase, kHighestBase);
                is_stated = true;
                break;
            }
        if (!is_stated && !text.gguf.names.empty())  // names the key that is missing
            base = reader.real(text.gguf.names.front(), kLowestBase, kHighestBase);
        ModelRope rope;
        rope.width = integer_of(evaluate(text.width, config.scope(), text.where), text.where);
        // The scaling is that of the first tables; others have a base of their own alone.
        if (is_first && !text.is_fixed)
            rope.config = read_gguf_rope(reader, text, base, config.max_positions);
        else
            rope.config.base = base;
        is_first = false;
        if (const Scalar level =
                text.gguf_level ? evaluate(text.gguf_level, config.scope(), text.where) : Scalar{Null{}};
            !level.is_null())
            rope.config.amplitude = number_of(level, text.where);
        read_rotated(reader, text, config.layers, rope);
        config.ropes[text.name] = rope;
    }
    set_rope_bases(config);
}

/// Checks that no single range covers.
void check_gguf_ropes(GgufReader& reader, const ModelConfig& config) {
    for (const auto& [name, rope] : config.ropes)
        if (rope.width < 1 || rope.width > limits::kHeadWidth ||
            rotated_elements(rope.config, rope.width) % 2 != 0)
            throw Error(reader.settings.path(), reader.key("attention.key_length"),
                        fmt::format("is {}, expected an even number", rope.width),
                        "without the key it is embedding_length / head_count");
}

/// The metadata behind "ARCH.".
class GgufSettingsFile final : public SettingsFile {
public:
    GgufSettingsFile(GgufReader& reader, const GgufParts& parts, int64_t embedding_rows)
        : reader_(reader), parts_(parts), embedding_rows_(embedding_rows) {}

    const FormatNames& names_of(const Setting& setting) const override { return setting.gguf; }
    bool is_stated(const std::string& field) override { return reader_.has(field); }
    bool is_null(const std::string&) override { return false; }
    bool is_list(const std::string& field) override { return reader_.settings.is_list(reader_.key(field)); }

    Scalar read(const std::string& field, const Setting& setting, int64_t low, int64_t high) override {
        if (!may_be_list(setting) || !is_list(field)) return {reader_.integer(field, low, high)};
        const std::vector<int64_t> numbers = reader_.settings.integers(reader_.key(field));
        for (const int64_t each : numbers)
            if (each < low || each > high)
                throw Error(path(), reader_.key(field),
                            fmt::format("is {}, expected an integer from {} to {}", each, low, high));
        return {list_of(setting, numbers)};
    }
    Scalar read(const std::string& field, const Setting& setting, double low, double high) override {
        if (!may_be_list(setting) || !is_list(field)) return {reader_.real(field, low, high)};
        std::vector<Scalar> all;
        for (const double each : reader_.settings.reals(reader_.key(field))) {
            if (!(each >= low && each <= high))
                throw Error(path(), reader_.key(field),
                            fmt::format("is {}, expected a number from {} to {}", each, low, high));
            append(all, each);
        }
        return {std::move(all)};
    }
    Scalar read(const std::string& field, const Setting& setting) override {
        if (setting.type == SettingType::kBool) return {reader_.settings.boolean(reader_.key(field), false)};
        return {reader_.settings.text(reader_.key(field)).value_or("")};
    }
    std::string shown(const std::string& field) override {
        return reader_.settings.shown(reader_.key(field));
    }
    void refuse(const std::string& field, const std::string& what) override {
        reader_.settings.refuse(reader_.key(field), what);
    }
    void warn(const std::string& field, const std::string& what) override {
        reader_.settings.warn(reader_.key(field), what);
    }
    void ignore(const std::string& field) override { reader_.ignore(field); }
    const std::string& path() const override { return reader_.settings.path(); }
    std::string place_of(const std::string& field) const override { return reader_.key(field); }
    bool is_gguf() const override { return true; }
    int64_t embedding_rows() const override { return embedding_rows_; }
    bool has_tensor(const std::string& name) const override { return parts_.find_tensor(name) != nullptr; }

private:
    static bool may_be_list(const Setting& setting) {
        return setting.is_list || setting.is_alike || setting.is_per_layer;
    }

    GgufReader& reader_;
    const GgufParts& parts_;
    int64_t embedding_rows_;
};

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

void read_token_ids(GgufSettings& settings, ModelConfig& config, Findings& findings) {
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

std::optional<ModelConfig> read_gguf_config(const GgufFile& file, const GgufParts& parts,
                                            const Architectures& known, Findings& findings) {
    GgufSettings settings(file, findings);
    const auto name = settings.text("general.architecture");
    if (!name)
        throw Error(file.path(), "general.architecture", "is missing, expected the name of an architecture");
    GgufReader reader{settings, *name};
    const auto architecture = known.find_gguf(*name);
    if (!architecture) {
        refuse_unsupported_keys(reader);
        findings.unsupported.push_back(
            fmt::format("architecture {}: known are {}", shown(*name), known.gguf_names()));
        return std::nullopt;
    }
    constexpr const char* kEmbedding = "token_embd.weight";
    const GgufTensor* embedding = parts.find_tensor(kEmbedding);
    if (!embedding || embedding->dimensions.size() != 2)
        throw Error(file.path(), kEmbedding, "is missing or no matrix, expected the embedding");

    ModelConfig config{.architecture = architecture};
    GgufSettingsFile settings_file(reader, parts, embedding->dimensions[1]);
    read_settings(settings_file, config);
    read_gguf_ropes(reader, config);
    read_token_ids(settings, config, findings);
    ignore_settings(settings_file, config);
    if (!config.layers_differ) judge_settings(settings_file, config);
    refuse_unsupported_keys(reader);
    if (!config.layers_differ) check_gguf_ropes(reader, config);
    account_for_rest(reader, findings);
    return config;
}

}  // namespace tessera::import
