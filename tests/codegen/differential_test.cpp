// Emitted code against the interpreter, on random graphs at ragged sizes.
#include <gtest/gtest.h>

#include "codegen/compiled_plans.h"
#include "movement/random_graph.h"
#include "movement/units.h"
#include "planner/default_planner.h"
#include "planner/verify_plan.h"

namespace tessera::testing {
namespace {

// Depth of a graph times the terms of its longest sum times the rounding unit of F32, about 10 x 40 x 6e-8.
constexpr double kTolerance = 3e-5;

class Differential : public ::testing::TestWithParam<uint64_t> {};

TEST_P(Differential, DefaultPlanComputesWhatTheInterpreterDoes) {
    const uint64_t seed = GetParam();
    const std::vector<int64_t> widths = host_lanes();
    const int64_t lanes = widths[seed % widths.size()];
    const RandomGraph random = random_graph(seed, lanes);
    verify(random.graph, "random graph");
    PlannerOptions options{.machine = "test",
                           .lanes = lanes,
                           .vector_registers = 32,
                           .resident_bytes = 256,
                           .cached_bytes = 256};
    if (seed % 2 == 0) options.units.push_back(pair_unit(lanes));
    if (seed % 4 < 2) {
        options.units.push_back(tile_unit({.m = 16, .n = lanes, .k = 32}));
        options.units.push_back(byte_tile_unit({.m = 16, .n = lanes, .k = 64}));
    }
    const Plan plan = default_plan(random.graph, options);
    verify_plan(random.graph, plan, "default plan");
    CompiledPlans compiled(lanes);
    compiled.add(random.graph, plan);
    compiled.compile();
    for (const int64_t tokens : {1, 2, 7, 17, 23}) {
        const GraphCall call = random.call(tokens);
        const Difference worst = difference(compiled.run(0, call), interpret_graph(random.graph, call));
        ASSERT_LE(worst.relative, kTolerance) << "T = " << tokens << ": " << worst.where << "\n"
                                              << print(random.graph) << print(plan);
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Differential, ::testing::Range<uint64_t>(1, 25));

}  // namespace
}  // namespace tessera::testing
