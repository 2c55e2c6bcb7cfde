#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/ranges.h>

#include "cli/first_use.h"
#include "cli/number_checks.h"
#include "cli/onnx_flags.h"
#include "cli/verb.h"
#include "compiler/import_options.h"
#include "import/import_model.h"
#include "import/onnx/import_onnx.h"
#include "import/repeating_groups.h"
#include "run/llm/load_tokenizer.h"
#include "support/error.h"
#include "support/printable.h"

namespace tessera::cli {
namespace {

template <typename... Arguments>
void row(std::string_view label, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::print("{:<13} {}\n", label, printable(fmt::format(format, std::forward<Arguments>(arguments)...)));
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
        case kProportional:
            return fmt::format(", {} pairs of a head stay", rope.still);
        case kLongRope:
            return fmt::format(", longrope from {} positions", rope.original_context);
    }
    return "";
}

std::string rope_text(const import::ModelRope& rope) {
    std::string text = fmt::format("base {}{}", rope.config.base, scaling_text(rope.config));
    if (rope.config.amplitude != 1) text += fmt::format(", times {}", rope.config.amplitude);
    if (rope.config.rotated != 0) text += fmt::format(", {} of {} elements", rope.config.rotated, rope.width);
    return text;
}

/// The settings as the text of the architecture calls them, in its order; of those by layer, the layers.
void print_config(const import::ModelConfig& config) {
    for (const import::Setting& setting : config.architecture->settings) {
        if (const auto one = config.settings.find(setting.name); one != config.settings.end()) {
            row(setting.name, "{}", print(one->second));
            continue;
        }
        const std::vector<import::Scalar>& all = config.settings_of_layers.at(setting.name);
        std::string runs;
        for (size_t begin = 0, end = 0; begin < all.size(); begin = end) {
            while (end < all.size() && all[end] == all[begin]) ++end;
            runs += fmt::format("{}{} x {}", runs.empty() ? "" : ", ", print(all[begin]), end - begin);
        }
        row(setting.name, "{}", runs);
    }
    for (const auto& [name, rope] : config.ropes) row(name, "{}", rope_text(rope));
}

void print_spec(const import::ModelSpec& spec) {
    std::string groups;
    for (const import::LayerGroup& group : import::group_layers(spec))
        groups += fmt::format("{}{} kind{} x {}", groups.empty() ? "" : ", ", group.period,
                              group.period == 1 ? "" : "s", group.repeats);
    row("groups", "{}", groups);
    row("head", "{}", spec.is_tied() ? "tied to the embedding" : "of its own");
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

/// An ONNX model: all of it that is not supported, each node with its reason.
int check_onnx(const std::string& file, const OnnxFlags& flags) {
    const import::onnx::ImportedModel model =
        import::onnx::import_onnx(file, compiler::import_options(onnx_settings(flags)));
    row("model", "{} (ONNX, IR version {})", file, model.text.ir_version);
    if (!model.text.producer.empty()) row("producer", "{}", model.text.producer);
    for (const auto& [domain, version] : model.text.opsets)
        row("opset", "{}{}", version, domain.empty() ? "" : " of " + domain);
    std::map<std::string, int64_t> operators;
    for (const import::onnx::NodeText& node : model.text.graph.nodes)
        ++operators[node.domain.empty() ? node.op_type : node.domain + "." + node.op_type];
    std::string counts;
    for (const auto& [name, count] : operators)
        counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", count, name);
    row("operators", "{}", counts);
    for (const import::onnx::Port& port : model.inputs) row("input", "{}", port.name);
    for (const import::onnx::Unsupported& each : model.unsupported) row("unsupported", "{}", print(each));
    if (model.unsupported.empty()) row("supported", "yes");
    return model.unsupported.empty() ? 0 : 1;
}

int check(const std::string& model, const import::Architectures& known) {
    if (std::filesystem::path(model).extension() == ".ir" && !std::filesystem::is_directory(model))
        throw Error(model, "", "is a program, not a model",
                    "`tessera compile FILE.ir -o OUT.tsr` says what is not supported");
    import::ModelReport report = import::inspect_model(model, known);
    import::Checkpoint& checkpoint = report.checkpoint;
    row("model", "{} ({})", checkpoint.path, checkpoint.format);
    row("architecture", "{}", checkpoint.config ? checkpoint.config->name() : "not supported");
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
                struct CheckArguments {
                    std::string model, architecture;
                    OnnxFlags onnx;
                };
                const auto options = std::make_shared<CheckArguments>();
                app.add_option(
                       "MODEL", options->model,
                       "a folder with config.json, a GGUF file, an ONNX model, or a config.json alone")
                    ->required()
                    ->check(not_empty());
                add_architecture_flag(app, options->architecture);
                add_onnx_flags(app, options->onnx);
                return [options] {
                    const std::filesystem::path path = options->model;
                    if (path.extension() == ".onnx" && !std::filesystem::is_directory(path))
                        return check_onnx(options->model, options->onnx);
                    return check(options->model, architectures_of(options->architecture));
                };
            }};
}

}  // namespace tessera::cli
