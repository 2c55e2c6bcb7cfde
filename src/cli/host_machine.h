#pragma once

#include "cli/environment.h"
#include "machine/machine.h"

namespace tessera::cli {

/// This machine as `tessera machine --measure` left it, else as it can be known without measuring. Never
/// measures.
machine::Machine host_machine(const Environment& environment);

/// Whether the rates of `measured` are of the kernels and the compiler that are here now.
/// @throws Error where there is no C++ compiler
bool is_up_to_date(const machine::Machine& measured, const Environment& environment);

}  // namespace tessera::cli
