#include "search/planner/priced.h"

namespace tessera::planner {

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
