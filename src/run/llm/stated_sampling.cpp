#include "run/llm/stated_sampling.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "import/gguf/gguf_parts.h"
#include "run/llm/file_source.h"
#include "run/llm/tokenizer_sources.h"
#include "support/error.h"
#include "support/json.h"

namespace tessera::llm {
namespace {

constexpr std::string_view kGenerationConfig = "generation_config.json";
constexpr double kLargest = std::numeric_limits<double>::max();
/// The window of the penalty, which in `transformers` is the whole text.
constexpr int64_t kWholeText = std::numeric_limits<int64_t>::max();

/// Reads settings. A wrong one is reported and changes nothing: it must not keep a model from running.
class Reader {
public:
    explicit Reader(StatedSampling& stated) : stated_(stated) {}

    template <typename Read>
    auto read(std::string_view name, const Read& read) -> decltype(read()) {
        try {
            return read();
        } catch (const Error& error) {
            stated_.not_followed.push_back(fmt::format("{} {}", name, error.problem));
            return std::nullopt;
        }
    }
    void tell(std::string_view name, const std::string& shown) {
        stated_.not_followed.push_back(fmt::format("{} is {}", name, shown));
    }

private:
    StatedSampling& stated_;
};

struct Neutral {
    const char* name;
    double value;
};

/// Unsupported settings of `transformers` 5 for logits or texts, each with its neutral value.
constexpr std::array<Neutral, 19> kNotFollowed = {{{"num_beams", 1},
                                                   {"num_beam_groups", 1},
                                                   {"penalty_alpha", 0},
                                                   {"no_repeat_ngram_size", 0},
                                                   {"encoder_repetition_penalty", 1},
                                                   {"encoder_no_repeat_ngram_size", 0},
                                                   {"epsilon_cutoff", 0},
                                                   {"eta_cutoff", 0},
                                                   {"top_h", 1},
                                                   {"guidance_scale", 1},
                                                   {"diversity_penalty", 0},
                                                   {"bad_words_ids", 0},
                                                   {"suppress_tokens", 0},
                                                   {"begin_suppress_tokens", 0},
                                                   {"sequence_bias", 0},
                                                   {"forced_bos_token_id", 0},
                                                   {"forced_eos_token_id", 0},
                                                   {"exponential_decay_length_penalty", 0},
                                                   {"watermarking_config", 0}}};

StatedSampling read_generation_config(FileSource& files) {
    StatedSampling stated;
    if (!files.contains(kGenerationConfig)) return stated;
    const JsonCursor root = parse_json(files.read(kGenerationConfig), files.where(kGenerationConfig));
    if (!root.is_object()) return stated;
    Reader reader(stated);
    const auto number = [&](const char* name, double low, double high) {
        return reader.read(name, [&]() -> std::optional<double> {
            const auto field = root.find(name);
            return field ? std::optional(field->real(low, high)) : std::nullopt;
        });
    };
    SamplingChoices& choices = stated.choices;
    constexpr double kAboveZero = std::numeric_limits<double>::min();
    choices.temperature = number("temperature", 0, kLargest);
    choices.top_p = number("top_p", kAboveZero, 1);
    choices.min_p = number("min_p", 0, 1);
    choices.typical_p = number("typical_p", kAboveZero, 1);
    choices.repetition_penalty = number("repetition_penalty", kAboveZero, kLargest);
    if (choices.repetition_penalty) choices.repetition_window = kWholeText;
    // Some files write -1 for all tokens, and some numbers have a decimal point.
    if (const auto k = number("top_k", -1, 1e9)) choices.top_k = std::max<int64_t>(0, std::llround(*k));
    const auto draws = reader.read("do_sample", [&]() -> std::optional<bool> {
        const auto field = root.find("do_sample");
        return field ? std::optional(field->boolean()) : std::nullopt;
    });
    if (draws == true && !choices.temperature) choices.temperature = 1;
    if (draws == false) choices.temperature = 0;
    for (const auto& [name, neutral] : kNotFollowed)
        if (const auto field = root.find(name);
            field && !field->is_empty() && !field->is_off() && !field->is_equal(neutral))
            reader.tell(name, field->shown());
    if (choices != SamplingChoices{} || !stated.not_followed.empty()) stated.where = kGenerationConfig;
    return stated;
}

/// Reads the keys that llama.cpp reads since November 2025.
StatedSampling read_keys(const import::GgufMetadata& metadata) {
    StatedSampling stated;
    Reader reader(stated);
    const auto number = [&](const char* name, double low, double high) {
        return reader.read(name, [&]() -> std::optional<double> {
            const auto value = metadata.get_f32(fmt::format("general.sampling.{}", name));
            if (!value) return std::nullopt;
            if (!(*value >= low && *value <= high))
                throw Error("", "", fmt::format("is {}, expected {} to {}", *value, low, high));
            return *value;
        });
    };
    const auto whole = [&](const char* name, int64_t low) {
        return reader.read(name, [&]() -> std::optional<int64_t> {
            const auto value = metadata.get_integer(fmt::format("general.sampling.{}", name));
            if (value && *value < low)
                throw Error("", "", fmt::format("is {}, expected {} or more", *value, low));
            return value;
        });
    };
    SamplingChoices& choices = stated.choices;
    constexpr double kAboveZero = std::numeric_limits<double>::min();
    if (const auto temperature = number("temp", -kLargest, kLargest))
        choices.temperature = std::max(0.0, *temperature);
    if (const auto k = whole("top_k", INT32_MIN)) choices.top_k = std::max<int64_t>(0, *k);
    choices.top_p = number("top_p", kAboveZero, 1);
    choices.min_p = number("min_p", 0, 1);
    choices.repetition_penalty = number("penalty_repeat", kAboveZero, kLargest);
    if (const auto window = whole("penalty_last_n", -1))
        choices.repetition_window = *window == -1 ? kWholeText : *window;
    if (const auto xtc = number("xtc_probability", -kLargest, kLargest); xtc.value_or(0) > 0)
        reader.tell("xtc_probability", fmt::format("{}", *xtc));
    if (const auto mirostat = whole("mirostat", 0); mirostat.value_or(0) != 0)
        reader.tell("mirostat", fmt::format("{}", *mirostat));
    if (choices != SamplingChoices{} || !stated.not_followed.empty()) stated.where = "general.sampling";
    return stated;
}

}  // namespace

StatedSampling read_stated_sampling(const std::filesystem::path& model) {
    if (!std::filesystem::is_directory(model))
        return read_keys(import::GgufParts::open_first(model).metadata());
    FileSource files(model);
    return read_generation_config(files);
}

StatedSampling read_stated_sampling(std::span<const runtime::NamedFile> named, const std::string& where) {
    FileSource files(named, where);
    if (!files.contains(kTokenizerGguf)) return read_generation_config(files);
    const std::string_view text = files.read(kTokenizerGguf);
    return read_keys(
        import::GgufFile::parse(std::as_bytes(std::span(text)), files.where(kTokenizerGguf)).metadata());
}

SamplingOptions with(SamplingOptions base, const SamplingChoices& choices) {
    const auto set = [](auto& value, const auto& chosen) {
        if (chosen) value = *chosen;
    };
    set(base.temperature, choices.temperature);
    set(base.top_k, choices.top_k);
    set(base.top_p, choices.top_p);
    set(base.min_p, choices.min_p);
    set(base.typical_p, choices.typical_p);
    set(base.repetition_penalty, choices.repetition_penalty);
    set(base.repetition_window, choices.repetition_window);
    return base;
}

SamplingOptions decided(const StatedSampling& stated, const SamplingOptions& otherwise) {
    const SamplingChoices& says = stated.choices;
    SamplingOptions base = otherwise;
    if (says.temperature || says.top_k || says.top_p || says.min_p || says.typical_p) {
        const SamplingOptions neutral{.temperature = 1};
        base.temperature = neutral.temperature;
        base.top_k = neutral.top_k;
        base.top_p = neutral.top_p;
        base.min_p = neutral.min_p;
        base.typical_p = neutral.typical_p;
    }
    return with(std::move(base), says);
}

std::string describe(const SamplingOptions& options) {
    const SamplingOptions neutral;
    std::string text;
    // Files of GGUF hold F32: 0.6 is 0.6000000238 there.
    const auto add = [&](const char* name, auto value, auto nothing) {
        if (value != nothing)
            text += fmt::format("{}{} {:.6g}", text.empty() ? "" : ", ", name, static_cast<double>(value));
    };
    if (options.temperature == 0) {
        text = "the most probable tokens";
    } else {
        text = fmt::format("temperature {:.6g}", options.temperature);
        add("top-k", options.top_k, neutral.top_k);
        add("top-p", options.top_p, neutral.top_p);
        add("min-p", options.min_p, neutral.min_p);
        add("typical-p", options.typical_p, neutral.typical_p);
    }
    add("repetition penalty", options.repetition_penalty, neutral.repetition_penalty);
    add("frequency penalty", options.frequency_penalty, neutral.frequency_penalty);
    add("presence penalty", options.presence_penalty, neutral.presence_penalty);
    return text;
}

}  // namespace tessera::llm
