#pragma once

#include <memory>
#include <optional>

#include "search/planner/default_planner.h"

namespace tessera::testing {

/// The options with the costs of an unmeasured machine that has their units and workers, and caches as most
/// processors of today have them.
inline planner::PlannerOptions on_usual_machine(planner::PlannerOptions options,
                                                std::optional<double> barrier_seconds = {}) {
    machine::Machine machine{.name = options.machine, .cores = options.workers};
    machine.memory = {{"L1", int64_t{32} << 10, 1, {}, {}},
                      {"L2", int64_t{1} << 20, 1, {}, {}},
                      {"L3", int64_t{32} << 20, options.workers, {}, {}},
                      {"memory", int64_t{1} << 36, options.workers, {}, {}}};
    machine.units = options.units;
    if (!machine::find_unit(machine, machine::UnitKind::kVector, "f32"))
        machine.units.push_back({.name = "vector",
                                 .kind = machine::UnitKind::kVector,
                                 .operands = {{"A", "f32", {{'n', options.lanes}}},
                                              {"B", "f32", {{'n', options.lanes}}},
                                              {"C", "f32", {{'n', options.lanes}}}},
                                 .registers = options.vector_registers});
    if (barrier_seconds) machine.barriers = {{options.workers, *barrier_seconds}};
    options.costs = std::make_shared<const cost::CostModel>(machine);
    return options;
}

}  // namespace tessera::testing
