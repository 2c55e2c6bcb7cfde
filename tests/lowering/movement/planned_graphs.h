#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowering/movement/random_graph.h"
#include "lowering/plan/plan.h"
#include "search/planner/default_planner.h"

/// Random graphs with plans of them: the corpus that is interpreted by tests/lowering/movement and, a smaller
/// part of it, compiled by tests/backend.
namespace tessera::testing {

struct PlannedGraph {
    RandomGraph graph;
    plan::Plan plan;
    std::string what;                  ///< for messages
    std::optional<Graph> with_copies;  ///< of which the plan is, if it is not of the random graph

    const Graph& lowered() const { return with_copies ? *with_copies : graph.graph; }
};

/// Numbers of tokens at which a plan is tried: single ones, primes, and the most.
inline constexpr int64_t kTokens[] = {1, 2, 7, 17, 23};

/// How far the plans may be from their graphs, by range and by row: ten times what is measured, 5e-7 and
/// 8e-7. Every graph rounds where its definitions say so, so that only the rounding of f32 remains.
inline constexpr double kToleranceOfPlans = 5e-6;
/// The smallest range of an output: the last operator subtracts it.
inline constexpr double kSmallestOutput = 0.25;

/// 16, 8 or 4: each seed has its number of lanes.
int64_t lanes_of(uint64_t seed);

/// Units that multiply pairs, and tiles of both types, on every other seed.
planner::PlannerOptions differential_options(uint64_t seed, int64_t lanes);
PlannedGraph default_planned(uint64_t seed, int64_t lanes);

/// The default plan of one worker after 2, 5, 8 .. random edits.
std::vector<PlannedGraph> edited_plans(uint64_t seed, int64_t lanes, int count);

/// Default plans for 2, 3 and 5 workers: with free barriers, which divide everything that can be, and at the
/// usual price, for which most of these graphs are too small.
std::vector<PlannedGraph> plans_of_workers(uint64_t seed, int64_t lanes);
/// Edits of the plan for two workers and free barriers.
std::vector<PlannedGraph> edited_plans_of_workers(uint64_t seed, int64_t lanes, int count);

/// Every family of operators at these extents.
std::vector<PlannedGraph> ragged_plans(int64_t lanes, const std::vector<int64_t>& extents);

/// A plan of layouts that the search decides on by random costs, so that all kinds of copies occur.
PlannedGraph laid_out(uint64_t seed, int64_t lanes);

}  // namespace tessera::testing
