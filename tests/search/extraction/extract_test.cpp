#include "search/extraction/extract.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "search/extraction/random_problem.h"

namespace tessera::extraction {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

void expect_exhaustive_optimum(const ProblemShape& shape, unsigned first_seed, int problems) {
    int feasible = 0;
    for (unsigned seed = first_seed; seed < first_seed + static_cast<unsigned>(problems); ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        const Problem problem = random_problem(random, shape);
        const auto least = least_cost(problem);
        for (const bool simplifies : {true, false}) {
            const Result result = extract(problem, {.simplify = simplifies});
            if (!least) {
                EXPECT_EQ(result.status, Status::kInfeasible);
                EXPECT_THAT(result.choice, IsEmpty());
                continue;
            }
            ++feasible;
            ASSERT_EQ(result.status, Status::kOptimal);
            ASSERT_THAT(violations(problem, result.choice), IsEmpty());
            EXPECT_DOUBLE_EQ(result.cost, cost_of(problem, result.choice));
            EXPECT_DOUBLE_EQ(result.cost, *least);
            EXPECT_EQ(result.bound, result.cost);
            EXPECT_EQ(result.gap(), 0);
        }
    }
    // Neither everything nor nothing has a solution, or the test would show little.
    EXPECT_GT(feasible, problems / 4);
}

TEST(Extract, MeetsExhaustiveEnumerationWithoutCycles) {
    expect_exhaustive_optimum({.classes = 9, .backward = 0}, 1, 300);
}

TEST(Extract, MeetsExhaustiveEnumerationWithManyCycles) {
    expect_exhaustive_optimum({.classes = 9, .backward = 0.4}, 1000, 400);
}

TEST(Extract, MeetsExhaustiveEnumerationWithFractions) {
    expect_exhaustive_optimum({.classes = 8, .backward = 0.2, .step = 0.37}, 2000, 200);
    expect_exhaustive_optimum({.classes = 8, .backward = 0.2, .step = 1.0 / 3}, 3000, 200);
}

TEST(Extract, MeetsExhaustiveEnumerationWithRewards) {
    expect_exhaustive_optimum({.classes = 8, .backward = 0.2, .rewards = true}, 4000, 400);
}

TEST(Extract, MeetsExhaustiveEnumerationWithAtMostOneGroups) {
    expect_exhaustive_optimum({.classes = 9, .most_nodes = 4, .backward = 0.1, .groups = 4}, 5000, 400);
}

TEST(Extract, MeetsExhaustiveEnumerationOnTwelveClasses) {
    expect_exhaustive_optimum({.classes = 12, .most_children = 4, .backward = 0.15}, 6000, 100);
}

TEST(Extract, PaysSharedClassesOnce) {
    // 0: f(1, 2). 1: a(3) 1 or b 3. 2: c(3) 1 or d 3. 3: 4. Alone each prefers the leaf; together they share.
    const Problem problem{
        .classes = 4,
        .nodes = {{0, {1, 2}, 0}, {1, {3}, 1}, {1, {}, 4}, {2, {3}, 1}, {2, {}, 4}, {3, {}, 4}},
        .roots = {0}};
    const Result result = extract(problem);
    EXPECT_EQ(result.status, Status::kOptimal);
    EXPECT_EQ(result.cost, 6);
    EXPECT_THAT(result.choice, ElementsAre(0, 1, 3, 5));
}

TEST(Extract, OfEqualChoicesTheFirstNodesWin) {
    const Problem problem{
        .classes = 2, .nodes = {{0, {1}, 1}, {0, {1}, 1}, {1, {}, 2}, {1, {}, 2}, {1, {}, 2}}, .roots = {0}};
    EXPECT_THAT(extract(problem).choice, ElementsAre(0, 2));
}

TEST(Extract, NeverTakesACycleHoweverCheap) {
    // 1 and 2 are free through each other, and dear by themselves.
    const Problem problem{.classes = 3,
                          .nodes = {{0, {1, 2}, 1}, {1, {2}, 0}, {1, {}, 9}, {2, {1}, 0}, {2, {}, 7}},
                          .roots = {0}};
    const Result result = extract(problem);
    EXPECT_EQ(result.cost, 8);
    EXPECT_THAT(result.choice, ElementsAre(0, 1, 4));
}

TEST(Extract, SaysWhatIsInfeasible) {
    const Problem cycle{.classes = 2, .nodes = {{0, {1}, 1}, {1, {0}, 1}}, .roots = {0}};
    EXPECT_EQ(extract(cycle).status, Status::kInfeasible);
    const Problem no_node{.classes = 1, .roots = {0}};
    EXPECT_EQ(extract(no_node).status, Status::kInfeasible);
    const Problem exclusive{.classes = 3,
                            .nodes = {{0, {1, 2}, 1}, {1, {}, 1}, {2, {}, 1}},
                            .roots = {0},
                            .at_most_one = {{1, 2}}};
    EXPECT_EQ(extract(exclusive).status, Status::kInfeasible);
}

TEST(Extract, ProvesACliqueOfClassesThatCanAllComputeEachOther) {
    // Each class from any other one for 1, or by itself for 10 or more: one pays 10, the others 1 each.
    constexpr int kSize = 30;
    Problem problem{.classes = kSize + 1, .roots = {kSize}};
    problem.nodes.push_back({.e_class = kSize, .cost = 0});
    for (int i = 0; i < kSize; ++i) {
        problem.nodes.front().children.push_back(i);
        problem.nodes.push_back({i, {}, static_cast<double>(10 + i)});
        for (int j = 0; j < kSize; ++j)
            if (i != j) problem.nodes.push_back({i, {j}, 1});
    }
    const Result result = extract(problem, {.conflicts = 20'000});
    EXPECT_EQ(result.status, Status::kOptimal);
    EXPECT_EQ(result.cost, 10 + kSize - 1);
}

TEST(Extract, DeepAndWideProblemsNeedNoSearch) {
    constexpr int kSize = 50'000;
    Problem chain{.classes = kSize, .roots = {0}}, wide{.classes = 1, .roots = {0}};
    for (int i = 0; i < kSize; ++i) {
        chain.nodes.push_back({i, i + 1 < kSize ? std::vector<int>{i + 1} : std::vector<int>{}, 1});
        wide.nodes.push_back({0, {}, static_cast<double>(3 + i % 7)});
    }
    for (const auto& [problem, cost] : {std::pair(&chain, double{kSize}), std::pair(&wide, 3.0)}) {
        const Result result = extract(*problem);
        EXPECT_EQ(result.status, Status::kOptimal);
        EXPECT_EQ(result.cost, cost);
        EXPECT_LE(result.conflicts, 1);
    }
}

TEST(Extract, NoRootsCostNothing) {
    const Result result = extract({.classes = 1, .nodes = {{0, {}, 1}}});
    EXPECT_EQ(result.status, Status::kOptimal);
    EXPECT_EQ(result.cost, 0);
}

}  // namespace
}  // namespace tessera::extraction
