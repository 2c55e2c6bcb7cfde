#include <string>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "ir/graph.h"
#include "search/planner/default_planner.h"
#include "search/planner/usual_machine.h"

namespace tessera::planner {
namespace {

constexpr int kProducts = 4;  // of a layer, each of all that the one before it makes

std::string value(int layer, int product) {
    return fmt::format("l{}p{}", layer, product);
}

/// One block of so many layers, each with a state of keys and one of values: as of a model whose layers take
/// turns in the types of their weights.
Graph block_of(int layers) {
    std::string values, nodes, updates, previous = "begin";
    for (int l = 0; l < layers; ++l) {
        for (int p = 0; p < kProducts; ++p) {
            const std::string name = value(l, p);
            values += fmt::format(
                "constant w_{0}: f32[512, 512] from \"{0}.0\", \"{0}.1\"\nvalue {0}: f32[T, 512]\n", name);
            nodes += fmt::format(
                "  node {0}({1}, w_{0}) -> {0}\n    op matmul(t: T, n: 512, k*: 512)\n    dim T in 1..1\n"
                "    in X f32[t, k]\n    in W f32[n, k]\n    out Y f32[t, n] = sum(X * W)\n",
                name, previous);
            previous = name;
        }
        for (const char* state : {"keys", "values"}) {
            const std::string name = fmt::format("{}{}", state, l);
            values += fmt::format("state {0}: f32[8, 512]\nvalue {0}_new: f32[8, 512]\n", name);
            updates += fmt::format("  update {0} -> {0}_new\n", name);
            nodes += fmt::format(
                "  node {0}_update(slot, {1}) over {0} -> {0}_new\n    op store_rows(t: T, n: 512)\n"
                "    dim T in 1..1\n    index slot i32[t]\n    in X f32[t, n]\n"
                "    update C f32[slot[t], n] of [8, 512] = X\n",
                name, previous);
        }
    }
    const auto copy = [](const std::string& name, const std::string& x) {
        return fmt::format(
            "  node {0}({1}) -> {0}\n    op copy(t: T, n: 512)\n    dim T in 1..1\n    in X f32[t, n]\n"
            "    out Y f32[t, n] = X * 2\n",
            name, x);
    };
    const std::string text =
        "graph \"layers\"\nsymbol T in 1..1\npoint decode weight 1: T = 1\n\ninput x: f32[T, 512]\n"
        "input slot: i32[T]\nvalue begin: f32[T, 512]\nvalue end: f32[T, 512]\n" +
        values + "\nblock first\n" + copy("begin", "x") + "\nblock layer repeat 2 carry begin -> " +
        previous + "\n" + updates + nodes + "\nblock last\n" + copy("end", previous) + "\noutput end\n";
    Graph graph = parse_graph(text, "layers");
    verify(graph, "layers");
    return graph;
}

TEST(DivideWork, EveryLayerOfABlockMayHaveItsBarriers) {
    for (const int layers : {1, 2, 3}) {
        const plan::Plan plan = default_plan(
            block_of(layers), testing::on_usual_machine({.machine = "test", .lanes = 8, .workers = 2}));
        int divided = 0;
        for (const plan::KernelPlan& kernel : plan.specialisations.front().kernels)
            divided += kernel.block == "layer" &&
                       plan::leaves(kernel.nest).front()->kernel->name != "loops" &&
                       !kernel.nest.loops.empty() && kernel.nest.loops.front().is_divided();
        EXPECT_EQ(divided, layers * kProducts) << layers << " layers\n" << plan::print(plan);
    }
}

/// Rows that are scaled by an operator of this name, and a product of them.
Graph rows(const char* name) {
    Graph graph = parse_graph(fmt::format(R"(graph "rows"
symbol T in 1..512
point decode weight 64: T = 1
point prefill_512 weight 1: T = 512

input x: f32[T, 256]
constant w: f32[256, 256] from "w"
value scaled: f32[T, 256]
value y: f32[T, 256]

block main
  node scaled(x) -> scaled
    op {}(t: T, n: 256)
    dim T in 1..512
    in X f32[t, n]
    out Y f32[t, n] = X * 2
  node y(scaled, w) -> y
    op matmul(t: T, n: 256, k*: 256)
    dim T in 1..512
    in X f32[t, k]
    in W f32[n, k]
    out Y f32[t, n] = sum(X * W)
output y
)",
                                          name),
                              "rows");
    verify(graph, "rows");
    return graph;
}

/// For one token all workers compute work whose division would cost more in barriers; for many tokens they
/// share it.
/// A block without states is no layer of a step, but a whole model: as many barriers as are worth their time.
TEST(DivideWork, AProgramHasNoLimitOfBarriers) {
    constexpr int kAll = 12;
    std::string values, nodes, previous = "x";
    for (int p = 0; p < kAll; ++p) {
        const std::string name = value(0, p);
        values += fmt::format("constant w_{0}: f32[512, 512] from \"{0}\"\nvalue {0}: f32[1, 512]\n", name);
        nodes += fmt::format(
            "  node {0}({1}, w_{0}) -> {0}\n    op matmul(t: 1, n: 512, k*: 512)\n"
            "    in X f32[t, k]\n    in W f32[n, k]\n    out Y f32[t, n] = sum(X * W)\n",
            name, previous);
        previous = name;
    }
    const Graph graph = parse_graph("graph \"program\"\ninput x: f32[1, 512]\n" + values + "\nblock main\n" +
                                        nodes + "\noutput " + previous + "\n",
                                    "program");
    verify(graph, "program");
    const plan::Plan plan =
        default_plan(graph, testing::on_usual_machine({.machine = "test", .lanes = 8, .workers = 2}));
    int divided = 0;
    for (const plan::KernelPlan& kernel : plan.specialisations.front().kernels)
        divided += !kernel.nest.loops.empty() && kernel.nest.loops.front().is_divided();
    EXPECT_EQ(divided, kAll) << plan::print(plan);
}

TEST(DivideWork, WhatAllComputeForATokenIsSharedForAPrompt) {
    const Graph graph = rows("scale");
    const plan::Plan plan = default_plan(
        graph, testing::on_usual_machine({.machine = "test", .lanes = 8, .workers = 2, .nests = 0}));
    const auto& decode = plan.specialisations.at(0).kernels;
    const auto& prefill = plan.specialisations.at(1).kernels;
    ASSERT_EQ(decode.size(), 2);
    ASSERT_EQ(prefill.size(), 2);
    EXPECT_FALSE(plan::divided_loop(decode[0].nest)) << plan::print(plan);
    EXPECT_FALSE(decode[1].barrier);
    EXPECT_EQ(plan::divided_loop(decode[1].nest)->iterator, "n");
    for (const plan::KernelPlan& kernel : prefill)
        EXPECT_TRUE(plan::divided_loop(kernel.nest)) << plan::print(plan);
}

/// Each worker would compute the rows of one token for itself; but ranks exchange one copy of them.
TEST(DivideWork, WhatRanksExchangeHasNoCopies) {
    const PlannerOptions options =
        testing::on_usual_machine({.machine = "test", .lanes = 8, .workers = 2, .nests = 0});
    EXPECT_TRUE(default_plan(rows("scale"), options).specialisations.at(0).tensors.at("scaled").each_worker);
    const plan::Plan plan = default_plan(rows("place_between_ranks_0_256"), options);
    const plan::SpecialisationPlan& decode = plan.specialisations.at(0);
    EXPECT_FALSE(decode.tensors.at("scaled").each_worker) << plan::print(plan);
    EXPECT_TRUE(decode.kernels[0].alone || plan::divided_loop(decode.kernels[0].nest)) << plan::print(plan);
}

}  // namespace
}  // namespace tessera::planner
