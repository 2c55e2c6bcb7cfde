#include "planner/priced.h"

namespace tessera::planner {
namespace {

/// Caches as most processors of today have them.
machine::Machine usual_machine(const PlannerOptions& options) {
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
    if (options.barrier_seconds) machine.barriers = {{options.workers, *options.barrier_seconds}};
    return machine;
}

}  // namespace

PlannerOptions priced(const PlannerOptions& options) {
    PlannerOptions with_costs = options;
    if (!options.costs) with_costs.costs = std::make_shared<const cost::CostModel>(usual_machine(options));
    return with_costs;
}

size_t level_of_constants(const PlannerOptions& options) {
    size_t level = options.costs->near_level();
    while (level + 1 < options.costs->machine().memory.size() &&
           options.costs->capacity(level, options.workers) < options.constant_bytes / options.workers)
        ++level;
    return level;
}

cost::PricedBlock priced_block(const lowering::LoweringInput& input, const Block& block,
                               const PlannerOptions& options) {
    return {input, block, cost::sizes_of(input.graph, input.plan, input.specialisation), *options.costs,
            level_of_constants(options)};
}

}  // namespace tessera::planner
