#include "compiler/operator_cost.h"

#include <cmath>

#include <gtest/gtest.h>

#include "cost/measured_machine.h"

namespace tessera::compiler {
namespace {

constexpr const char* kGraph = R"(graph "costs"
symbol T in 1..8
point decode weight 3: T = 1
point prefill weight 2: T = 8
input x: f32[T, 160]
input w: bf16[32, 160]
value split: f32[T, 10, 16]
value turned: f32[160, T]
value e: f32[T, 160]
value product: f32[T, 32]
block body
  node split(x) -> split
    op split_heads(t: T, h: 10, e: 16)
    dim T in 1..8
    in X f32[t, h * 16 + e] of [T, 160]
    out Y f32[t, h, e] = X
  node e(x) -> e
    op e(t: T, d: 160)
    dim T in 1..8
    in X f32[t, d]
    out Y f32[t, d] = exp(X) + 1
  node product(x, w) -> product
    op matmul(t: T, n: 32, k*: 160)
    dim T in 1..8
    in X f32[t, k]
    in W bf16[n, k]
    out Y f32[t, n] = sum(X * W)
  node turned(x) -> turned
    op transpose(d: 160, t: T)
    dim T in 1..8
    in X f32[t, d]
    out Y f32[d, t] = X
output split, e, product, turned
)";

double cost_of(const Graph& graph, size_t node, const machine::Machine& machine,
               std::optional<int64_t> workers) {
    const Node& of = graph.blocks[0].nodes[node];
    std::vector<TensorType> operands;
    for (const ValueId operand : of.operands) operands.push_back(graph[operand].type);
    return operator_cost(graph, machine, workers)(
        {.what = std::get<DefinitionPtr>(of.op), .results = {graph[of.results[0]].type}}, operands);
}

constexpr double kViews = (3 + 2) * 1e-9;  // by the weights of the points

TEST(OperatorCost, OfAViewIsAlmostNothing) {
    const Graph graph = parse_graph(kGraph, "costs");
    EXPECT_DOUBLE_EQ(cost_of(graph, 0, testing::measured_machine(), 1), kViews);
}

TEST(OperatorCost, OfATransposeThatItsReaderGathersIsThatOfACopy) {
    const Graph graph = parse_graph(kGraph, "costs");
    // One row stays as it lies. Each of eight rows loads and stores 160 numbers, 16 in 1 ns.
    EXPECT_GE(cost_of(graph, 3, testing::measured_machine(), 1), 3 * 1e-9 + 2 * 8 * (2 * 10 * 1e-9));
}

TEST(OperatorCost, IsThatOfTheFastestMicroKernel) {
    const Graph graph = parse_graph(kGraph, "costs");
    const machine::Machine machine = testing::measured_machine();
    const double one = cost_of(graph, 2, machine, 1), two = cost_of(graph, 2, machine, 2);
    EXPECT_GT(one, 0);
    EXPECT_LE(two, one);
    // Weights come from the memory: 32 x 160 numbers of two bytes at 10 GB/s, at each point.
    EXPECT_GE(one, (3 + 2) * 32 * 160 * 2 / 10e9);
}

TEST(OperatorCost, OfAMachineThatWasNotMeasuredFollowsFromItsRoofs) {
    const Graph graph = parse_graph(kGraph, "costs");
    machine::Machine machine = testing::measured_machine();
    machine.micro_kernels.clear();
    EXPECT_DOUBLE_EQ(cost_of(graph, 0, machine, 1), kViews);
    const double product = cost_of(graph, 2, machine, 1);
    EXPECT_GE(product, (3 + 2) * 32 * 160 * 2 / 10e9);
    EXPECT_TRUE(std::isfinite(product));
    EXPECT_GT(cost_of(graph, 1, machine, 1), 0);
    EXPECT_TRUE(std::isfinite(cost_of(graph, 1, machine, 1)));
}

TEST(OperatorCost, OfACompositeIsInfinite) {
    const Graph graph = parse_graph(kGraph, "costs");
    const rules::OperatorCost cost = operator_cost(graph, testing::measured_machine(), 1);
    EXPECT_TRUE(std::isinf(cost({.what = Composite{.kind = "rms_norm", .attributes = {}},
                                 .results = {graph[graph.blocks[0].nodes[1].results[0]].type}},
                                {})));
}

/// Rewriting must not turn what is compiled into what is not.
TEST(OperatorCost, OfWhatIsNotCompiledIsInfinite) {
    const Graph graph = parse_graph(R"(graph "refused"
input x: i32[4]
input w: f32[4]
value y: i32[2, 4]
value z: f32[3]
block body
  node y(x) -> y
    op repeat(i: 2, j: 4)
    in X i32[j]
    out Y i32[i, j] = X
  node z(x, w) -> z
    op scatter(t*: 4)
    index id i32[t]
    in W f32[t]
    out Z f32[id[t]] of [3] = 0.5 * sum(W)
output y, z
)",
                                    "refused");
    EXPECT_TRUE(std::isinf(cost_of(graph, 0, testing::measured_machine(), 1)));
    EXPECT_TRUE(std::isinf(cost_of(graph, 1, testing::measured_machine(), 1)));
}

}  // namespace
}  // namespace tessera::compiler
