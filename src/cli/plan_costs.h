#pragma once

#include <string>

#include "machine/machine.h"
#include "runtime/artefact.h"

namespace tessera::cli {

/// The plan of an artefact with what its kernels are predicted to take on a measured machine, as comments: it
/// reads as the plan does. @throws Error if the machine was not measured.
std::string plan_with_costs(const Artefact& artefact, const Machine& machine);

}  // namespace tessera::cli
