#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "compiler/compiler.h"
#include "import/weights.h"
#include "runtime/artefact.h"

namespace tessera {

/// What an artefact is built from, be it read from a checkpoint or from another artefact.
struct ModelParts {
    const Graph& graph;
    const WeightSource& weights;  ///< of all constants of the graph
    std::optional<Manifest::Text> text;
    std::vector<NamedFile> tokenizer;
    std::string where;                  ///< the file or folder, for errors
    std::vector<std::string> warnings;  ///< for whoever compiles or runs it
};

/// All passes after the import: plan, code, packed weights. Adds to the report.
void build_artefact(const ModelParts& parts, const std::filesystem::path& out, const CompileOptions& options,
                    CompileReport& report);

}  // namespace tessera
