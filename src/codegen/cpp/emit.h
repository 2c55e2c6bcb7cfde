#pragma once

#include <string>
#include <vector>

#include "codegen/cpp/exchanges.h"
#include "movement/program.h"

namespace tessera::codegen::cpp {

/// One C++ translation unit over NTT with an entry `extern "C" void tessera_step_NAME(const TesseraStep*)`
/// for each program, and one with marks (tessera/step.h) beside it. It is meant to be read: kernels are named
/// after the graph and carry their nest as a comment.
std::string emit(const std::string& model, const std::vector<movement::Program>& programs,
                 const Exchanges& exchanges = {});

/// The name of a specialisation's entry.
std::string entry_name(const movement::Program& program);

}  // namespace tessera::codegen::cpp
