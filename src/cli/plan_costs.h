#pragma once

#include <string>

#include "machine/machine.h"
#include "run/runtime/artefact.h"

namespace tessera::cli {

/// The plan of an artefact with the predicted times of its kernels on a machine as comments; it can be read
/// as a plan. For a machine that was not measured these are roofs (cost/cost_model.h).
std::string plan_with_costs(const runtime::Artefact& artefact, const machine::Machine& machine);

}  // namespace tessera::cli
