#include <gtest/gtest.h>

#include "movement/interpreted_plan.h"
#include "movement/random_graph.h"
#include "movement/units.h"
#include "planner/default_planner.h"
#include "planner/verify_plan.h"

namespace tessera::testing {
namespace {

constexpr double kTolerance = 3e-5;

class Differential : public ::testing::TestWithParam<uint64_t> {};

TEST_P(Differential, DefaultPlanComputesWhatTheGraphDoes) {
    for (uint64_t seed = GetParam(); seed < GetParam() + 10; ++seed) {
        const int64_t widths[] = {16, 8, 4};
        const int64_t lanes = widths[seed % 3];
        const RandomGraph random = random_graph(seed, lanes);
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
        const InterpretedPlan interpreted(random.graph, plan);
        for (const int64_t tokens : {1, 2, 7, 17, 23}) {
            const GraphCall call = random.call(tokens);
            const auto run = interpreted.run(call);
            const Difference worst = difference(run.result, interpret_graph(random.graph, call));
            EXPECT_LE(worst.relative, kTolerance)
                << "seed " << seed << " T = " << tokens << ": " << worst.where;
            EXPECT_EQ(run.faults_text(), "") << "seed " << seed << " T = " << tokens;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Differential, ::testing::Values(1, 11, 21, 31, 41));

}  // namespace
}  // namespace tessera::testing
