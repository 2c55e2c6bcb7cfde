// Every family of operators at the sizes where groups of lanes begin, end and are left over: 1, one below, at
// and above the lanes, and primes, for 1, 2 and prime numbers of rows.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "codegen/compiled_plans.h"
#include "movement/random_graph.h"
#include "planner/default_planner.h"
#include "planner/verify_plan.h"

namespace tessera::testing {
namespace {

constexpr double kTolerance = 3e-5;  // as in differential_test.cpp

class Ragged : public ::testing::TestWithParam<int64_t> {};

TEST_P(Ragged, EveryFamilyComputesWhatTheInterpreterDoes) {
    const int64_t lanes = GetParam();
    const std::vector<int64_t> extents = {1, lanes - 1, lanes, lanes + 1, 2 * lanes, 13, 31};
    CompiledPlans compiled(lanes);
    std::vector<RandomGraph> graphs;
    for (const int64_t extent : extents) {
        graphs.push_back(graph_of_every_family(static_cast<uint64_t>(extent), lanes, extent));
        const Graph& graph = graphs.back().graph;
        verify(graph, "ragged graph");
        const Plan plan = default_plan(
            graph, {.machine = "test", .lanes = lanes, .vector_registers = 32, .cached_bytes = 256});
        verify_plan(graph, plan, "default plan");
        compiled.add(graph, plan);
    }
    compiled.compile();
    for (size_t g = 0; g < graphs.size(); ++g) {
        for (const int64_t tokens : {1, 2, 7, 13, 23}) {
            const GraphCall call = graphs[g].call(tokens);
            const Difference worst =
                difference(compiled.run(g, call), interpret_graph(graphs[g].graph, call));
            EXPECT_LE(worst.relative, kTolerance)
                << "extent " << extents[g] << ", T = " << tokens << ": " << worst.where << "\n"
                << print(graphs[g].graph);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Lanes, Ragged, ::testing::ValuesIn(host_lanes()),
                         [](const auto& lanes) { return fmt::format("{}", lanes.param); });

}  // namespace
}  // namespace tessera::testing
