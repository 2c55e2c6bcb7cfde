#pragma once

#include <cstdint>
#include <optional>

#include "machine/machine.h"
#include "planner/default_planner.h"

namespace tessera {

/// What the default planner reads of the machine. `workers`: by default the machine's cores.
PlannerOptions planner_options(const Machine& machine, std::optional<int64_t> workers);

}  // namespace tessera
