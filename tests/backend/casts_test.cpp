// Casts in bodies: compiled code computes in f32 and rounds where the definition says so.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "backend/compiled_plans.h"
#include "lowering/kernels/micro_kernels.h"
#include "lowering/movement/plan_variation.h"

namespace tessera::testing {
namespace {

constexpr const char* kGraph = R"(graph "casts"
input x: f32[3, 37]
value y: f32[3, 37]

block main
  node y(x) -> y
    op rounded(t: 3, d: 37)
    in X f32[t, d]
    out Y f32[t, d] = bf16(X) * 4 + f16(X) - f32(X)

output y
)";

class Casts : public ::testing::TestWithParam<int64_t> {};

TEST_P(Casts, RoundToTheNearest) {
    const Graph graph = parse_graph(kGraph, "casts");
    verify(graph, "casts");
    plan::SpecialisationPlan s{.name = "all", .bounds = {}, .tensors = {}, .kernels = {}};
    CompiledPlans compiled(GetParam());
    for (const std::string& leaf :
         {fmt::format("y[loops x=d lanes={}]", GetParam()), std::string("y[loops]")}) {
        s.kernels = {{"main", plan::parse_nest(leaf, "nest", kernels::micro_kernels()), false}};
        const plan::Plan plan{.graph = graph.name, .machine = "test", .stored = {}, .specialisations = {s}};
        compiled.add(graph, placed_and_verified(graph, plan));
    }
    compiled.compile();
    GraphCall call;
    TensorData x{{3, 37}, {}};
    for (int i = 0; i < 3 * 37; ++i) x.values.push_back(static_cast<float>(0.7 + i * 0.0137));
    call.inputs["x"] = x;
    const GraphResult expected = interpret_graph(graph, call);
    for (size_t p = 0; p < 2; ++p) EXPECT_LE(difference(compiled.run(p, call), expected).relative, 1e-7);
}

INSTANTIATE_TEST_SUITE_P(Lanes, Casts, ::testing::ValuesIn(host_lanes()));

}  // namespace
}  // namespace tessera::testing
