#pragma once

#include "cli/environment.h"
#include "machine/machine.h"

namespace tessera::cli {

/// This machine as `tessera machine --measure` left it, else as it can be known without measuring. Never
/// measures.
Machine host_machine(const Environment& environment);

}  // namespace tessera::cli
