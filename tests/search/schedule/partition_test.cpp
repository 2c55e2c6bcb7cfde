// Random orders of operators and candidates: the extraction finds what a shortest path over all sets of
// operators that may have run finds.
#include "search/schedule/partition.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "search/schedule/frontier_partition.h"
#include "search/schedule/ordered_operators.h"

namespace tessera::schedule {
namespace {

/// The least time of candidates that run one after the other, each operator once.
double least_of_sequences(const std::vector<std::vector<int>>& before,
                          const std::vector<Candidate>& candidates) {
    const size_t sets = size_t{1} << before.size();
    std::vector<double> least(sets, std::numeric_limits<double>::infinity());
    least[0] = 0;
    for (size_t done = 0; done < sets; ++done)
        for (const Candidate& candidate : candidates) {
            size_t own = 0, needs = 0;
            for (const int op : candidate.operators) own |= size_t{1} << op;
            for (const int op : candidate.operators)
                for (const int earlier : before[static_cast<size_t>(op)]) needs |= size_t{1} << earlier;
            if ((done & own) != 0 || (needs & ~(done | own)) != 0) continue;
            least[done | own] = std::min(least[done | own], least[done] + candidate.seconds);
        }
    return least.back();
}

TEST(Partition, IsTheCheapestOfAllSequences) {
    std::mt19937_64 random(7);
    const auto below = [&](size_t end) { return static_cast<size_t>(random() % end); };
    size_t joined_operators = 0, found_along = 0;
    for (int round = 0; round < 300; ++round) {
        const testing::OrderedOperators operators(3 + below(6), random);
        const OperatorOrder order(operators.block());
        std::vector<Candidate> candidates;
        for (int op = 0; op < static_cast<int>(order.size()); ++op)
            candidates.push_back({{op}, 1 + static_cast<double>(below(1000)) / 100});
        for (const Region& region : regions(operators.block(), order, 1 + below(5), 1000)) {
            double apart = 0;
            for (const int op : region) apart += candidates[static_cast<size_t>(op)].seconds;
            candidates.push_back({region, apart * static_cast<double>(500 + below(600)) / 1000});
        }
        const Partition found = least_partition(order, candidates, 100'000);
        EXPECT_EQ(found.status, SolverStatus::kOptimal);
        EXPECT_NEAR(found.seconds, least_of_sequences(operators.before(), candidates), 1e-6) << round;
        EXPECT_NEAR(found.bound, found.seconds, 1e-6);
        if (const std::optional<Partition> along = frontier_partition(order, candidates, 1000)) {
            ++found_along;
            EXPECT_EQ(along->status, SolverStatus::kOptimal);
            EXPECT_NEAR(along->seconds, found.seconds, 1e-6) << round;
        }
        std::vector<bool> has_run(order.size());
        for (const size_t at : found.chosen) {
            const Region& region = candidates[at].operators;
            joined_operators += region.size() - 1;
            for (const int op : region) {
                for (const int earlier : order.before(op))
                    EXPECT_TRUE(contains(region, earlier) || has_run[static_cast<size_t>(earlier)]);
                EXPECT_FALSE(has_run[static_cast<size_t>(op)]);
            }
            for (const int op : region) has_run[static_cast<size_t>(op)] = true;
        }
        EXPECT_TRUE(std::ranges::all_of(has_run, std::identity{}));
    }
    EXPECT_GT(joined_operators, 300U);
    EXPECT_GT(found_along, 200U);
}

/// {a, d} and {b, c} are convex, and each would need the other to run first.
TEST(Partition, TakesNoKernelsThatWaitForEachOther) {
    const testing::OrderedOperators operators({{}, {0}, {}, {2}});  // a -> b, c -> d
    const OperatorOrder order(operators.block());
    const std::vector<Candidate> candidates = {{{0}, 1}, {{1}, 1},      {{2}, 1},
                                               {{3}, 1}, {{0, 3}, 0.5}, {{1, 2}, 0.5}};
    const Partition found = least_partition(order, candidates, 10'000);
    EXPECT_EQ(found.seconds, 2.5);
    EXPECT_FALSE(frontier_partition(order, candidates, 1000));
}

/// A long chain of which neighbours may join: by a recurrence over its length.
TEST(Partition, OfALongChain) {
    std::mt19937_64 random(11);
    std::vector<std::vector<int>> before = {{}};
    for (int op = 1; op < 600; ++op) before.push_back({op - 1});
    const testing::OrderedOperators operators(before);
    const OperatorOrder order(operators.block());
    std::vector<Candidate> candidates;
    std::vector<double> least = {0};
    for (int op = 0; op < 600; ++op) {
        candidates.push_back({{op}, 1 + static_cast<double>(random() % 100)});
        least.push_back(least.back() + candidates.back().seconds);
        for (int size = 2; size <= std::min(op + 1, 4); ++size) {
            Region region;
            for (int each = op - size + 1; each <= op; ++each) region.push_back(each);
            candidates.push_back({region, 10 + static_cast<double>(random() % 150)});
            least.back() =
                std::min(least.back(), least[static_cast<size_t>(op - size + 1)] + candidates.back().seconds);
        }
    }
    const Partition found = least_partition(order, candidates, 1);
    EXPECT_EQ(found.status, SolverStatus::kOptimal);
    EXPECT_DOUBLE_EQ(found.seconds, least.back());
}

}  // namespace
}  // namespace tessera::schedule
