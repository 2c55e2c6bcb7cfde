#pragma once

#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "cost/cost_model.h"
#include "cost/published.h"
#include "ir/graph.h"
#include "lowering/kernels/kernel_target.h"
#include "lowering/plan/plan.h"
#include "lowering/plan/stated_kernels.h"
#include "lowering/refusal.h"
#include "machine/machine.h"
#include "search/planner/place_buffers.h"
#include "search/planner/stated_price.h"
#include "search/schedule/known_kernels.h"
#include "search/schedule/search.h"

namespace tessera::planner {

/// Kernels of a block in the order of execution, undivided, as its search prices them.
struct Alternative {
    std::vector<plan::Nest> kernels;
    double seconds = 0;
};

struct Alternatives {
    std::vector<Alternative> best;     ///< what `default_plan` takes, then the fastest by estimate
    std::vector<Alternative> samples;  ///< drawn over the whole space
};

/// The properties of the machine that the default planner needs.
struct PlannerOptions {
    std::string machine;  ///< its name, written into the plan
    int64_t lanes = 16;   ///< f32 lanes of the vector unit
    int64_t vector_registers = 32;
    int64_t line_bytes = 64;                  ///< of a line of the caches
    std::vector<machine::ComputeUnit> units;  ///< of the machine
    int64_t workers = 1;
    /// Limit for each part of a block that has two states (keys and values), in the specialisation that runs
    /// most, which computes one token. It is exceeded only where no other division is possible.
    int64_t barriers_of_a_layer = 5;
    std::shared_ptr<const cost::CostModel> costs;  ///< on the machine; not null
    /// Prices kernels in the search for fusion, loops and tiles. Work is divided by the planner's own costs.
    std::optional<cost::Published> published = {};
    /// Size of all constants in all repetitions. For costs, they lie in the innermost level that holds them
    /// from one step to the next.
    int64_t constant_bytes = std::numeric_limits<int64_t>::max();
    /// Nests of several operators that the search for kernels solves for a block of up to fifty operators,
    /// for each specialisation; twice as many for one of up to a hundred, and so on.
    int64_t nests = 2000;
    size_t region = 4;                            ///< operators of the regions that it all looks at
    bool grows = true;                            ///< kernels of a choice are joined to larger ones
    bool proves = true;                           ///< the tiles of chosen kernels are proved
    schedule::KernelLimits limits = {};           ///< of the kernels that the search makes
    schedule::NestSpace space = {};               ///< of these kernels
    size_t alternatives = 0;                      ///< the best ones that `alternatives` gives
    size_t samples = 0;                           ///< that it draws over the whole space
    uint64_t seed = 1;                            ///< of the samples
    std::vector<plan::StatedKernel> stated = {};  ///< kept as they are; the others are searched around them
    /// Told what the search of each block found, with its specialisation and name; may be empty.
    std::function<void(const std::string&, const std::string&, const schedule::Schedule&)> on_schedule = {};
    /// Kernels that were solved, by specialisation. Searches whose options differ in `nests`, `region`,
    /// `alternatives`, `samples` and `stated` alone may share them: the price of the plan stays, but another
    /// of equal plans may be found. Null: a search of its own.
    std::shared_ptr<std::map<std::string, schedule::KnownKernels>> known = {};
    bool has_all_blocks = false;  ///< candidates with every register block, and not the preferred one alone

    kernels::KernelTarget target() const {
        return {lanes, vector_registers, line_bytes, units, has_all_blocks};
    }
};

/// A complete plan: weights packed by lanes; fused kernels, loops and tiles by search
/// (search/schedule/search.h); work shared between the workers (divide_work.h). Buffers are placed.
/// @pre the graph is decomposed and verified.
plan::Plan default_plan(const Graph& graph, const PlannerOptions& options);

/// The plan from which default_plan starts: stored layouts, and the specialisations without kernels.
plan::Plan initial_plan(const Graph& graph, const PlannerOptions& options);
/// Kernels and places for a plan that has stored layouts, the specialisations' bounds, and perhaps layouts of
/// intermediate values: these are kept, but for values that exist in tiles only.
/// @throws Error if a stated kernel cannot stand
plan::Plan complete_plan(const Graph& graph, plan::Plan plan, const PlannerOptions& options);

/// The refusal is of a kernel in `PlannerOptions::stated`.
using CompletedPlan = std::variant<LoweredPlan, lowering::Refusal>;
/// The same, with the programs from which the buffers are placed.
CompletedPlan completed_plan(const Graph& graph, plan::Plan plan, const PlannerOptions& options);
/// @throws Error with the refusal
LoweredPlan expected(CompletedPlan completed);

/// Choices for the kernels of a block: `options.alternatives` and `options.samples`.
/// @pre the plan has one specialisation
Alternatives alternatives(const Graph& graph, const plan::Plan& plan, const std::string& block,
                          const PlannerOptions& options);

/// The price of each stated kernel by itself, or why it is refused, in every specialisation for which
/// it is stated: in the order of specialisations.
/// @pre the plan as for `complete_plan`; check_stated of each kernel alone; none is stated in the options
std::vector<StatedVerdict> price_stated(const Graph& graph, const plan::Plan& plan,
                                        const std::vector<plan::StatedKernel>& kernels,
                                        const PlannerOptions& options);

/// The operators that share a kernel with others in some specialisation of the plan that `complete_plan`
/// makes, found with less effort.
std::set<const Node*> fused_operators(const Graph& graph, const plan::Plan& plan,
                                      const PlannerOptions& options);

}  // namespace tessera::planner
