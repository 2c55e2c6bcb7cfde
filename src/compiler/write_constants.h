#pragma once

#include <string>

#include "compiler/compiler.h"
#include "import/weights.h"
#include "runtime/artefact.h"

namespace tessera::compiler {

/// Packs every constant of the graph into the artefact, in the order of its section. Tensors pass one at a
/// time and in pieces: besides the pages of the source that were touched last, nothing of them is in memory,
/// except one repetition of a concatenation.
/// @throws Error naming `where` and a tensor that is missing or not what the graph expects.
void write_constants(const import::WeightSource& weights, const Compiled& compiled, const std::string& where,
                     runtime::ConstantSink& sink);

}  // namespace tessera::compiler
