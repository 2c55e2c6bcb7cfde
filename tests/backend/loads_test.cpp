// Kernels that load operands into tiles, also ragged ones, against the interpreter.
#include "search/planner/loads.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "backend/compiled_plans.h"
#include "lowering/kernels/micro_kernels.h"
#include "lowering/plan/copies.h"
#include "search/planner/default_planner.h"
#include "search/planner/usual_machine.h"
#include "search/planner/verify_plan.h"

namespace tessera::testing {
namespace {

Graph product(int64_t columns) {
    Graph graph = parse_graph(fmt::format(R"(graph "product"
symbol T in 1..20
point prompt weight 1: T = 20
input A: f32[T, 24]
input B: f32[{0}, 24]
value C: f32[T, {0}]

block main
  node C(A, B) -> C
    op matmul(t: T, n: {0}, k*: 24)
    dim T in 1..20
    in A f32[t, k]
    in B f32[n, k]
    out C f32[t, n] = sum(A * B)
output C
)",
                                          columns),
                              "product");
    verify(graph, "product");
    return graph;
}

TensorData operand_of(const Value& value, int64_t tokens) {
    TensorData data{evaluate(value.type.shape, {{"T", tokens}}), {}};
    const int64_t count = data.shape[0] * data.shape[1];
    for (int64_t i = 0; i < count; ++i) data.values.push_back(static_cast<float>((i * 37 + 11) % 64) / 8 - 4);
    return data;
}

TEST(Loads, ComputeWhatTheInterpreterDoes) {
    const int64_t lanes = host_lanes().front();
    CompiledPlans compiled(lanes);
    std::vector<Graph> graphs;
    std::vector<std::string> nests;
    for (const int64_t columns : {int64_t{40}, int64_t{64}, int64_t{70}}) {
        for (const std::string& nest :
             {fmt::format("n:{0} {{ load B as lanes <0:{0}>; C }}", lanes),
              fmt::format("n:{0} {{ load B as lanes <0:{1}>; t:4 {{ load A; C }} }}", 2 * lanes, lanes),
              std::string("t:4 n:32 { load A as order [1, 0]; load B; C }")}) {
            graphs.push_back(product(columns));
            nests.push_back(nest);
            const auto stated = plan::parse_stated_kernels(fmt::format("[[kernel]]\nnest = \"{}\"\n", nest),
                                                           "test", kernels::micro_kernels());
            planner::PlannerOptions options = testing::on_usual_machine({.machine = "test", .lanes = lanes});
            const plan::Plan initial =
                planner::with_loads(graphs.back(), planner::initial_plan(graphs.back(), options), stated);
            options.stated = planner::with_copies(stated);
            const Graph whole = plan::with_copies(graphs.back(), initial, "plan");
            const plan::Plan plan = planner::complete_plan(whole, initial, options);
            planner::verify_plan(whole, plan, "plan");
            compiled.add(whole, plan);
        }
    }
    compiled.compile();
    for (size_t g = 0; g < graphs.size(); ++g) {
        for (const int64_t tokens : {int64_t{1}, int64_t{7}, int64_t{20}}) {
            GraphCall call;
            call.symbols = {{"T", tokens}};
            for (const char* name : {"A", "B"})
                call.inputs[name] = operand_of(graphs[g][*graphs[g].find(name)], tokens);
            const Difference worst = difference(compiled.run(g, call), interpret_graph(graphs[g], call));
            EXPECT_EQ(worst.relative, 0) << nests[g] << ", T = " << tokens << ": " << worst.where;
        }
    }
}

}  // namespace
}  // namespace tessera::testing
