// Products that the rewriting pass has joined, with slices of the one for the others: compiled code against
// the interpreter of the graph as it was.
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/compiled_plans.h"
#include "search/planner/default_planner.h"
#include "search/planner/usual_machine.h"
#include "search/rules/algebra/families.h"
#include "search/rules/rewrite.h"

namespace tessera::testing {
namespace {

/// A gated layer with a residual, three times; no width is a multiple of the lanes.
constexpr const char* kSiblings = R"(graph "gated"
symbol T in 1..23
point decode weight 1: T = 1
input x: f32[T, 24]
constant gate_weight: bf16[40, 24] from "gate.*" for 0..2
constant up_weight: bf16[37, 24] from "up.*" for 0..2
constant down_weight: bf16[24, 37] from "down.*" for 0..2
value z: f32[T, 24]
value h: f32[T, 24]
value gate: f32[T, 40]
value up: f32[T, 37]
value gated: f32[T, 37]
value down: f32[T, 24]
value y: f32[T, 24]
block start
  node h(x) -> h
    op half(t: T, n: 24)
    dim T in 1..23
    in X f32[t, n]
    out Y f32[t, n] = X * 0.5
block layer repeat 3 carry h -> y
  node gate(h, gate_weight) -> gate
    op matmul(t: T, n: 40, k*: 24)
    dim T in 1..23
    in X f32[t, k]
    in W bf16[n, k]
    out Y f32[t, n] = sum(X * W)
  node up(h, up_weight) -> up
    op matmul(t: T, n: 37, k*: 24)
    dim T in 1..23
    in X f32[t, k]
    in W bf16[n, k]
    out Y f32[t, n] = sum(X * W)
  node gated(gate, up) -> gated
    op gated(t: T, n: 37)
    dim T in 1..23
    in G f32[t, n + 3] of [T, 40]
    in U f32[t, n]
    out Y f32[t, n] = G * U
  node down(gated, down_weight) -> down
    op matmul(t: T, n: 24, k*: 37)
    dim T in 1..23
    in X f32[t, k]
    in W bf16[n, k]
    out Y f32[t, n] = sum(X * W)
  node y(h, down) -> y
    op add(t: T, n: 24)
    dim T in 1..23
    in A f32[t, n]
    in B f32[t, n]
    out Y f32[t, n] = A + B
block end
  node z(y) -> z
    op twice(t: T, n: 24)
    dim T in 1..23
    in X f32[t, n]
    out Y f32[t, n] = X * 2
output z
)";

std::vector<double> random_values(std::string_view name, int64_t count, ElementType type) {
    std::seed_seq seed(name.begin(), name.end());
    std::mt19937 random(seed);
    std::vector<double> values;
    for (int64_t i = 0; i < count; ++i)
        values.push_back(round_to(type, (static_cast<double>(random() % 4096) - 2048) / 8192));
    return values;
}

/// Contents of constants follow from their sources, even if they are joined. Parts lie along the first axis.
GraphCall siblings_call(const Graph& graph, int64_t tokens) {
    GraphCall call;
    call.symbols = {{"T", tokens}};
    call.inputs["x"] = {{tokens, 24}, random_values("x", tokens * 24, ElementType::kF32)};
    call.constant = [](const Value& constant, int64_t repetition) {
        TensorData data{evaluate(constant.type.shape, {}), {}};
        for (size_t part = 0; part < constant.parts(); ++part) {
            const std::vector<int64_t> shape = constant.part_shape(part);
            const auto values =
                random_values(constant.source(repetition, part), shape[0] * shape[1], constant.type.element);
            data.values.insert(data.values.end(), values.begin(), values.end());
        }
        return data;
    };
    call.states = zero_states(graph, call.symbols);
    return call;
}

TEST(Siblings, CompiledAsOneProductGiveTheSameNumbers) {
    const Graph graph = parse_graph(kSiblings, "gated");
    verify(graph, "gated");
    const auto dear_products = [product = rules::products(graph.symbols)](const egraph::Operator& op,
                                                                          std::span<const TensorType>) {
        return product->recognise(op) ? 10.0 : 1.0;
    };
    const Graph joined = rules::rewrite(graph, {.cost = dear_products}).graph;
    verify(joined, "joined");
    ASSERT_THAT(print(joined), ::testing::HasSubstr("then \"up.*\" for 0..2 along 0 of 40, 37"));
    for (const int64_t lanes : host_lanes()) {
        const planner::PlannerOptions options =
            testing::on_usual_machine({.machine = "test", .lanes = lanes, .vector_registers = 32});
        CompiledPlans compiled(lanes);
        compiled.add(joined, planner::complete_plan(joined, planner::initial_plan(joined, options), options));
        compiled.compile();
        for (const int64_t tokens : {1, 7, 23}) {
            const GraphCall call = siblings_call(graph, tokens);
            const Difference worst = difference(compiled.run(0, call), interpret_graph(graph, call));
            EXPECT_LE(worst.relative, kTolerance) << lanes << " lanes, T = " << tokens << ": " << worst.where;
        }
    }
}

}  // namespace
}  // namespace tessera::testing
