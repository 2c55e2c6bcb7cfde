#include "import/import_shapes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "import/diffusion_transformer.h"
#include "import/hf/config.h"
#include "import/model_graph.h"
#include "import/policy.h"
#include "import/resolve_model.h"
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

fs::path config_at(const fs::path& path) {
    fs::path file = fs::is_directory(path) ? path / "config.json" : path;
    if (!fs::exists(file))
        throw Error(file.string(), "", "does not exist", "expected a HuggingFace config.json");
    return file;
}

/// That of the file, or of the folder of a config.json.
std::string planned_name(const fs::path& file) {
    return file.stem() == "config" ? fs::absolute(file).parent_path().filename().string()
                                   : file.stem().string();
}

void refuse_findings(const fs::path& file, const Findings& findings) {
    if (findings.unsupported.empty()) return;
    throw Error(file.string(), "",
                fmt::format("cannot be planned:\n  - {}", fmt::join(findings.unsupported, "\n  - ")));
}

}  // namespace

bool is_diffusion_model(const fs::path& path) {
    return is_diffusion_config(config_at(path));
}

ImportedShapes import_diffusion_shapes(const fs::path& path, int64_t images) {
    const fs::path file = config_at(path);
    Findings findings;
    const DiffusionConfig config = read_diffusion_config(file, findings);
    const ElementType type = *ops::element_of(stated_format(config.stated_type, findings));
    refuse_findings(file, findings);
    return {.graph = build_diffusion_transformer(planned_name(file),
                                                 {.config = config, .images = images, .weight = type}),
            .type = std::string(tessera::name(type)),
            .max_positions = config.patches(),
            .warnings = findings.warnings};
}

ImportedShapes import_shapes(const fs::path& path, const StepLimits& limits, const Architectures& known) {
    const fs::path file = config_at(path);
    Findings findings;
    const std::optional<ModelConfig> config = read_hf_config(file.string(), known, findings);
    const ops::WeightFormat format = stated_format(config ? config->stated_type : "", findings);
    if (config && config->layers_differ)
        findings.unsupported.push_back("layers of different sizes: expected one size for all");
    refuse_findings(file, findings);

    ModelSpec spec = assume_model(*config, planned_name(file), format);
    spec.policy = Policy::kDefault;
    spec.cache = cache_type(Policy::kDefault, std::span(&format, 1));
    for (const SpecPart& layer : spec.layers)
        for (const PartStep& step : layer.steps)
            if (step.is_call("experts"))
                findings.unsupported.push_back(
                    "a mixture of experts: which of them a token needs is not known before");
    if (!findings.unsupported.empty()) findings.unsupported.resize(1);
    refuse_findings(file, findings);
    return {.graph = build_model(spec, limits),
            .type = std::string(tessera::name(ops::element_of(format).value())),
            .max_positions = config->max_positions,
            .warnings = findings.warnings};
}

}  // namespace tessera::import
