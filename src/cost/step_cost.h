#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cost/cost_model.h"
#include "cost/level_traffic.h"
#include "ir/graph.h"
#include "lowering/plan/plan.h"

namespace tessera::cost {

/// The sizes at which the cost of a step is computed.
struct SizePoint {
    std::map<std::string, int64_t> symbols;
    /// Contents of index inputs, row-major, for calls that are measured: costs do not depend on them.
    std::map<std::string, std::vector<double>> contents;
};

/// Cost of one repetition of one kernel, until the worker with most work has done its part.
struct KernelCost {
    std::string block, name;           ///< of the kernel: its last operator
    size_t kernel = 0;                 ///< its position in the specialisation
    int64_t repeat = 1;                ///< of the block
    double near_seconds = 0;           ///< of the operators, all that they read being in the core's caches
    double stall_seconds = 0;          ///< additional time for reading B of products from its level
    std::vector<LevelTraffic> levels;  ///< further out than where the times of the table hold
    double barrier_seconds = 0;
    double seconds = 0;        ///< with the barrier; infinite for what cannot be computed
    std::string why_infinite;  ///< empty if it is not
    bool operator==(const KernelCost&) const = default;
};

/// Every kernel of a specialisation at these sizes, in the order of execution, in a step that follows others.
///
/// Kernels cost what the evaluator says (cost/evaluate.h), but that a tensor is found in the innermost level
/// that holds all that was touched since the kernel that touched it last began: weights come from the main
/// memory unless the whole step fits a cache, the results of the previous kernel come from a cache.
/// @pre the plan is verified, `symbols` has every symbol within the specialisation's bounds
std::vector<KernelCost> step_costs(const Graph& graph, const plan::Plan& plan,
                                   const plan::SpecialisationPlan& specialisation,
                                   const std::map<std::string, int64_t>& symbols, const CostModel& model);

/// Seconds of the whole step: the sum over kernels, times their repetitions.
double total_seconds(const std::vector<KernelCost>& costs);

}  // namespace tessera::cost
