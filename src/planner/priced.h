#pragma once

#include "planner/default_planner.h"

namespace tessera::planner {

/// A search needs costs: the roofs of a usual machine where there are none.
PlannerOptions priced(const PlannerOptions& options);

}  // namespace tessera::planner
