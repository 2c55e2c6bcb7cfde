#include "search/schedule/search.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "lowering/lower.h"
#include "search/schedule/alternatives.h"
#include "search/schedule/every_structure.h"
#include "search/schedule/searched.h"

namespace tessera::schedule {
namespace {

using testing::kRows;
using testing::Searched;

/// Attention to so many positions that the scores exceed the caches, with heads so small that they are moved
/// longer than they are computed.
const std::string kAttention = R"(graph "attention"
symbol T in 1..1024
point prompt weight 1: T = 1024
input q: f32[T, 16]
constant k: f32[65536, 16] from "k"
constant v: f32[65536, 16] from "v"
value scores: f32[T, 65536]
value largest: f32[T]
value weights: f32[T]
value weighted: f32[T, 16]
value y: f32[T, 16]

block main
  node scores(q, k) -> scores
    op scores(t: T, s: 65536, e*: 16)
    dim T in 1..1024
    in Q f32[t, e]
    in K f32[s, e]
    out P f32[t, s] = sum(Q * K) * 0.25
  node attend(scores, v) -> largest, weights, weighted
    op attend(t: T, d: 16, s*: 65536)
    dim T in 1..1024
    in P f32[t, s]
    in V f32[s, d]
    out M f32[t], L f32[t], A f32[t, d] = softmax_sum(P, V)
  node y(weighted, weights) -> y
    op normalise(t: T, d: 16)
    dim T in 1..1024
    in A f32[t, d]
    in L f32[t]
    out Y f32[t, d] = A / L

output y
)";

double seconds_of(const Schedule& schedule) {
    double sum = 0;
    for (const SolvedKernel& kernel : schedule.kernels) sum += kernel.seconds;
    return sum;
}

TEST(ScheduleSearch, FindsWhatTryingEveryStructureFinds) {
    for (const std::string& text : {kAttention, kRows}) {
        const Schedule found = search(Searched(text).context(), {});
        EXPECT_TRUE(found.is_exhausted);
        const double least = least_of(Searched(text).context());
        EXPECT_LE(seconds_of(found), 1.003 * least) << print(found);
        EXPECT_GE(seconds_of(found), 0.999 * least) << print(found);
        EXPECT_LT(found.seconds, found.unfused_seconds) << print(found);
    }
}

TEST(ScheduleSearch, FindsStreamingAttention) {
    Searched block(kAttention);
    const Schedule found = search(block.context(), {});
    std::string kernels;
    for (const SolvedKernel& kernel : found.kernels) kernels += text(block.context(), kernel.nest) + "\n";
    const size_t scores = kernels.find("scores; attend");
    ASSERT_NE(scores, std::string::npos) << kernels;
    EXPECT_NE(kernels.rfind("s:", scores), std::string::npos)
        << "a tile of the positions at a time: " << kernels;
}

/// Kernels of more operators than the regions that are all looked at grow from the choice.
TEST(ScheduleSearch, GrowsLargerKernelsThatComputeEachOperatorOnce) {
    constexpr int kMaps = 12;
    std::string values, nodes, last = "x";
    for (int i = 0; i < kMaps; ++i) {
        const std::string name = fmt::format("v{}", i);
        values += fmt::format("value {}: f32[1024, 4096]\n", name);
        nodes += fmt::format(
            "  node {0}({1}) -> {0}\n    op map(m: 1024, n: 4096)\n    in X f32[m, n]\n"
            "    out Y f32[m, n] = X * 2 + {2}\n",
            name, last, i);
        last = name;
    }
    Searched block(
        fmt::format("graph \"chain\"\nsymbol T in 1..4\npoint prompt weight 1: T = 4\n"
                    "input x: f32[1024, 4096]\n{}\nblock main\n{}\noutput {}\n",
                    values, nodes, last));
    const Schedule found = search(block.context(), {});
    EXPECT_EQ(found.kernels.size(), 1U) << print(found);
    EXPECT_GT(found.grown, 0);
    std::set<int> computed;
    size_t operators = 0;
    for (const SolvedKernel& kernel : found.kernels)
        for (const int op : kernel.nest.operators()) {
            computed.insert(op);
            ++operators;
        }
    EXPECT_EQ(operators, static_cast<size_t>(kMaps));
    EXPECT_EQ(computed.size(), static_cast<size_t>(kMaps));
}

TEST(ScheduleSearch, IsTheSameEveryTime) {
    EXPECT_EQ(print(search(Searched(kRows).context(), {})), print(search(Searched(kRows).context(), {})));
}

TEST(ScheduleSearch, ABudgetOfNoNestsLeavesEverythingUnfused) {
    Searched block(kRows);
    SearchOptions options;
    options.nests = 0;
    const Schedule found = search(block.context(), options);
    EXPECT_EQ(found.kernels.size(), 4U);
    EXPECT_EQ(found.seconds, found.unfused_seconds);
}

TEST(Alternatives, AscendFromWhatTheSearchFinds) {
    for (const std::string& text_of_block : {kAttention, kRows}) {
        Searched block(text_of_block);
        SearchOptions options;
        options.kept = 12;
        const Schedule found = search(block.context(), options);
        const std::vector<Alternative> all = alternatives(block.context(), found, options, 12);
        ASSERT_EQ(all.size(), 12U);
        EXPECT_LE(all.front().seconds, 1.0001 * seconds_of(found));
        EXPECT_TRUE(std::ranges::is_sorted(all, {}, &Alternative::seconds));
        std::set<std::string> distinct;
        for (const Alternative& each : all) {
            std::string key;
            for (const SolvedKernel& kernel : each.kernels) {
                key += text(block.context(), kernel.nest);
                for (const int leaf : kernel.leaves) key += fmt::format(" {}", leaf);
            }
            distinct.insert(key);
        }
        EXPECT_EQ(distinct.size(), all.size());
    }
}

TEST(BestTiles, BeginWithTheBestOfEveryOrder) {
    Searched block(kRows);
    for (const lowering::NumberedNest& kernel : unfused(block.context())) {
        int64_t work = 0;
        const auto best = solve_tiles(block.context(), kernel, {}, work);
        const std::vector<SolvedKernel> some = best_tiles(block.context(), kernel, {}, 5, work);
        ASSERT_TRUE(best);
        ASSERT_FALSE(some.empty());
        EXPECT_LE(some.front().seconds, best->seconds);
        EXPECT_TRUE(std::ranges::is_sorted(some, {}, &SolvedKernel::seconds));
    }
}

TEST(WhyIllegal, NamesTheOperatorAndTheReason) {
    Searched block(kRows);
    const lowering::BlockLinks& links = block.context().links;
    // doubled is read behind the inner nest that makes it in parts.
    const lowering::NumberedNest nest{{}, {lowering::NumberedNest{{{0, 1}}, {2}}, 3}};
    std::vector<bool> is_tile(4, true);
    EXPECT_FALSE(lowering::why_illegal(links, nest, is_tile));
    const lowering::NumberedNest hidden{{}, {lowering::NumberedNest{{{0, 1}}, {1, 2}}, 3}};
    const auto why = lowering::why_illegal(links, hidden, is_tile);
    ASSERT_TRUE(why);
    EXPECT_EQ(
        why->text(),
        "normed: `y`: reads it outside of the inner nest that makes it tile by tile (move it to the nest "
        "of its reader)");
    is_tile[2] = false;
    const lowering::NumberedNest columns{{{1, 64}}, {2, 3}};
    EXPECT_FALSE(lowering::why_illegal(links, columns, is_tile)) << "all parts together are the whole";
}

}  // namespace
}  // namespace tessera::schedule
