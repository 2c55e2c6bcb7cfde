// A plan decides where and in which order, never what: every legal edit of a plan computes what the
// interpreter does.
#include <gtest/gtest.h>

#include "codegen/compiled_plans.h"
#include "kernels/micro_kernels.h"
#include "movement/plan_variation.h"
#include "movement/random_graph.h"
#include "planner/default_planner.h"
#include "support/error.h"

namespace tessera::testing {
namespace {

constexpr double kTolerance = 3e-5;  // as in differential_test.cpp
constexpr int kVariations = 6;

class PlanVariations : public ::testing::TestWithParam<uint64_t> {};

std::string history(const Variation& variation) {
    std::string text;
    for (const Edit& edit : variation.edits) {
        if (edit.refused.empty()) text += edit.what + "\n";
    }
    return text;
}

TEST_P(PlanVariations, ComputeWhatTheInterpreterDoes) {
    const uint64_t seed = GetParam();
    std::mt19937_64 random(seed);
    const std::vector<int64_t> widths = host_lanes();
    const int64_t lanes = widths[seed % widths.size()];
    const RandomGraph graph = random_graph(seed, lanes);
    Plan start = default_plan(
        graph.graph, {.machine = "test", .lanes = lanes, .vector_registers = 32, .cached_bytes = 2048});
    start.specialisations.erase(start.specialisations.begin(), start.specialisations.end() - 1);
    CompiledPlans compiled(lanes);
    std::vector<Variation> variations;
    for (int i = 0; i < kVariations; ++i) {
        variations.push_back(vary(graph.graph, start, 2 + 3 * i, 300, random));
        EXPECT_TRUE(parse_plan(print(variations.back().plan), "printed", micro_kernels()) ==
                    variations.back().plan)
            << history(variations.back());
        compiled.add(graph.graph, variations.back().plan);
    }
    try {
        compiled.compile();
    } catch (const Error& error) {
        FAIL() << error.what();
    }
    for (const int64_t tokens : {1, 2, 7, 17, 23}) {
        const GraphCall call = graph.call(tokens);
        const GraphResult expected = interpret_graph(graph.graph, call);
        for (size_t v = 0; v < variations.size(); ++v) {
            const Difference worst = difference(compiled.run(v, call), expected);
            ASSERT_LE(worst.relative, kTolerance)
                << "variation " << v << ", T = " << tokens << ": " << worst.where << "\n"
                << history(variations[v]) << print(graph.graph) << print(variations[v].plan);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, PlanVariations, ::testing::Range<uint64_t>(101, 111));

}  // namespace
}  // namespace tessera::testing
