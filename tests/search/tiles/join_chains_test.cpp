#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "search/tiles/factors.h"

namespace tessera::tiles {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr ConstantTrip kOf1537{false, 1537}, kIn8{true, 8};

TEST(JoinedChains, LeaveOutEverySetOfVariables) {
    // ceil(1537 / v2) ceil(v2 / v1) ceil(v1 / 8)
    const Chain chain{1, {{1, 0, {kIn8}}, {2, 0, {kOf1537}}}, {{2, 1}}};
    const std::vector<Chain> joined = joined_chains(chain);
    EXPECT_EQ(joined.front(), chain);
    EXPECT_THAT(joined, SizeIs(4));
    EXPECT_THAT(joined, Contains(Chain{1, {{2, 0, {kOf1537, kIn8}}}, {}}));
    EXPECT_THAT(joined, Contains(Chain{1, {{1, 0, {kOf1537, kIn8}}}, {}}));
    EXPECT_THAT(joined, Contains(Chain{193, {}, {}}));
}

TEST(JoinedChains, KeepWhatIsMultipliedOrUsedTwice) {
    const Chain power{1, {{1, 1, {kIn8}}, {2, -1, {kOf1537}}}, {{2, 1}}};
    EXPECT_THAT(joined_chains(power), ElementsAre(power));
    const Chain twice{1, {{1, 0, {}}, {2, 0, {kOf1537}}}, {{2, 1}, {2, 1}}};
    EXPECT_THAT(joined_chains(twice), ElementsAre(twice));
}

TEST(JoinedChains, OfThreeVariablesJoinTheirNeighbours) {
    const Chain chain{1, {{1, 0, {}}, {2, 0, {}}, {3, 0, {}}}, {{1, 2}, {2, 3}}};
    EXPECT_THAT(joined_chains(chain), ElementsAre(chain, Chain{1, {{1, 0, {}}, {3, 0, {}}}, {{1, 3}}}));
}

}  // namespace
}  // namespace tessera::tiles
