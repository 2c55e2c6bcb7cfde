#pragma once

#include <nlohmann/json_fwd.hpp>

#include "chip/partition/chip_tables.h"
#include "support/json.h"

namespace tessera::partition {

/// {"cut": {"n": 4}, "steps": 2, "along": "k", "rotate": ["X"], "preload_parts": 4}: iterator n falls into
/// four parts. Members that would be 1 or empty are left out.
nlohmann::ordered_json stated_plan_json(const PlannedOperator& op, const PlannedRow& row);

/// @throws Error naming the place of what no plan of this operator has
StatedPlan read_stated_plan(const JsonCursor& at, const facts::BoundDefinition& bound);

}  // namespace tessera::partition
