// Emitted code of the corpus of tests/lowering/movement/planned_graphs.h: against the interpreter of the same
// program, and against the graph. Starting the compiler and reading NTT cost most of the time, so that the
// plans of all seeds are one unit for each number of lanes; the compiled plans are a small part of those that
// tests/lowering/movement interprets.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backend/compiled_plans.h"

namespace tessera::testing {
namespace {

void append(std::vector<PlannedGraph>& plans, std::vector<PlannedGraph> more) {
    for (PlannedGraph& planned : more) plans.push_back(std::move(planned));
}

class Compiled : public ::testing::TestWithParam<int64_t> {};

using Differential = Compiled;
TEST_P(Differential, DefaultPlansComputeWhatTheGraphDoes) {
    std::vector<PlannedGraph> plans;
    for (const uint64_t seed : seeds_of_lanes(1, 13, GetParam()))
        plans.push_back(default_planned(seed, GetParam()));
    expect_compiled_plans_compute(GetParam(), plans);
}

using PlanVariations = Compiled;
TEST_P(PlanVariations, ComputeWhatTheGraphDoes) {
    std::vector<PlannedGraph> plans;
    for (const uint64_t seed : seeds_of_lanes(101, 110, GetParam()))
        append(plans, edited_plans(seed, GetParam(), 3));
    expect_compiled_plans_compute(GetParam(), plans);
}

using Workers = Compiled;
TEST_P(Workers, PlansComputeWhatTheGraphDoes) {
    std::vector<PlannedGraph> plans;
    for (const uint64_t seed : seeds_of_lanes(201, 204, GetParam())) {
        append(plans, plans_of_workers(seed, GetParam()));
        append(plans, edited_plans_of_workers(seed, GetParam(), 4));
    }
    expect_compiled_plans_compute(GetParam(), plans);
}

using Layouts = Compiled;
TEST_P(Layouts, OfAnyCostsComputeWhatTheGraphDoes) {
    std::vector<PlannedGraph> plans;
    for (const uint64_t seed : seeds_of_lanes(1, 9, GetParam())) plans.push_back(laid_out(seed, GetParam()));
    expect_compiled_plans_compute(GetParam(), plans);
}

using Ragged = Compiled;
TEST_P(Ragged, EveryFamilyComputesWhatTheGraphDoes) {
    expect_compiled_plans_compute(GetParam(), ragged_plans(GetParam(), {GetParam() - 1, GetParam() + 1}));
}

const auto kName = [](const auto& lanes) { return fmt::format("{}", lanes.param); };
INSTANTIATE_TEST_SUITE_P(Lanes, Differential, ::testing::ValuesIn(host_lanes()), kName);
INSTANTIATE_TEST_SUITE_P(Lanes, PlanVariations, ::testing::ValuesIn(host_lanes()), kName);
INSTANTIATE_TEST_SUITE_P(Lanes, Workers, ::testing::ValuesIn(host_lanes()), kName);
INSTANTIATE_TEST_SUITE_P(Lanes, Layouts, ::testing::ValuesIn(host_lanes()), kName);
INSTANTIATE_TEST_SUITE_P(Lanes, Ragged, ::testing::ValuesIn(host_lanes()), kName);

}  // namespace
}  // namespace tessera::testing
