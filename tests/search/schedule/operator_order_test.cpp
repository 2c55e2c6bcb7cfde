#include "search/schedule/operator_order.h"

#include <algorithm>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "search/schedule/ordered_operators.h"

namespace tessera::schedule {
namespace {

using testing::OrderedOperators;

/// Every set of operators that is connected and convex, by walking along the operands.
std::set<Region> all_regions(const std::vector<std::vector<int>>& before) {
    const auto count = before.size();
    const auto joins = [&](unsigned set) {
        unsigned reached = set & (~set + 1);
        for (unsigned last = 0; last != reached;) {
            last = reached;
            for (size_t op = 0; op < count; ++op)
                for (const int earlier : before[op]) {
                    const unsigned pair = 1U << op | 1U << earlier;
                    if ((pair & set) == pair && (pair & reached) != 0) reached |= pair;
                }
        }
        return reached == set;
    };
    const auto comes_back = [&](unsigned set) {
        unsigned behind = 0;  // outside, and reads of the set, perhaps through others
        for (size_t op = 0; op < count; ++op)
            for (const int earlier : before[op]) {
                const bool is_in = (set >> op & 1U) != 0;
                if (is_in && (behind >> earlier & 1U) != 0) return true;
                if (!is_in && ((set | behind) >> earlier & 1U) != 0) behind |= 1U << op;
            }
        return false;
    };
    std::set<Region> found;
    for (unsigned set = 1; set < 1U << count; ++set) {
        Region region;
        for (size_t op = 0; op < count; ++op)
            if ((set >> op & 1U) != 0) region.push_back(static_cast<int>(op));
        if (region.size() > 1 && joins(set) && !comes_back(set)) found.insert(region);
    }
    return found;
}

TEST(Regions, AreAllConnectedAndConvexSets) {
    std::mt19937_64 random(3);
    for (int round = 0; round < 200; ++round) {
        const OrderedOperators operators(2 + random() % 7, random);
        const OperatorOrder order(operators.block());
        const std::vector<Region> found = regions(operators.block(), order, order.size(), 1000);
        EXPECT_TRUE(std::ranges::is_sorted(found, {}, &Region::size));
        const std::set<Region> expected = all_regions(operators.before());
        EXPECT_EQ(std::set<Region>(found.begin(), found.end()), expected);
        EXPECT_EQ(found.size(), expected.size());
    }
}

TEST(Regions, LeaveOutWhatStaysAloneOrApart) {
    OrderedOperators operators({{}, {0}, {1}, {2}});
    operators.block().is_alone[3] = true;
    operators.block().apart = {{0, 2}};
    const OperatorOrder order(operators.block());
    EXPECT_EQ(regions(operators.block(), order, 4, 1000), (std::vector<Region>{{0, 1}, {1, 2}}));
    EXPECT_EQ(regions(operators.block(), order, 4, 1).size(), 1U);
}

TEST(OperatorOrder, KeepsReadersBeforeWhoOverwritesWhatTheyRead) {
    OrderedOperators operators({{}, {}, {0}});
    operators.block().followers[1] = {2};
    const OperatorOrder order(operators.block());
    EXPECT_EQ(order.sorted({{0, 2}, {1}}), (std::vector<size_t>{1, 0}));
    EXPECT_TRUE(order.reaches(1, 2));
}

TEST(OperatorOrder, HasNoOrderOfKernelsThatWaitForEachOther) {
    const OrderedOperators operators({{}, {0}, {}, {2}});
    const OperatorOrder order(operators.block());
    EXPECT_FALSE(order.sorted({{0, 3}, {1, 2}}));
    EXPECT_EQ(order.sorted({{2, 3}, {0, 1}}), (std::vector<size_t>{1, 0}));
}

}  // namespace
}  // namespace tessera::schedule
