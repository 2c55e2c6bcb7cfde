#pragma once

#include <string>

#include "lowering/movement/program.h"

namespace tessera::backend::scalar_c {

/// The statements of one kernel as C. Those of a loop over lanes are loops over the lanes of a group each,
/// one after the other, as the interpreter of programs executes them.
std::string text_of(const movement::Kernel& kernel);

}  // namespace tessera::backend::scalar_c
