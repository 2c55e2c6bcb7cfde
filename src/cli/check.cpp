#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/ranges.h>

#include "cli/number_checks.h"
#include "cli/verb.h"
#include "import/import_model.h"
#include "import/repeating_groups.h"
#include "run/llm/load_tokenizer.h"
#include "support/error.h"
#include "support/printable.h"

namespace tessera::cli {
namespace {

template <typename... Arguments>
void row(std::string_view label, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::print("{:<14}{}\n", label, printable(fmt::format(format, std::forward<Arguments>(arguments)...)));
}

std::string scaling_text(const import::RopeConfig& rope) {
    using enum import::RopeConfig::Scaling;
    switch (rope.scaling) {
        case kNone:
            return "";
        case kLinear:
            return fmt::format(", linear factor {}", rope.factor);
        case kLlama3:
            return fmt::format(", llama3 factor {} from {} positions", rope.factor, rope.original_context);
        case kYarn:
            return fmt::format(", yarn factor {} from {} positions", rope.factor, rope.original_context);
        case kLongRope:
            return fmt::format(", longrope from {} positions", rope.original_context);
    }
    return "";
}

std::string rope_text(const import::DecoderConfig& config) {
    const bool is_global = config.form.has(import::LayerRope::kGlobal);
    const bool is_local = config.form.has(import::LayerRope::kLocal);
    if (!is_global && !is_local) return "none: learned positions";
    std::string text = config.rope_form == ops::RopeForm::kPairs ? "pairs" : "halves";
    if (is_global) {
        text += fmt::format(", base {}{}", config.rope.base, scaling_text(config.rope));
        if (config.rope.amplitude != 1) text += fmt::format(", times {}", config.rope.amplitude);
    }
    if (is_local)
        text += fmt::format(", base {}{} in layers with a window", config.local_rope.base,
                            scaling_text(config.local_rope));
    if (config.rope.rotated != 0)
        text += fmt::format(", {} of {} elements", config.rope.rotated, config.size.head_width);
    if (config.form.has(import::LayerRope::kNone)) text += ", none in some layers";
    return text;
}

std::string window_text(const import::DecoderForm& form) {
    const auto windowed = std::ranges::count(form.layers, true, &import::LayerKind::is_windowed);
    return fmt::format("{} tokens in {} of {} layers", form.window, windowed, form.layers.size());
}

void print_config(const import::DecoderConfig& config) {
    const import::DecoderSize& size = config.size;
    row("layers", "{}", size.layers);
    row("hidden", "{}, feed-forward {}", size.hidden, size.feed_forward);
    row("heads", "{} of {}, {} in the cache", size.heads, size.head_width, size.cache_heads);
    row("vocabulary", "{}", size.vocabulary);
    row("positions", "{}", config.max_positions);
    row("rope", "{}", rope_text(config));
    if (config.form.window > 0) row("window", "{}", window_text(config.form));
    row("epsilon", "{}", config.epsilon);
}

void print_spec(const import::DecoderSpec& spec) {
    std::string groups;
    for (const import::LayerGroup& group : import::group_layers(spec))
        groups += fmt::format("{}{} kind{} x {}", groups.empty() ? "" : ", ", group.period,
                              group.period == 1 ? "" : "s", group.repeats);
    row("groups", "{}", groups);
    row("head", "{}", spec.is_tied ? "tied to the embedding" : "of its own");
}

void print_tensors(const import::WeightSource& weights) {
    std::map<std::string, int64_t> types;
    double bytes = 0;
    for (const std::string& name : weights.names()) {
        const import::StoredTensor& tensor = *weights.find(name);
        ++types[tensor.type];
        bytes += static_cast<double>(tensor.bytes.size());
    }
    std::string counts;
    for (const auto& [type, count] : types)
        counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", count, type);
    row("tensors", "{}; {:.1f} MB", counts.empty() ? "none" : counts, bytes / 1e6);
}

/// The tokenizer and the chat template that exist; those that cannot be used are warnings, as they are for
/// `tessera compile`.
void print_text(const import::Checkpoint& checkpoint, import::Findings& findings) {
    if (checkpoint.tokenizer.empty()) {
        row("tokenizer", "none: `run` needs tokenizer.json, tokenizer.model, or vocab.json and merges.txt");
        return;
    }
    const llm::ModelTokenizer found = llm::inspect_tokenizer(checkpoint.path);
    const auto add = [&](const std::string& problem) {
        if (!problem.empty()) findings.warnings.push_back(problem);
        return problem.empty() ? "" : ", not supported";
    };
    row("tokenizer", "{}{}", checkpoint.tokenizer, add(found.problem));
    if (found.has_chat_template) row("template", "yes{}", add(found.chat_problem));
}

int check(const std::string& model) {
    if (std::filesystem::path(model).extension() == ".ir" && !std::filesystem::is_directory(model))
        throw Error(model, "", "is a program, not a model",
                    "`tessera compile FILE.ir -o OUT.tsr` says what is not supported");
    import::ModelReport report = import::inspect_model(model);
    import::Checkpoint& checkpoint = report.checkpoint;
    row("model", "{} ({})", checkpoint.path, checkpoint.format);
    row("architecture", "{}", checkpoint.config ? checkpoint.config->architecture : "not supported");
    if (checkpoint.config) print_config(*checkpoint.config);
    if (report.spec) print_spec(*report.spec);
    if (checkpoint.weights)
        print_tensors(*checkpoint.weights);
    else
        row("tensors", "none: settings only");
    print_text(checkpoint, checkpoint.findings);
    for (const std::string& warning : checkpoint.findings.warnings) row("warning", "{}", warning);
    for (const std::string& problem : checkpoint.findings.unsupported) row("unsupported", "{}", problem);
    if (checkpoint.findings.unsupported.empty()) row("supported", "yes");
    return checkpoint.findings.unsupported.empty() ? 0 : 1;
}

}  // namespace

Verb check_verb() {
    return {.name = "check",
            .help = "tell what a model is, and all of it that is not supported",
            .examples = {"tessera check models/Qwen3-0.6B", "tessera check model.gguf",
                         "tessera check config.json"},
            .declare = [](CLI::App& app, const Environment&) -> Job {
                const auto model = std::make_shared<std::string>();
                app.add_option("MODEL", *model,
                               "a folder with config.json, a GGUF file, or a config.json alone")
                    ->required()
                    ->check(not_empty());
                return [model] { return check(*model); };
            }};
}

}  // namespace tessera::cli
