#pragma once

#include <string>
#include <vector>

#include "codegen/code.h"
#include "codegen/cpp/exchanges.h"
#include "kernels/micro_kernels.h"
#include "movement/program.h"

namespace tessera::codegen::cpp {

/// C++ over NTT with an entry `extern "C" void tessera_step_NAME(const TesseraStep*)`
/// for each program, and one with marks (tessera/step.h) beside it. It is meant to be read: kernels are named
/// after the graph and carry their nest as a comment. A long text is divided into units.
/// @param model named in the first line, unless it is empty: equal programs then give equal text, whatever
/// they are of
/// @param spellings of calls; the others are the statements of their meaning
Code emit(const std::string& model, const std::vector<movement::Program>& programs,
          const Exchanges& exchanges = {}, const kernels::Spellings& spellings = kernels::spellings());

/// The name of a specialisation's entry.
std::string entry_name(const movement::Program& program);

}  // namespace tessera::codegen::cpp
