// Kernels of a step: the levels of their bytes, and their waits.

#include "cost/step_cost.h"

#include <cmath>
#include <set>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "cost/measured_machine.h"
#include "lowering/kernels/micro_kernels.h"

namespace tessera::cost {
namespace {

/// A product with a weight of n columns that a block repeats, and an addition to it.
Graph product_and_sum(int64_t n, int64_t repeat) {
    const std::string weight = repeat > 1 ? fmt::format("\"w.*\" for 0..{}", repeat - 1) : "\"w\"";
    return parse_graph(fmt::format(R"(graph "g"
input x: f32[1, 1000]
constant w: f32[{0}, 1000] from {1}
value y: f32[1, {0}]
value z: f32[1, {0}]

block layer repeat {2}
  node y(x, w) -> y
    op matmul(t: 1, n: {0}, k*: 1000)
    in X f32[t, k]
    in W f32[n, k]
    out Y f32[t, n] = sum(X * W)
  node z(y, y) -> z
    op add(t: 1, n: {0})
    in A f32[t, n]
    in B f32[t, n]
    out Y f32[t, n] = A + B
)",
                                   n, weight, repeat),
                       "g");
}

plan::Plan plan_of(const Graph& graph, int64_t workers = 1, const char* loop = "",
                   const char* loop_of_sum = "") {
    plan::Plan plan;
    plan.graph = graph.name;
    plan.workers = workers;
    plan.stored["w"] = {.order = {}, .lanes = {{0, 16}}};
    plan::SpecialisationPlan s;
    s.name = "whole";
    const auto nest = [](const std::string& around, const std::string& leaf) {
        return plan::parse_nest(around.empty() ? leaf : around + "{ " + leaf + " }", "nest",
                                kernels::micro_kernels());
    };
    s.kernels = {{"layer", nest(loop, "y[contract m=t n=n k=k lanes=16 rows=1 groups=1]")},
                 {"layer", nest(loop_of_sum, "z[loops x=n lanes=16]"), workers > 1}};
    s.tensors["y"] = {};
    s.tensors["z"] = {};
    plan.specialisations.push_back(s);
    return plan;
}

const CostModel kCosts(testing::measured_machine());
/// Seconds of the product's only call beyond what the table lists.
constexpr double kCall = 10e-9;

std::vector<KernelCost> costs(int64_t n, int64_t repeat, int64_t workers = 1, const char* loop = "",
                              const CostModel& model = kCosts, const char* loop_of_sum = "") {
    const Graph graph = product_and_sum(n, repeat);
    verify(graph, "g");
    const plan::Plan plan = plan_of(graph, workers, loop, loop_of_sum);
    return step_costs(graph, plan, plan.specialisations[0], {}, model);
}

TEST(StepCosts, WeightsThatACacheHoldsComeFromThere) {
    // 64,000 bytes fit L2, in which the table's near times hold.
    const KernelCost product = costs(16, 1)[0];
    EXPECT_EQ(product.name, "y");
    EXPECT_NEAR(product.near_seconds, 1e-6 + kCall, 1e-12);
    EXPECT_EQ(product.stall_seconds, 0);
    EXPECT_NEAR(product.seconds, 1e-6 + kCall, 1e-12);
}

TEST(StepCosts, WeightsOfManyRepetitionsComeFromMemory) {
    const KernelCost product = costs(16, 1000)[0];
    EXPECT_EQ(product.repeat, 1000);
    EXPECT_NEAR(product.stall_seconds, 10e-6, 1e-11);
    EXPECT_NEAR(product.seconds, 11e-6 + kCall, 1e-11);  // as listed
    ASSERT_FALSE(product.levels.empty());
    EXPECT_EQ(product.levels.back().level, "memory");
    EXPECT_EQ(product.levels.back().bytes, 64000);
    EXPECT_NEAR(product.levels.back().seconds, 6.4e-6, 1e-12);
}

TEST(StepCosts, WhatTheKernelBeforeWroteIsInItsCache) {
    const KernelCost sum = costs(160, 1000)[1];
    EXPECT_EQ(sum.name, "z");
    // Loads and stores of ten groups, two of the same operand; the product's weight has gone by since the
    // kernel began that wrote y.
    EXPECT_NEAR(sum.near_seconds, 10 * (3 * 1e-9 + 2e-9), 1e-13);
    for (const LevelTraffic& level : sum.levels) EXPECT_NE(level.level, "memory");
}

TEST(StepCosts, AKernelWaitsOnceForTheFarthestOfItsLoads) {
    machine::Machine slow = testing::measured_machine();
    slow.memory.back().latency_seconds = 1e-3;
    const std::vector<KernelCost> near = costs(16, 1000), far = costs(16, 1000, 1, "", CostModel(slow));
    EXPECT_NEAR(far[0].seconds - near[0].seconds, 1e-3, 1e-12) << "weights come from memory";
    EXPECT_NEAR(far[1].seconds, near[1].seconds, 1e-12) << "the addition reads what the product wrote";
}

TEST(StepCosts, WorkersShareTheWorkAndMeet) {
    const KernelCost product = costs(320, 1000, 2, "n:160@worker ")[0];
    EXPECT_NEAR(product.near_seconds, 10e-6 + kCall, 1e-10);
    EXPECT_EQ(product.levels.back().bytes, 160 * 4000);
    EXPECT_EQ(costs(320, 1000, 2, "n:160@worker ")[1].barrier_seconds, 1e-6);
    // Parts that are not equal: the worker with most counts.
    EXPECT_NEAR(costs(320, 1000, 2, "n:256@worker ")[0].near_seconds, 16e-6 + kCall, 1e-10);
}

TEST(StepCosts, WhatOtherWorkersWroteComesFromTheCacheThatTheyShare) {
    const auto levels = [](const KernelCost& cost) {
        std::set<std::string> names;
        for (const LevelTraffic& level : cost.levels) names.insert(level.level);
        return names;
    };
    const char* const halves = "n:16@worker ";
    EXPECT_TRUE(levels(costs(32, 1, 2, halves)[1]).contains("L3"));
    EXPECT_FALSE(levels(costs(32, 1)[1]).contains("L3")) << "one worker wrote it itself";
    EXPECT_FALSE(levels(costs(32, 1, 2, halves, kCosts, halves)[1]).contains("L3"))
        << "each wrote what it reads";
}

TEST(StepCosts, AStoreIsNotWaitedFor) {
    // The second sum reads what the first one has just made, and writes what lies behind all of the product.
    const Graph graph = parse_graph(R"(graph "g"
input x: f32[1, 1000]
constant w: f32[1600, 1000] from "w"
value y: f32[1, 1600]
value a: f32[1, 1600]
value b: f32[1, 1600]

block layer
  node y(x, w) -> y
    op matmul(t: 1, n: 1600, k*: 1000)
    in X f32[t, k]
    in W f32[n, k]
    out Y f32[t, n] = sum(X * W)
  node a(y) -> a
    op scaled(t: 1, n: 1600)
    in A f32[t, n]
    out Y f32[t, n] = A * 2
  node b(a) -> b
    op scaled(t: 1, n: 1600)
    in A f32[t, n]
    out Y f32[t, n] = A * 2
)",
                                    "g");
    plan::Plan plan = plan_of(graph);
    plan::SpecialisationPlan& s = plan.specialisations[0];
    s.kernels.pop_back();
    for (const char* sum : {"a", "b"}) {
        s.kernels.push_back({"layer", plan::parse_nest(std::string(sum) + "[loops x=n lanes=16]", "nest",
                                                       kernels::micro_kernels())});
        s.tensors[sum] = {};
    }
    machine::Machine slow = testing::measured_machine();
    for (size_t level = 2; level < slow.memory.size(); ++level) slow.memory[level].latency_seconds = 1e-3;
    const auto seconds_of_last = [&](const machine::Machine& machine) {
        return step_costs(graph, plan, s, {}, CostModel(machine)).back().seconds;
    };
    EXPECT_NEAR(seconds_of_last(slow), seconds_of_last(testing::measured_machine()), 1e-12);
}

TEST(StepCosts, MoreBytesAreNeverCheaper) {
    double before = 0;
    for (const int64_t n : {16, 32, 64, 160, 320, 1600, 3200, 16000}) {
        for (const KernelCost& cost : costs(n, 1))
            EXPECT_TRUE(std::isfinite(cost.seconds)) << cost.why_infinite;
        const double seconds = total_seconds(costs(n, 1));
        EXPECT_GT(seconds, before) << n;
        before = seconds;
    }
    EXPECT_GT(total_seconds(costs(16, 2000)), total_seconds(costs(16, 1000)));
}

TEST(StepCosts, ATableWithoutLoopsCountsAsNone) {
    machine::Machine machine = testing::measured_machine();
    std::erase_if(machine.micro_kernels,
                  [](const machine::MicroKernelTime& time) { return time.name == "loops"; });
    ASSERT_FALSE(machine.micro_kernels.empty());
    machine::Machine bare = machine;
    bare.micro_kernels.clear();
    EXPECT_FALSE(CostModel(machine).is_measured());
    const Graph graph = product_and_sum(16, 1);
    const plan::Plan plan = plan_of(graph);
    const auto of = [&](const machine::Machine& on) {
        return step_costs(graph, plan, plan.specialisations[0], {}, CostModel(on));
    };
    EXPECT_EQ(of(machine), of(bare));
    for (const KernelCost& cost : of(machine)) EXPECT_TRUE(std::isfinite(cost.seconds)) << cost.why_infinite;
}

}  // namespace
}  // namespace tessera::cost
