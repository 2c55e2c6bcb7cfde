#pragma once

#include <string>
#include <string_view>

#include "cli/environment.h"
#include "machine/machine.h"
#include "runtime/artefact.h"

namespace tessera::cli {

/// The machine for statements about an artefact: that of a file, else the host, which stands for the machine
/// of the artefact only if it is the same. @throws Error that names the flag where it is not.
machine::Machine machine_of(const runtime::Artefact& artefact, const std::string& file, std::string_view flag,
                            const Environment& environment);

}  // namespace tessera::cli
