// How the work of planning grows with a program: counted, never timed.
#include <algorithm>
#include <vector>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "ir/graph.h"
#include "ir/growing_programs.h"
#include "search/planner/default_planner.h"
#include "search/planner/usual_machine.h"

namespace tessera::planner {
namespace {

constexpr int kFew = 16, kMany = 48;

/// The work of the search of kernels for a program.
struct Work {
    int64_t nests = 0, priced = 0, lowered = 0, left_apart = 0;
    bool is_exhausted = true;
};

Work work_of(const std::string& text, PlannerOptions options) {
    const Graph graph = parse_graph(text, "growing");
    verify(graph, "growing");
    Work work;
    options.machine = "test";
    options.lanes = 8;
    options.workers = 2;
    options.on_schedule = [&](const std::string&, const std::string&, const schedule::Schedule& found) {
        work.nests += found.nests;
        work.priced += found.priced;
        work.lowered += found.lowered;
        work.left_apart += found.left_apart;
        work.is_exhausted = work.is_exhausted && found.is_exhausted;
    };
    // A barrier takes longer than the maps, so that all kernels are worth merging.
    (void)default_plan(graph, testing::on_usual_machine(options, 1e-6));
    return work;
}

class Growth : public ::testing::TestWithParam<size_t> {};

TEST_P(Growth, OfPlanningIsNearLinear) {
    const tessera::testing::GrowingKind kind = tessera::testing::growing_kinds().at(GetParam());
    const Work few = work_of(kind.text(2 * kFew), {}), many = work_of(kind.text(2 * kMany), {});
    // Three times as large; a constant is for what begins only from some size on.
    constexpr int64_t kFactor = 4;
    EXPECT_LE(many.nests, kFactor * few.nests + 200) << kind.name;
    EXPECT_LE(many.priced, kFactor * few.priced + 300'000) << kind.name;
    EXPECT_LE(many.lowered, kFactor * few.lowered + 200) << kind.name;
}

INSTANTIATE_TEST_SUITE_P(Kinds, Growth, ::testing::Range(size_t{0}, tessera::testing::growing_kinds().size()),
                         [](const auto& kind) {
                             std::string name = tessera::testing::growing_kinds()[kind.param].name;
                             std::ranges::replace(name, ' ', '_');
                             return name;
                         });

TEST(Growth, EqualKernelsAreSolvedOnce) {
    const auto chain = [](int n) {
        tessera::testing::GrowingProgram program;
        program.input("x", "6, 8");
        std::string last = "x";
        for (int i = 0; i < n; ++i) {
            const std::string name = "v" + std::to_string(i);
            program.map(name, last, "X * 0.5 + " + std::to_string(i));
            last = name;
        }
        return program.text({last});
    };
    // Beyond the largest kernel there is nothing new.
    const Work few = work_of(chain(2 * kFew), {}), many = work_of(chain(4 * kFew), {});
    EXPECT_LE(10 * many.priced, 11 * few.priced);
}

/// A search finds the same, whatever other blocks have solved before it.
TEST(Growth, EqualKernelsOfBlocksAreSolvedOnce) {
    constexpr int kBlocks = 4, kMaps = 6;
    std::string values, blocks, last = "x";
    for (int b = 0; b < kBlocks; ++b) {
        blocks += fmt::format("block b{}\n", b);
        for (int i = 0; i < kMaps; ++i) {
            const std::string name = fmt::format("v{}_{}", b, i);
            values += fmt::format("value {}: f32[64, 96]\n", name);
            blocks += fmt::format(
                "  node {0}({1}) -> {0}\n    op map(m: 64, n: 96)\n    in X f32[m, n]\n"
                "    out Y f32[m, n] = exp(X) + {2}\n",
                name, last, i);
            last = name;
        }
    }
    const Graph graph = parse_graph(
        fmt::format("graph \"blocks\"\ninput x: f32[64, 96]\n{}{}output {}\n", values, blocks, last),
        "blocks");
    verify(graph, "blocks");
    std::vector<schedule::Schedule> found;
    PlannerOptions options = testing::on_usual_machine({.machine = "test", .lanes = 8, .workers = 2}, 1e-6);
    options.on_schedule = [&](const std::string&, const std::string&, const schedule::Schedule& each) {
        found.push_back(each);
    };
    (void)default_plan(graph, options);
    ASSERT_EQ(found.size(), static_cast<size_t>(kBlocks));
    // The first block reads an input, the last one writes an output.
    EXPECT_EQ(found[2].nests, found[1].nests);
    EXPECT_EQ(found[2].priced, found[1].priced);
    EXPECT_EQ(found[2].seconds, found[1].seconds);
    EXPECT_GT(found[1].nests, 1);
    EXPECT_EQ(found[2].lowered, static_cast<int64_t>(found[2].kernels.size()));
    EXPECT_GT(found[0].lowered, static_cast<int64_t>(found[0].kernels.size()));
}

TEST(Growth, WhatLimitsLeaveApartIsCounted) {
    const std::string text = tessera::testing::chain_of_maps(kMany);
    PlannerOptions options;
    EXPECT_GT(work_of(text, options).left_apart, 0);
    options.limits = {.operators = kMany, .braces = kMany};
    EXPECT_EQ(work_of(text, options).left_apart, 0);
    options.nests = 10;
    EXPECT_FALSE(work_of(text, options).is_exhausted);
}

}  // namespace
}  // namespace tessera::planner
