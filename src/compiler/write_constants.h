#pragma once

#include <string>

#include "compiler/compiler.h"
#include "import/weights.h"
#include "runtime/artefact.h"

namespace tessera::compiler {

/// Packs every constant of the graph into the artefact, in the order of its section. Tensors pass one at a
/// time and in pieces: besides the pages of the source that were touched last, nothing of them is in memory.
/// Of a concatenation one repetition is.
/// @throws Error naming `where` and a tensor that is missing or not what the graph expects.
void write_constants(const import::WeightSource& weights, const Compiled& compiled, const std::string& where,
                     runtime::ConstantSink& sink);

}  // namespace tessera::compiler
