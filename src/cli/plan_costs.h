#pragma once

#include <string>

#include "machine/machine.h"
#include "runtime/artefact.h"

namespace tessera::cli {

/// The plan of an artefact with what its kernels are predicted to take on a machine, as comments: it reads as
/// the plan does. Of a machine that was not measured these are roofs (cost/cost_model.h).
std::string plan_with_costs(const runtime::Artefact& artefact, const machine::Machine& machine);

}  // namespace tessera::cli
