// Rows of 16 bits become F32 in front of a product where the machine is faster so, and only there.
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/compiler.h"
#include "compiler/operator_cost.h"
#include "cost/measured_machine.h"
#include "search/rules/rewrite.h"
#include "support/temporary_folder.h"

namespace tessera::compiler {
namespace {

using ::testing::HasSubstr;

constexpr const char* kWidening = R"(graph "narrow_rows"
symbol T in 1..64
point prefill weight 1: T = 48
input x: bf16[T, 1000]
constant w: bf16[64, 1000] from "w"
value y: f32[T, 64]
block body
  node y(x, w) -> y
    op matmul(t: T, n: 64, k*: 1000)
    dim T in 1..64
    in X bf16[t, k]
    in W bf16[n, k]
    out Y f32[t, n] = sum(X * W)
output y
)";

/// Twelve rows take 12 us where A is BF16, and this where it is F32.
machine::Machine machine_where_f32_takes(double seconds) {
    machine::Machine machine = testing::measured_machine();
    const std::map<std::string, int64_t> many = {{"rows", 12}, {"groups", 2}, {"lanes", 16}},
                                         size = {{"m", 12}, {"n", 16}, {"k", 1000}};
    machine.units[0].peaks[0].operations_per_second = 10e9;  // for products that were not timed
    for (const char* level : {"L2", "memory"}) {
        machine.micro_kernels.push_back(
            testing::kernel_time("contract", "bf16", "bf16", many, size, level, 12e-6));
        machine.micro_kernels.push_back(
            testing::kernel_time("contract", "f32", "bf16", many, size, level, seconds));
    }
    return machine;
}

rules::Rewritten rewritten_where_f32_takes(double seconds) {
    const Graph graph = parse_graph(kWidening, "narrow_rows");
    return rules::rewrite(graph, {.cost = operator_cost(graph, machine_where_f32_takes(seconds), 1)});
}

TEST(WidenFactor, HappensWhereTheMachineMultipliesF32Faster) {
    const rules::Rewritten result = rewritten_where_f32_takes(8e-6);
    ASSERT_EQ(result.graph.blocks[0].nodes.size(), 2u);
    const Node& cast = result.graph.blocks[0].nodes[0];
    EXPECT_EQ(result.graph[cast.results[0]].type.element, ElementType::kF32);
    EXPECT_EQ(cast.definition()->tensors.front().type, ElementType::kBF16);
    EXPECT_THAT(print(result.blocks), HasSubstr("widen-factor"));
}

TEST(WidenFactor, DoesNotHappenForNothing) {
    EXPECT_EQ(rewritten_where_f32_takes(12e-6).graph.blocks[0].nodes.size(), 1u);
    EXPECT_EQ(rewritten_where_f32_takes(20e-6).graph.blocks[0].nodes.size(), 1u);
}

// Two workers wait for the memory whatever they multiply, so that their graph has no cast.
TEST(WidenFactor, APlanIsCompiledWithTheGraphOfItsWorkers) {
    CompileOptions options{.machine = machine_where_f32_takes(8e-6)};
    options.machine.memory.back().read_bandwidth = {{.threads = 1, .bytes_per_second = 10e9},
                                                    {.threads = 2, .bytes_per_second = 1e9}};
    const Graph graph = parse_graph(kWidening, "narrow_rows");
    CompileReport report;
    const TemporaryFolder folder;
    for (const int64_t workers : {1, 2}) {
        options.plan.reset();
        options.workers = workers;
        const Compiled planned = compile_graph(graph, options, report);
        EXPECT_EQ(planned.graph.blocks[0].nodes.size(), workers == 1 ? 2u : 1u);
        options.plan = folder.path() / "plan.toml";
        std::ofstream(*options.plan) << plan::print(planned.plan);
        options.workers.reset();
        EXPECT_EQ(plan::print(compile_graph(graph, options, report).plan), plan::print(planned.plan));
    }
}

}  // namespace
}  // namespace tessera::compiler
