// Chains of a norm in tiles of several rows, with folds in several registers: against the interpreter, for
// numbers of rows and heads that tiles divide or do not divide.
#include <algorithm>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "backend/compiled_plans.h"
#include "cost/cost_model.h"
#include "ir/ops/rms_norm.h"
#include "lowering/kernels/micro_kernels.h"
#include "machine/machine_text.h"
#include "search/planner/default_planner.h"
#include "search/planner/verify_plan.h"

namespace tessera::testing {
namespace {

constexpr int64_t kMostTokens = 40;

/// The norm of heads, and the rotation of their halves.
Graph norm_and_rotation(int64_t heads, int64_t width) {
    Graph graph = parse_graph(fmt::format(R"(graph "norm"
symbol T in 1..{tokens}
point prefill weight 1: T = {tokens}

input x: f32[T, {heads}, {width}]
constant w: f32[{width}] from "w"
constant turn: f32[{width}] from "turn"
value r: f32[T, {heads}]
value normed: f32[T, {heads}, {width}]
value y: f32[T, {heads}, {width}]

block main
  node r(x) -> r
    op reduce(t: T, h: {heads}, d*: {width})
    dim T in 1..{tokens}
    in X f32[t, h, d]
    out R f32[t, h] = rsqrt(sum(X * X) / {width} + 1e-06)
  node normed(x, r, w) -> normed
    op apply(t: T, h: {heads}, d: {width})
    dim T in 1..{tokens}
    in X f32[t, h, d]
    in R f32[t, h]
    in W f32[d]
    out Y f32[t, h, d] = X * R * W
  node y(normed, turn) -> y
    op rotate(t: T, h: {heads}, d: {width})
    dim T in 1..{tokens}
    in X f32[t, h, d]
    in C f32[d]
    out Y f32[t, h, d] = X * C + X[t, h, (d + {half}) mod {width}]

output y
)",
                                          fmt::arg("tokens", kMostTokens), fmt::arg("heads", heads),
                                          fmt::arg("width", width), fmt::arg("half", width / 2)),
                              "norm");
    verify(graph, "norm");
    return graph;
}

/// A description of a machine of so many lanes.
machine::Machine machine_of(int64_t lanes) {
    const char* name = lanes == 16 ? "avx512" : lanes == 8 ? "avx2" : "generic-x86-64";
    return machine::read_machine(fmt::format("{}/machines/{}.toml", TESSERA_SOURCE_DIR, name));
}

TensorData contents(const Value& value, int64_t tokens) {
    TensorData data{evaluate(value.type.shape, {{"T", tokens}}), {}};
    int64_t count = 1;
    for (const int64_t extent : data.shape) count *= extent;
    double next = 0.37;
    for (int64_t e = 0; e < count; ++e) {
        next = 3.9 * next * (1 - next);  // the logistic map wanders between 0 and 1
        data.values.push_back(static_cast<float>(2 * next - 1));
    }
    return data;
}

GraphCall call_of(const Graph& graph, int64_t tokens) {
    GraphCall call;
    call.symbols = {{"T", tokens}};
    call.inputs["x"] = contents(graph[*graph.find("x")], tokens);
    call.constant = [tokens](const Value& constant, int64_t) { return contents(constant, tokens); };
    return call;
}

class RowChains : public ::testing::TestWithParam<int64_t> {};

TEST_P(RowChains, ComputeWhatTheInterpreterDoes) {
    const int64_t lanes = GetParam();
    const auto costs = std::make_shared<const cost::CostModel>(machine_of(lanes));
    struct Case {
        int64_t heads, width, workers;
        int64_t registers;  ///< of a fold
    };
    const std::vector<Case> cases = {{16, 8 * lanes, 1, 2},
                                     {1, 12 * lanes, 1, 4},
                                     {2, 4 * lanes + 2, 1, 1},
                                     {16, 8 * lanes, 2, 2},
                                     {6, 4 * lanes, 3, 2}};
    CompiledPlans compiled(lanes);
    std::vector<Graph> graphs;
    for (const Case& each : cases) {
        graphs.push_back(norm_and_rotation(each.heads, each.width));
        planner::PlannerOptions options{
            .machine = "test", .lanes = lanes, .workers = each.workers, .costs = costs};
        const std::string nest = fmt::format("t:4 h:{} {{ r[loops lanes={} x=d]; t:1 h:1 {{ normed; y }} }}",
                                             std::min<int64_t>(each.heads, 4), each.registers * lanes);
        options.stated = {{"test", "prefill", plan::parse_open_nest(nest, "test", kernels::micro_kernels())}};
        const plan::Plan plan = planner::default_plan(graphs.back(), options);
        planner::verify_plan(graphs.back(), plan, "plan");
        compiled.add(graphs.back(), plan);
    }
    compiled.compile();
    for (size_t g = 0; g < graphs.size(); ++g) {
        for (const int64_t tokens : {int64_t{1}, int64_t{2}, int64_t{7}, int64_t{16}, kMostTokens}) {
            const GraphCall call = call_of(graphs[g], tokens);
            const Difference worst = difference(compiled.run(g, call), interpret_graph(graphs[g], call));
            EXPECT_LE(worst.relative, kTolerance) << cases[g].heads << " heads of " << cases[g].width
                                                  << ", T = " << tokens << ": " << worst.where;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Lanes, RowChains, ::testing::ValuesIn(host_lanes()),
                         [](const auto& lanes) { return fmt::format("{}", lanes.param); });

}  // namespace
}  // namespace tessera::testing
