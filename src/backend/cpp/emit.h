#pragma once

#include <string>
#include <vector>

#include "backend/code.h"
#include "backend/exchanges.h"
#include "lowering/kernels/micro_kernels.h"
#include "lowering/movement/program.h"

namespace tessera::backend::cpp {

/// C++20 over NTT, with the entries of each program (backend/backend.h). It is meant to be read: kernels are
/// named after the graph and carry their nest as a comment. A long text is divided into units.
/// @param model named in the first line, unless it is empty: equal programs then give equal text, whatever
/// they are of
/// @param spellings of calls; the others are the statements of their meaning
Code emit(const std::string& model, const std::vector<movement::Program>& programs,
          const Exchanges& exchanges = {}, const kernels::Spellings& spellings = kernels::spellings());

}  // namespace tessera::backend::cpp
