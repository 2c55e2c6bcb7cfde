#include "planner/row_nests.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "cost/measured_machine.h"
#include "kernels/micro_kernels.h"
#include "planner/default_planner.h"
#include "planner/verify_plan.h"

namespace tessera::planner {
namespace {

/// A norm of heads, and `behind` maps that follow each other.
Graph chain(const std::string& heads, int64_t width, int behind) {
    std::string text = fmt::format(
        "graph \"chain\"\nsymbol T in 1..64\npoint prefill weight 1: T = 64\n\n"
        "input x: f32[T, {0}, {1}]\nvalue r: f32[T, {0}]\n",
        heads, width);
    for (int i = 0; i < behind; ++i) text += fmt::format("value y{}: f32[T, {}, {}]\n", i, heads, width);
    text += fmt::format(
        "\nblock main\n  node r(x) -> r\n    op reduce(t: T, h: {0}, d*: {1})\n    dim T in 1..64\n"
        "    in X f32[t, h, d]\n    out R f32[t, h] = rsqrt(sum(X * X) + 1)\n"
        "  node y0(x, r) -> y0\n    op apply(t: T, h: {0}, d: {1})\n    dim T in 1..64\n"
        "    in X f32[t, h, d]\n    in R f32[t, h]\n    out Y f32[t, h, d] = X * R\n",
        heads, width);
    for (int i = 1; i < behind; ++i)
        text += fmt::format(
            "  node y{0}(y{1}) -> y{0}\n    op turn(t: T, h: {2}, d: {3})\n    dim T in 1..64\n"
            "    in X f32[t, h, d]\n    out Y f32[t, h, d] = X[t, h, (d + {4}) mod {3}] * 2\n",
            i, i - 1, heads, width, width / 2);
    text += fmt::format("\noutput y{}\n", behind - 1);
    Graph graph = parse_graph(text, "chain");
    verify(graph, "chain");
    return graph;
}

using Texts = std::vector<std::string>;

/// Nests over rows t and h, or t alone, with the names of their leaves.
Texts nests_of(const Graph& graph, const std::vector<int>& shared, int64_t most_tokens) {
    std::vector<const Node*> nodes;
    for (const Node& node : graph.blocks[0].nodes) nodes.push_back(&node);
    plan::SpecialisationPlan specialisation;
    specialisation.bounds["T"] = {1, most_tokens};
    Texts texts;
    for (const plan::Nest& nest : row_nests(nodes, shared, specialisation)) {
        std::string text = plan::print(nest);
        for (size_t at = text.find("[loops]"); at != std::string::npos; at = text.find("[loops]"))
            text.erase(at, std::string("[loops]").size());
        texts.push_back(std::move(text));
    }
    return texts;
}

TEST(RowNests, GrowFromTheInnermostLoop) {
    EXPECT_EQ(nests_of(chain("16", 8, 1), {0, 1}, 64),
              (Texts{"t:1 h:1 { r; y0 }", "t:1 h:2 { r; y0 }", "t:1 h:4 { r; y0 }", "t:1 h:8 { r; y0 }",
                     "t:1 h:16 { r; y0 }", "t:2 h:16 { r; y0 }"}));
    EXPECT_EQ(nests_of(chain("3", 8, 1), {0, 1}, 64),
              (Texts{"t:1 h:1 { r; y0 }", "t:1 h:3 { r; y0 }", "t:2 h:3 { r; y0 }", "t:4 h:3 { r; y0 }",
                     "t:8 h:3 { r; y0 }"}));
    EXPECT_EQ(nests_of(chain("16", 8, 1), {0}, 4),
              (Texts{"t:1 { r; y0 }", "t:2 { r; y0 }", "t:4 { r; y0 }"}));
}

TEST(RowNests, WhatComesBehindTheFoldMayGoARowAtATime) {
    EXPECT_EQ(
        nests_of(chain("2", 8, 3), {0, 1}, 2),
        (Texts{"t:1 h:1 { r; y0; y1; y2 }", "t:1 h:2 { r; y0; y1; y2 }", "t:1 h:2 { r; h:1 { y0; y1; y2 } }",
               "t:2 h:2 { r; y0; y1; y2 }", "t:2 h:2 { r; t:1 h:1 { y0; y1; y2 } }"}));
}

TEST(RowNests, EndWithTheRowsThatThereAre) {
    EXPECT_EQ(nests_of(chain("2", 8, 1), {0, 1}, 1), (Texts{"t:1 h:1 { r; y0 }", "t:1 h:2 { r; y0 }"}));
    EXPECT_EQ(nests_of(chain("1", 8, 1), {0, 1}, 5),
              (Texts{"t:1 h:1 { r; y0 }", "t:2 h:1 { r; y0 }", "t:4 h:1 { r; y0 }"}));
    EXPECT_EQ(nests_of(chain("1", 8, 1), {0, 1}, 1), (Texts{"t:1 h:1 { r; y0 }"}));
}

TEST(RowNests, DivideWhatIsConstant) {
    EXPECT_EQ(nests_of(chain("40", 8, 1), {0, 1}, 64),
              (Texts{"t:1 h:1 { r; y0 }", "t:1 h:2 { r; y0 }", "t:1 h:4 { r; y0 }", "t:1 h:8 { r; y0 }"}));
    EXPECT_EQ(nests_of(chain("37", 8, 1), {0, 1}, 64), (Texts{"t:1 h:1 { r; y0 }"}));
}

/// The planner's nests for a chain if, besides loads of 1 ns and operations of 2 ns, these counts take as
/// many ns. Workers have 16 lanes, L1 has 32 KiB.
std::string planned(const Graph& graph, const std::map<std::string, double>& nanoseconds,
                    int64_t workers = 1) {
    machine::Machine machine = testing::measured_machine();
    for (const auto& [count, each] : nanoseconds) {
        machine::MicroKernelTime time{
            .name = "loops", .types = {{"C", "f32"}}, .parameters = {{"lanes", 16}}};
        time.sizes = {{"i", 160}};
        time.work = {{count, 10}};
        time.level = "L2";
        time.seconds = 10e-9 * each;
        machine.micro_kernels.push_back(time);
    }
    const plan::Plan plan = default_plan(graph, {.machine = "doctored",
                                                 .workers = workers,
                                                 .costs = std::make_shared<const cost::CostModel>(machine)});
    EXPECT_NO_THROW(verify_plan(graph, plan, "default plan"));
    EXPECT_TRUE(plan::parse_plan(plan::print(plan), "printed", kernels::micro_kernels()) == plan);
    EXPECT_EQ(plan.specialisations.back().kernels.size(), 1U);
    return plan::print(plan.specialisations.back().kernels.front().nest);
}

const std::string kLeaves = " { r[loops lanes=16 x=d]; y0[loops lanes=16 x=d] }";

// A row of 128 takes 9 + 16 loads and stores and 8 + 8 operations, 57 ns.
TEST(RowNests, AreAsLargeAsTheWaitForAFoldMakesThem) {
    const Graph norm = chain("1", 128, 1);
    EXPECT_EQ(planned(norm, {}), "t:1 h:1" + kLeaves);
    EXPECT_EQ(planned(norm, {{"waits", 1}}), "t:1 h:1" + kLeaves) << "58 ns, with 16 rows 57.1";
    EXPECT_EQ(planned(norm, {{"waits", 2}}), "t:2 h:1" + kLeaves) << "59, 58, with 16 rows 57.1";
    EXPECT_EQ(planned(norm, {{"waits", 4}}), "t:4 h:1" + kLeaves) << "61, 59, 58, with 16 rows 57.25";
    EXPECT_EQ(planned(norm, {{"waits", 8}}), "t:8 h:1" + kLeaves);
    EXPECT_EQ(planned(norm, {{"waits", 1000}}), "t:16 h:1" + kLeaves) << "32 rows are more than L1 holds";
}

// A row of 1,024 is 4 KiB of x and as much of y.
TEST(RowNests, StayInTheInnermostCache) {
    EXPECT_EQ(planned(chain("1", 512, 1), {{"waits", 10000}}), "t:4 h:1" + kLeaves);
    EXPECT_EQ(planned(chain("1", 1024, 1), {{"waits", 10000}}), "t:2 h:1" + kLeaves);
    EXPECT_EQ(planned(chain("1", 2048, 1), {{"waits", 10000}}), "t:1 h:1" + kLeaves);
}

// Among nests that take about the same time, one without a loop over parts of the heads is chosen, and then
// the one that touches less inside its loops.
TEST(RowNests, ReadWhatWasJustWritten) {
    EXPECT_EQ(planned(chain("16", 128, 2), {{"waits", 50}}),
              "t:1 h:16 { r[loops lanes=16 x=d]; h:1 { y0[loops lanes=16 x=d]; y1[loops lanes=16 x=d] } }");
}

TEST(RowNests, AreDividedBetweenWorkers) {
    EXPECT_EQ(planned(chain("16", 128, 1), {{"waits", 1000}}, 2).find("@worker t:1 h:16" + kLeaves), 3U)
        << planned(chain("16", 128, 1), {{"waits", 1000}}, 2);
}

TEST(RowNests, FoldsTakeSeveralRegistersWhereTheirAdditionsWait) {
    const std::string y = "; y0[loops lanes=16 x=d] }";
    EXPECT_EQ(planned(chain("1", 128, 1), {{"folds", 10}}), "t:1 h:1 { r[loops lanes=64 x=d]" + y);
    EXPECT_EQ(planned(chain("1", 96, 1), {{"folds", 10}}), "t:1 h:1 { r[loops lanes=32 x=d]" + y)
        << "64 would leave a part of a group over";
    EXPECT_EQ(planned(chain("1", 128, 1), {{"folds", 10}, {"waits", 1000}}),
              "t:16 h:1 { r[loops lanes=64 x=d]" + y);
}

TEST(RowNests, WithoutCostsGoARowAtATime) {
    const plan::Plan plan = default_plan(chain("16", 128, 1), {.machine = "unknown"});
    EXPECT_EQ(plan::print(plan.specialisations.back().kernels.front().nest), "t:1 h:1" + kLeaves);
}

}  // namespace
}  // namespace tessera::planner
