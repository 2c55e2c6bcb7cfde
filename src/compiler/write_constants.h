#pragma once

#include <cstddef>
#include <string>

#include "compiler/compiler.h"
#include "import/weights.h"
#include "run/runtime/artefact.h"

namespace tessera::compiler {

/// As many threads as processors, but no more than keep a memory busy: each has pieces of the weights.
size_t packing_threads();

/// Packs every constant of the graph into the artefact, in the order of its section. They pass in pieces,
/// which threads make at the same time; the bytes do not depend on how many. Besides the pages of the source
/// that were touched last, some pieces are in memory, and the contents of a constant where its source makes
/// them as a whole.
/// @throws Error naming `where` and a tensor that is missing or not what the graph expects.
void write_constants(const import::WeightSource& weights, const Compiled& compiled, const std::string& where,
                     runtime::ConstantSink& sink, size_t threads);

}  // namespace tessera::compiler
