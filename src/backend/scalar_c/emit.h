#pragma once

#include <string>
#include <vector>

#include "backend/code.h"
#include "backend/exchanges.h"
#include "lowering/movement/program.h"

namespace tessera::backend::scalar_c {

/// C99 over the C library alone, one unit, with the entries of each program (backend/backend.h). Calls are
/// the statements of their meaning, and nothing is faster than it reads: a second opinion on programs, and
/// the least that a back end has to do. Numbers are rounded where the interpreter of programs rounds them, so
/// that both give the same, to the bit.
/// @param model named in the first line, unless it is empty
Code emit(const std::string& model, const std::vector<movement::Program>& programs,
          const Exchanges& exchanges);

}  // namespace tessera::backend::scalar_c
