#include "import/import_shapes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "import/decoder.h"
#include "import/hf/config.h"
#include "import/policy.h"
#include "support/error.h"

namespace tessera::import {
namespace {

namespace fs = std::filesystem;

/// The format of all weights that the settings state.
ops::WeightFormat stated_format(const std::string& type, Findings& findings) {
    if (type.empty() || type == "auto" || type == "bfloat16") return ops::WeightFormat::kBF16;
    if (type == "float16") return ops::WeightFormat::kF16;
    if (type == "float32") return ops::WeightFormat::kF32;
    findings.unsupported.push_back(
        fmt::format("tensors of type {}: expected float32, float16 or bfloat16", type));
    return ops::WeightFormat::kBF16;
}

}  // namespace

ImportedShapes import_shapes(const fs::path& path, const StepLimits& limits) {
    const fs::path file = fs::is_directory(path) ? path / "config.json" : path;
    if (!fs::exists(file))
        throw Error(file.string(), "", "does not exist", "expected a HuggingFace config.json");
    Findings findings;
    const std::optional<DecoderConfig> config = read_hf_config(file.string(), findings);
    const ops::WeightFormat format = stated_format(config ? config->stated_type : "", findings);
    if (config && config->layers_differ)
        findings.unsupported.push_back("layers of different sizes: expected one size for all");
    if (config && config->size.experts > 0)
        findings.unsupported.push_back(
            "a mixture of experts: which of them a token needs is not known before");
    if (!findings.unsupported.empty())
        throw Error(file.string(), "",
                    fmt::format("cannot be planned:\n  - {}", fmt::join(findings.unsupported, "\n  - ")));

    DecoderSpec spec{.name = file.stem() == "config" ? fs::absolute(file).parent_path().filename().string()
                                                     : file.stem().string(),
                     .size = config->size,
                     .epsilon = config->epsilon,
                     .rope_form = config->rope_form,
                     .is_tied = config->is_tied.value_or(false),
                     .names = config->names,
                     .embedding = format,
                     .final_norm = format,
                     .head = format,
                     .form = config->form,
                     .policy = Policy::kDefault,
                     .cache = cache_type(Policy::kDefault, std::span(&format, 1))};
    LayerFormats layer{};
    for (size_t i = 0; i < kLayerTensors; ++i)
        if (config->tensors[i] == Presence::kAlways) layer[i] = format;
    spec.layers.assign(static_cast<size_t>(config->size.layers), layer);
    return {.graph = build_decoder(spec, limits),
            .type = std::string(tessera::name(ops::element_of(format).value())),
            .max_positions = config->max_positions,
            .warnings = findings.warnings};
}

}  // namespace tessera::import
