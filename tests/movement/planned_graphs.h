#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "movement/random_graph.h"
#include "plan/plan.h"
#include "planner/default_planner.h"

/// Random graphs with plans of them: the corpus that is interpreted by tests/movement and, a smaller part of
/// it, compiled by tests/codegen.
namespace tessera::testing {

struct PlannedGraph {
    RandomGraph graph;
    Plan plan;
    std::string what;  ///< for messages
};

/// Numbers of tokens at which a plan is tried: single ones, primes, and the most.
inline constexpr int64_t kTokens[] = {1, 2, 7, 17, 23};

/// Units that multiply pairs, and tiles of both types, on every other seed.
PlannerOptions differential_options(uint64_t seed, int64_t lanes);
PlannedGraph default_planned(uint64_t seed, int64_t lanes);

/// The default plan of one worker after 2, 5, 8 .. random edits.
std::vector<PlannedGraph> edited_plans(uint64_t seed, int64_t lanes, int count);

/// Default plans for 2, 3 and 5 workers: with free barriers, which divide everything that can be, and at the
/// usual price, for which most of these graphs are too small.
std::vector<PlannedGraph> plans_of_workers(uint64_t seed, int64_t lanes);
/// Edits of the plan for two workers and free barriers.
std::vector<PlannedGraph> edited_plans_of_workers(uint64_t seed, int64_t lanes, int count);

/// Every family of operators at the sizes where groups of lanes begin, end and are left over.
std::vector<PlannedGraph> ragged_plans(int64_t lanes);

/// A plan of layouts that the search decides on by random costs, so that all kinds of copies occur.
/// `graph` is the one without copies; `lowered` the one of which `plan` is.
struct LaidOutGraph {
    RandomGraph graph;
    Graph lowered;
    Plan plan;
};
LaidOutGraph laid_out(uint64_t seed, int64_t lanes);

}  // namespace tessera::testing
