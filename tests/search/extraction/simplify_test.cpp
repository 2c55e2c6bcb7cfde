#include "search/extraction/simplify.h"

#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "search/extraction/extract.h"
#include "search/extraction/random_problem.h"
#include "search/extraction/seeds.h"

namespace tessera::extraction {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Instance instance_of(const Problem& problem) {
    return make_instance(problem, scale(problem.nodes));
}

size_t choices_left(const Instance& instance) {
    size_t count = 0;
    for (const int e_class : reachable(instance)) count += instance.nodes_of(e_class).size();
    return count;
}

TEST(Simplify, DropsWhatCannotBeComputedOrReached) {
    // 0: f(0) f(1) f(3); 1: a; 2: b; 3: g(3)
    Instance instance =
        instance_of({.classes = 4,
                     .nodes = {{0, {0}, 1}, {0, {1}, 5}, {0, {3}, 1}, {1, {}, 1}, {2, {}, 1}, {3, {3}, 1}},
                     .roots = {0}});
    ASSERT_TRUE(simplify(instance, kUnreached, {.inline_free = false, .needed = false}));
    EXPECT_THAT(instance.members[0], ElementsAre(1));
    EXPECT_THAT(reachable(instance), ElementsAre(0, 1));
}

TEST(Simplify, FreeSingleClassesGiveWay) {
    // 0: f(1); 1: free g(2, 3); 2: a; 3: b
    Instance instance = instance_of(
        {.classes = 4, .nodes = {{0, {1}, 1}, {1, {2, 3}, 0}, {2, {}, 1}, {3, {}, 1}}, .roots = {0}});
    ASSERT_TRUE(simplify(instance, kUnreached, {.needed = false}));
    EXPECT_THAT(instance.node(0).children, ElementsAre(2, 3));
}

TEST(Simplify, WhatIsDearerAndNeedsNoLessGoes) {
    // 0: f(1) 2, g(2) 2, h(1) 3; 1: a; 2: k(1). g needs 1 anyway, so f replaces it.
    Instance instance =
        instance_of({.classes = 3,
                     .nodes = {{0, {1}, 2}, {0, {2}, 2}, {0, {1}, 3}, {1, {}, 1}, {2, {1}, 1}},
                     .roots = {0}});
    ASSERT_TRUE(simplify(instance, kUnreached, {.inline_free = false}));
    EXPECT_THAT(instance.members[0], ElementsAre(0));
    EXPECT_THAT(instance.roots, ElementsAre(0, 1));
    EXPECT_THAT(instance.node(0).children, IsEmpty());
}

TEST(Simplify, WhatCostsMoreThanAKnownSolutionGoes) {
    // 0: f(1) 1, g(2) 1; 1: a 3; 2: b 9, c 8
    const Problem problem{
        .classes = 3, .nodes = {{0, {1}, 1}, {0, {2}, 1}, {1, {}, 3}, {2, {}, 9}, {2, {}, 8}}, .roots = {0}};
    Instance instance = instance_of(problem);
    ASSERT_TRUE(simplify(instance, 4));
    EXPECT_THAT(instance.members[0], ElementsAre(0));
    Instance at_nine = instance_of(problem);
    ASSERT_TRUE(simplify(at_nine, 9));
    EXPECT_THAT(at_nine.members[0], ElementsAre(0, 1));
}

TEST(Simplify, ShrinksRandomProblemsAndKeepsTheirOptimum) {
    size_t before = 0, after_free = 0, after_all = 0;
    for (unsigned seed = 0; seed < 300; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        const Problem problem = random_problem(random, {.classes = 9, .backward = 0.15});
        const auto least = least_cost(problem);
        Instance cleaned = instance_of(problem), free = cleaned, all = cleaned;
        const SimplifyOptions none{.inline_free = false, .needed = false};
        ASSERT_EQ(simplify(cleaned, kUnreached, none), least.has_value());
        ASSERT_EQ(simplify(free, kUnreached, {.needed = false}), least.has_value());
        ASSERT_EQ(simplify(all, kUnreached), least.has_value());
        if (!least) continue;
        before += choices_left(cleaned);
        after_free += choices_left(free);
        after_all += choices_left(all);
        // Every choice of the rest is a choice of the whole.
        const auto choice = bottom_up(all);
        ASSERT_TRUE(choice);
        EXPECT_TRUE(restore(instance_of(problem), all, *choice));
    }
    EXPECT_LT(after_free, before);
    EXPECT_LT(after_all * 2, after_free);
}

TEST(Simplify, KeepsTheOptimumOfLargerProblems) {
    for (unsigned seed = 0; seed < 10; ++seed) {
        std::mt19937 random(seed);
        const Problem problem = random_problem(random, {.classes = 400, .most_children = 2, .backward = 0.1});
        const Result with = extract(problem), without = extract(problem, {.simplify = false});
        EXPECT_EQ(with.status, without.status);
        EXPECT_EQ(with.cost, without.cost);
    }
}

}  // namespace
}  // namespace tessera::extraction
