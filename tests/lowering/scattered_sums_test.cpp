// A sum whose iterations say where they are added: what is not executed touches nothing, also where the
// iterations are a loop of the nest.
#include <gtest/gtest.h>

#include "lowering/movement/example_plans.h"
#include "lowering/movement/interpreted_plan.h"

namespace tessera::testing {
namespace {

TEST(ScatteredSums, TouchNothingWhereTheyAreNotExecuted) {
    constexpr const char* kSegments = R"(graph "segments"
input id: i32[6]
input x: f32[6, 4]
value a: f32[6, 4]
value y: f32[3, 4]
block main
  node a(x) -> a
    op negated(t: 6, d: 4)
    in X f32[t, d]
    out Z f32[t, d] = -X
  node y(id, a) -> y
    op segments(t*: 6, d: 4)
    index id i32[t]
    in X f32[t, d]
    out Y f32[id, d] of [3, 4] = sum(X)
    where id >= 0
output y
)";
    for (const char* nest : {"t:1 { a[loops]; y[loops] }", "t:2 { a[loops]; y[loops lanes=4 x=d] }",
                             "d:2 t:1 { a[loops]; y[loops] }"}) {
        Example example{.graph = kSegments,
                        .nests = {nest},
                        .stored = {},
                        .tensors = {{"a", {.place = plan::Place::kTile}}}};
        const Graph graph = example.parsed();
        GraphCall call{.symbols = {}, .inputs = {}, .constant = {}};
        call.inputs["id"] = {{6}, {2, -1, 0, -1000000, 2, 0}};
        TensorData& x = call.inputs["x"] = {{6, 4}, {}};
        for (int i = 0; i < 6 * 4; ++i) x.values.push_back(i % 11 - 5);
        const InterpretedPlan::Run run = InterpretedPlan(graph, example.planned()).run(call);
        EXPECT_EQ(run.faults_text(), "") << nest;
        EXPECT_EQ(difference(run.result, interpret_graph(graph, call)).relative, 0) << nest;
    }
}

}  // namespace
}  // namespace tessera::testing
