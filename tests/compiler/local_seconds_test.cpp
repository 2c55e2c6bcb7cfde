#include "compiler/local_seconds.h"

#include <cmath>

#include <gtest/gtest.h>

#include "compiler/operator_cost.h"
#include "cost/measured_machine.h"

namespace tessera::compiler {
namespace {

constexpr const char* kPartsGraph = R"(graph "parts"
symbol T in 1..8
point decode weight 3: T = 1
point prefill weight 1: T = 8
input x: f32[T, 160]
constant w: bf16[64, 160] from "w"
value e: f32[T, 160]
value product: f32[T, 64]
block body
  node e(x) -> e
    op e(t: T, d: 160)
    dim T in 1..8
    in X f32[t, d]
    out Y f32[t, d] = exp(X) + 1
  node product(x, w) -> product
    op matmul(t: T, n: 64, k*: 160)
    dim T in 1..8
    in X f32[t, k]
    in W bf16[n, k]
    out Y f32[t, n] = sum(X * W)
output e, product
)";

/// Seconds of the first of two ranks, which share an iterator, or none.
double seconds_of(const Graph& graph, const CompileOptions& options, size_t node, int iterator) {
    using distribution::LevelChoice;
    const Node& of = graph.blocks[0].nodes[node];
    const Definition& definition = *of.definition();
    std::vector<TensorType> types;
    std::vector<bool> are_constant;
    distribution::Choice choice;
    choice.levels = {{iterator < 0 ? LevelChoice::Kind::kBroadcast : LevelChoice::Kind::kIterator, iterator}};
    for (size_t t = 0; t < definition.tensors.size(); ++t) {
        const ValueId id = t < of.operands.size() ? of.operands[t] : of.results[0];
        types.push_back(graph[id].type);
        are_constant.push_back(graph[id].kind == ValueKind::kConstant);
        int axis = -1;
        for (size_t a = 0; a < definition.tensors[t].map.size(); ++a)
            if (const auto* x = std::get_if<IteratorRef>(&definition.tensors[t].map[a]->node);
                x && x->index == iterator)
                axis = static_cast<int>(a);
        choice.forms.push_back({axis < 0 ? distribution::broadcast() : distribution::split(axis)});
    }
    distribution::Placement placement;
    placement.levels = {{.count = 2, .latency = 0, .seconds_per_byte = 0}};
    const int64_t first[] = {0};
    const spmd::LocalOperator local = spmd::local_operator(definition, types, choice, placement, first);
    return local_seconds(graph, options)(local, are_constant);
}

TEST(LocalSeconds, OfHalfAProductAreLessThanOfTheWhole) {
    const Graph graph = parse_graph(kPartsGraph, "parts");
    const CompileOptions options{.machine = testing::measured_machine(), .workers = 1};
    const double whole = seconds_of(graph, options, 1, -1), half = seconds_of(graph, options, 1, 1);
    EXPECT_TRUE(std::isfinite(whole));
    EXPECT_LT(half, whole);
    // Weights come from the memory, at 10 GB/s.
    EXPECT_GE(half, 32 * 160 * 2 / 10e9);
}

TEST(LocalSeconds, OfOtherOperatorsAreTheirCostsOverThePoints) {
    const Graph graph = parse_graph(kPartsGraph, "parts");
    const CompileOptions options{.machine = testing::measured_machine(), .workers = 1};
    const Node& e = graph.blocks[0].nodes[0];
    const double cost = operator_cost(graph, options.machine, 1)(
        {.what = std::get<DefinitionPtr>(e.op), .results = {graph[e.results[0]].type}},
        std::vector{graph[e.operands[0]].type});
    EXPECT_NEAR(seconds_of(graph, options, 0, -1), cost / (3 + 1), 1e-6 * cost);
}

}  // namespace
}  // namespace tessera::compiler
