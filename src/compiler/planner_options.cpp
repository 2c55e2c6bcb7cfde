#include "compiler/planner_options.h"

#include <algorithm>
#include <bit>

#include "lowering/plan/constants.h"
#include "support/limits.h"

namespace tessera::compiler {
namespace {

/// Enough to find what must not be left apart, as scores of attention and their sums.
constexpr int64_t kFewNests = 60;

/// Kernels that are so many times larger are as large as any block.
constexpr int64_t kMostTimesLarger = 10'000;

}  // namespace

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
    return options;
}

PlanningStart planning_start(const Graph& graph, const machine::Machine& machine,
                             std::optional<int64_t> workers, int64_t effort, const SearchParts& parts) {
    PlanningStart start{.options = planner_options(priced_machine(machine, parts), workers), .initial = {}};
    start.initial = planner::initial_plan(graph, start.options);
    start.options.nests = effort > 0 ? effort * start.options.nests : kFewNests;
    const auto times = static_cast<int>(std::clamp<int64_t>(effort, 1, kMostTimesLarger));
    start.options.limits.operators *= static_cast<size_t>(times);
    start.options.limits.braces *= times;
    start.options.region =
        std::min(start.options.region + static_cast<size_t>(std::bit_width(static_cast<uint64_t>(times)) - 1),
                 static_cast<size_t>(kLargestRegion));
    if (parts.regions) start.options.region = static_cast<size_t>(*parts.regions);
    start.options.grows = parts.growth;
    start.options.proves = parts.proof;
    start.options.space = parts.nests;
    start.options.constant_bytes = plan::constant_section(graph, start.initial).bytes;
    return start;
}

}  // namespace tessera::compiler
