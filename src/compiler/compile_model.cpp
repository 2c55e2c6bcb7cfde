#include "compiler/build_artefact.h"
#include "compiler/build_ranks.h"
#include "compiler/compiler.h"
#include "compiler/manifest_of.h"
#include "compiler/timed.h"
#include "import/import_model.h"
#include "run/llm/load_tokenizer.h"
#include "run/llm/read_pooling.h"
#include "support/error.h"
#include "support/printable.h"

namespace tessera::compiler {

CompileReport compile_model(const std::filesystem::path& model_path, const std::filesystem::path& out,
                            const CompileOptions& options) {
    check_outputs(out, options);
    std::error_code missing;
    if (std::filesystem::equivalent(model_path, out, missing))
        throw Error(out.string(), "", "is the model itself, which the artefact would replace",
                    "write the artefact to another file");
    CompileReport report;
    auto model = timed("read-model", options, report, [&] {
        const auto text = options.architecture;
        return import::import_model(model_path, {.context = options.context.value_or(0),
                                                 .policy = options.policy,
                                                 .cache = options.cache_type,
                                                 .quantisation = options.quantisation,
                                                 .gives_hidden = options.embeddings,
                                                 .architectures = text ? import::Architectures({&*text, 1})
                                                                       : import::Architectures()});
    });
    model.graph.name = valid_utf8(model.graph.name);
    llm::ModelTokenizer tokenizer = llm::inspect_tokenizer(model_path);
    std::vector<std::string> warnings = model.warnings;
    if (!tokenizer.problem.empty()) warnings.push_back(tokenizer.problem);
    if (!tokenizer.chat_problem.empty()) warnings.push_back(tokenizer.chat_problem);
    runtime::Manifest::Text text = text_of(model.facts);
    if (options.embeddings) {
        llm::StatedPooling stated = llm::read_pooling(model_path);
        text.pooling = std::move(stated.pooling);
        text.normalises = stated.normalises;
    }
    const auto build = options.ranks ? build_ranks : build_artefact;
    build({.graph = model.graph,
           .weights = *model.weights,
           .text = std::move(text),
           .tokenizer = std::move(tokenizer.files),
           .where = model_path.string(),
           .warnings = std::move(warnings)},
          out, options, report);
    return report;
}

}  // namespace tessera::compiler
