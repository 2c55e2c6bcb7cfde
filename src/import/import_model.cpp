#include "import/import_model.h"

#include <algorithm>
#include <map>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "import/gguf/gguf_parts.h"
#include "import/model_graph.h"
#include "import/model_weights.h"
#include "import/quantised/quantising_weights.h"
#include "import/quantised/repacked_weights.h"
#include "import/resolve_model.h"
#include "support/error.h"

namespace tessera::import {
namespace {

/// "models/Qwen3-0.6B/" -> "Qwen3-0.6B", "Qwen3-00001-of-00002.gguf" -> "Qwen3".
std::string model_name(const std::filesystem::path& path) {
    const std::filesystem::path absolute = std::filesystem::absolute(path).lexically_normal();
    const std::filesystem::path last = absolute.has_filename() ? absolute : absolute.parent_path();
    return std::filesystem::is_directory(path) ? last.filename().string()
                                               : std::string(GgufParts::model_name(last.stem().string()));
}

/// Checks a type that only the settings state, when there are no tensors to ask.
void check_stated_type(const ModelConfig& config, Findings& findings) {
    const std::string& type = config.stated_type;
    if (!type.empty() && type != "float32" && type != "float16" && type != "bfloat16" && type != "auto")
        findings.unsupported.push_back(
            fmt::format("tensors of type {}: expected float32, float16 or bfloat16", type));
}

/// Checks all tensors, if the architecture does not tell which are needed.
void check_types(const WeightSource& weights, Findings& findings) {
    std::map<std::string, int64_t> counts;
    for (const std::string& name : weights.names()) ++counts[weights.find(name)->type];
    for (const auto& [type, count] : counts)
        if (!ops::weight_format_of(type))
            findings.unsupported.push_back(
                fmt::format("{} tensors of type {}: expected {}", count, type, ops::known_weight_formats()));
}

int64_t context_of(const ModelConfig& config, bool reads_whole, const ImportOptions& options,
                   const std::string& path) {
    if (options.context == 0)
        return std::min(config.max_positions, reads_whole ? kDefaultEncoderContext : kDefaultContext);
    if (options.context < 1 || options.context > config.max_positions)
        throw Error(path, "context",
                    fmt::format("is {}, expected 1 to {}, the positions of the model", options.context,
                                config.max_positions),
                    {}, ErrorKind::kUsage);
    return options.context;
}

/// The checkpoint, and the layers that its settings and tensors define.
ModelReport read_model(const std::filesystem::path& path, const Architectures& known) {
    ModelReport report{.checkpoint = open_checkpoint(path, known)};
    Checkpoint& checkpoint = report.checkpoint;
    if (!checkpoint.config) {
        if (checkpoint.weights) check_types(*checkpoint.weights, checkpoint.findings);
        return report;
    }
    if (checkpoint.config->layers_differ) return report;
    if (checkpoint.weights)
        report.spec = resolve_model(checkpoint, model_name(path));
    else
        check_stated_type(*checkpoint.config, checkpoint.findings);
    return report;
}

/// Checks that every constant of the graph has its tensor, of its shape and type.
void check_constants(const Graph& graph, const WeightSource& weights, const std::string& path) {
    for (const Value& value : graph.values) {
        if (value.kind != ValueKind::kConstant) continue;
        for (const std::string& source : value.sources) {
            const StoredTensor* tensor = weights.find(source);
            if (tensor && tensor->shape == value.part_shape(0) && tensor->element == value.type.element)
                continue;
            throw Error(
                path, source,
                fmt::format(
                    "is {}, the graph expects {} [{}]",
                    tensor ? fmt::format("{} [{}]", tensor->type, fmt::join(tensor->shape, ", ")) : "missing",
                    name(value.type.element), fmt::join(value.part_shape(0), ", ")));
        }
    }
}

/// @pre nothing of the report is unsupported, and there are weights
ImportedModel assemble(const ModelReport& report, const ImportOptions& options) {
    const Checkpoint& checkpoint = report.checkpoint;
    TESSERA_CHECK(options.max_tokens >= 1 && options.max_sequences >= 1, "{} tokens of {} sequences",
                  options.max_tokens, options.max_sequences);

    const ModelConfig& config = *checkpoint.config;
    const int64_t context =
        context_of(config, report.spec->is_encoder || report.spec->has_source, options, checkpoint.path);
    ModelSpec spec = *report.spec;
    // A step of an encoder takes a whole text.
    const int64_t tokens =
        spec.is_encoder || spec.has_source ? std::max(options.max_tokens, context) : options.max_tokens;
    spec.policy = options.policy;
    spec.gives_hidden = options.gives_hidden;
    std::shared_ptr<const WeightSource> weights;
    if (options.quantisation)
        weights =
            std::make_shared<const QuantisingWeights>(checkpoint.weights, apply(*options.quantisation, spec));
    else
        weights = std::make_shared<const RepackedWeights>(checkpoint.weights);
    spec.cache = options.cache ? *options.cache : cache_type(options.policy, cache_makers(spec));
    ImportedModel model{.graph = build_model(spec, {context, tokens, options.max_sequences}),
                        .weights = std::make_shared<const ModelWeights>(weights, config, spec, context),
                        .facts = {.architecture = config.name(),
                                  .format = checkpoint.format,
                                  .vocabulary = config.vocabulary,
                                  .context = context,
                                  .max_positions = config.max_positions,
                                  .end_ids = config.end_ids,
                                  .has_source = spec.has_source,
                                  .features = spec.features,
                                  .is_encoder = spec.is_encoder,
                                  .policy = spec.policy,
                                  .cache = spec.cache},
                        .warnings = checkpoint.findings.warnings};
    check_constants(model.graph, *model.weights, checkpoint.path);
    return model;
}

}  // namespace

ModelReport inspect_model(const std::filesystem::path& path, const Architectures& known) {
    ModelReport report = read_model(path, known);
    std::vector<std::string>& unsupported = report.checkpoint.findings.unsupported;
    if (!report.spec || !unsupported.empty()) return report;
    try {
        (void)assemble(report, {});
    } catch (const Error& error) {
        unsupported.emplace_back(error.what());
    }
    return report;
}

ImportedModel import_model(const std::filesystem::path& path, const ImportOptions& options) {
    const ModelReport report = read_model(path, options.architectures);
    const Checkpoint& checkpoint = report.checkpoint;
    const std::vector<std::string>& unsupported = checkpoint.findings.unsupported;
    if (!unsupported.empty())
        throw Error(checkpoint.path, "",
                    fmt::format("cannot be compiled:\n  - {}", fmt::join(unsupported, "\n  - ")));
    if (!report.spec)
        throw Error(checkpoint.path, "", "has no weights", "expected model.safetensors beside config.json");
    return assemble(report, options);
}

}  // namespace tessera::import
