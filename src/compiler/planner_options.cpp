#include "compiler/planner_options.h"

#include <algorithm>

#include "plan/constants.h"
#include "support/limits.h"

namespace tessera::compiler {

planner::PlannerOptions planner_options(const machine::Machine& machine, std::optional<int64_t> workers) {
    planner::PlannerOptions options;
    options.workers = std::min(workers.value_or(machine.cores), kMostWorkers);
    options.machine = machine.name;
    options.lanes = machine::vector_lanes(machine);
    options.vector_registers = machine::vector_registers(machine);
    options.line_bytes = machine.cache_line_bytes;
    options.units = machine.units;
    options.costs = std::make_shared<const cost::CostModel>(machine);
    options.has_all_blocks = options.costs->is_measured();
    // Half of a cache: the other half is for streamed data.
    if (const machine::MemoryLevel* own = machine::find_memory(machine, "L2"))
        options.resident_bytes = own->capacity_bytes / own->shared_by_cores / 2;
    if (const size_t levels = machine.memory.size(); levels > 1)
        options.cached_bytes = options.costs->capacity(levels - 2, options.workers) / 2;
    return options;
}

PlanningStart planning_start(const Graph& graph, const machine::Machine& machine,
                             std::optional<int64_t> workers) {
    PlanningStart start{.options = planner_options(machine, workers), .initial = {}};
    start.initial = planner::initial_plan(graph, start.options);
    start.options.constant_bytes = plan::constant_section(graph, start.initial).bytes;
    return start;
}

}  // namespace tessera::compiler
