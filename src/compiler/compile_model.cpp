#include "compiler/build_artefact.h"
#include "compiler/compiler.h"
#include "compiler/manifest_of.h"
#include "compiler/timed.h"
#include "import/import_model.h"
#include "llm/load_tokenizer.h"

namespace tessera {

CompileReport compile_model(const std::filesystem::path& model_path, const std::filesystem::path& out,
                            const CompileOptions& options) {
    CompileReport report;
    const ImportedModel model = timed("read-model", options, report, [&] {
        return import_model(model_path, {.context = options.context.value_or(0),
                                         .policy = options.policy,
                                         .cache = options.cache_type,
                                         .quantisation = options.quantisation});
    });
    ModelTokenizer tokenizer = inspect_tokenizer(model_path);
    std::vector<std::string> warnings = model.warnings;
    if (!tokenizer.problem.empty()) warnings.push_back(tokenizer.problem);
    build_artefact({.graph = model.graph,
                    .weights = *model.weights,
                    .text = text_of(model.facts),
                    .tokenizer = std::move(tokenizer.files),
                    .where = model_path.string(),
                    .warnings = std::move(warnings)},
                   out, options, report);
    return report;
}

}  // namespace tessera
