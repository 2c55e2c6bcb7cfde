#pragma once

#include "compiler/build_artefact.h"

namespace tessera::compiler {

/// All passes after the import for several ranks: the graph is rewritten, distributed, and compiled for each
/// rank with its part of the weights, into one file. Ranks whose programs are the same share a compilation.
/// @pre options.ranks @throws Error where the model does not fit, with what would
void build_ranks(const ModelParts& parts, const std::filesystem::path& out, const CompileOptions& options,
                 CompileReport& report);

}  // namespace tessera::compiler
