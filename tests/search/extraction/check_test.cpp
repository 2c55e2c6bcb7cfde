#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "search/extraction/problem.h"

namespace tessera::extraction {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// 0: f(1, 1) or g(2); 1: a or h(0); 2: k(1)
Problem example() {
    return {.classes = 3,
            .nodes = {{0, {1, 1}, 1}, {0, {2}, 2}, {1, {}, 4}, {1, {0}, 1}, {2, {1}, 8}},
            .roots = {0}};
}

TEST(Check, AcceptsAValidChoiceAndAddsSharedClassesOnce) {
    EXPECT_THAT(violations(example(), {0, 2, -1}), IsEmpty());
    EXPECT_EQ(cost_of(example(), {0, 2, -1}), 5);
    EXPECT_THAT(violations(example(), {1, 2, 4}), IsEmpty());
    EXPECT_EQ(cost_of(example(), {1, 2, 4}), 14);
}

TEST(Check, FindsEveryViolation) {
    EXPECT_THAT(violations(example(), {0, 2}), ElementsAre("the choice is of 2 classes, the problem of 3"));
    EXPECT_THAT(violations(example(), {-1, -1, -1}), ElementsAre("class 0 is used and has no chosen node"));
    EXPECT_THAT(violations(example(), {1, -1, -1}), ElementsAre("class 2 is used and has no chosen node"));
    EXPECT_THAT(violations(example(), {0, 4, -1}), ElementsAre("class 1 has node 4 of class 2"));
    EXPECT_THAT(violations(example(), {0, 9, -1}), ElementsAre("class 1 has node 9, which does not exist"));
    EXPECT_THAT(violations(example(), {0, 3, -1}), ElementsAre("class 0 needs itself"));
    EXPECT_THAT(violations(example(), {0, 2, 4}), ElementsAre("class 2 is chosen and nothing needs it"));
    Problem grouped = example();
    grouped.at_most_one = {{0, 1, 2}};
    EXPECT_THAT(violations(grouped, {0, 2, -1}),
                ElementsAre("nodes 0 and 2 are chosen, of which at most one may be"));
}

TEST(Check, DoesNotRecurseOverTheDepth) {
    constexpr int kDepth = 300'000;
    Problem chain{.classes = kDepth, .roots = {0}};
    for (int i = 0; i < kDepth; ++i)
        chain.nodes.push_back({i, i + 1 < kDepth ? std::vector<int>{i + 1} : std::vector<int>{}, 1});
    Choice all(kDepth);
    for (int i = 0; i < kDepth; ++i) all[static_cast<size_t>(i)] = i;
    EXPECT_THAT(violations(chain, all), IsEmpty());
    EXPECT_EQ(cost_of(chain, all), kDepth);
}

}  // namespace
}  // namespace tessera::extraction
