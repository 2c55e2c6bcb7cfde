#include "search/tiles/solve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "search/tiles/evaluate.h"
#include "search/tiles/random_problem.h"

namespace tessera::tiles {
namespace {

constexpr unsigned kSeeds = 800;

void expect_optimal(const Problem& problem, const Solution& solution, const std::optional<double>& least) {
    if (!least) {
        EXPECT_EQ(solution.status, Status::kInfeasible);
        EXPECT_FALSE(solution.has_values());
        return;
    }
    ASSERT_EQ(solution.status, Status::kOptimal);
    EXPECT_TRUE(near(solution.cost, *least)) << solution.cost << " instead of " << *least;
    EXPECT_EQ(solution.bound, solution.cost);
    const Evaluation evaluation = evaluate(problem, solution.values);
    EXPECT_TRUE(evaluation.is_feasible());
    EXPECT_EQ(evaluation.cost, solution.cost);
}

TEST(Solve, EqualsTryingEveryAssignment) {
    int infeasible = 0;
    for (unsigned seed = 0; seed < kSeeds; ++seed) {
        SCOPED_TRACE(seed);
        const Problem problem = RandomProblem(seed).make();
        const std::optional<double> least = least_cost(problem);
        infeasible += least ? 0 : 1;
        expect_optimal(problem, solve(problem), least);
    }
    EXPECT_GT(infeasible, 100);
    EXPECT_LT(infeasible, 500);
}

TEST(Solve, EveryInferenceKeepsTheOptimum) {
    for (unsigned seed = 0; seed < kSeeds; seed += 3) {
        SCOPED_TRACE(seed);
        const Problem problem = RandomProblem(seed).make();
        const std::optional<double> least = least_cost(problem);
        expect_optimal(problem, solve(problem, {.cancel_chains = false}), least);
        expect_optimal(problem, solve(problem, {.join_trips = false}), least);
        expect_optimal(problem, solve(problem, {.cut_ends = false}), least);
        expect_optimal(problem, solve(problem, {.count_cheapest = false}), least);
        expect_optimal(problem, solve(problem, {.try_small_sets = false}), least);
        expect_optimal(problem, solve(problem, {.neighbourhoods = false}), least);
        expect_optimal(problem,
                       solve(problem, {.cancel_chains = false,
                                       .join_trips = false,
                                       .cut_ends = false,
                                       .count_cheapest = false,
                                       .try_small_sets = false,
                                       .neighbourhoods = false}),
                       least);
    }
}

TEST(Solve, EveryBudgetIsKeptAndHonest) {
    for (unsigned seed = 0; seed < kSeeds; seed += 2) {
        SCOPED_TRACE(seed);
        const Problem problem = RandomProblem(seed).make();
        const std::optional<double> least = least_cost(problem);
        for (const int64_t nodes : {0, 1, 2, 3, 5, 8, 20}) {
            const Solution solution = solve(problem, {.nodes = nodes});
            EXPECT_LE(solution.nodes, nodes);
            EXPECT_EQ(solution.has_values(),
                      solution.status == Status::kOptimal || solution.status == Status::kFeasible);
            if (!least) {
                EXPECT_FALSE(solution.has_values());
                continue;
            }
            EXPECT_NE(solution.status, Status::kInfeasible);
            EXPECT_LE(solution.bound, *least * (1 + kTolerance));
            if (solution.has_values()) {
                EXPECT_LE(solution.bound, solution.cost);
                EXPECT_TRUE(near(evaluate(problem, solution.values).cost, solution.cost));
            }
            if (solution.status == Status::kOptimal) {
                EXPECT_TRUE(near(solution.cost, *least));
            }
        }
    }
}

TEST(Solve, ThePriceIsWhatIsMinimised) {
    int between = 0;
    for (unsigned seed = 1; seed <= 300; ++seed) {
        const Problem problem = RandomProblem(seed).make();
        double least = std::numeric_limits<double>::infinity();
        const auto price_of = [&](const Assignment& values, double cost) {
            // Some assignments cost twice as much as the objective says, some are not wanted.
            unsigned mixed = seed;
            for (const int64_t value : values) mixed = 31 * mixed + static_cast<unsigned>(value);
            return mixed % 5 == 0 ? std::numeric_limits<double>::infinity() : (1 + mixed % 3 / 2.0) * cost;
        };
        const auto price = [&](const Assignment& values) {
            return price_of(values, evaluate(problem, values).cost);
        };
        for_each_feasible(problem, [&](const Assignment& values, double cost) {
            least = std::min(least, price_of(values, cost));
        });
        const Solution exact = solve(problem, {.price = price});
        ASSERT_EQ(exact.has_values(), std::isfinite(least)) << seed;
        if (!exact.has_values()) continue;
        EXPECT_EQ(exact.status, Status::kOptimal);
        EXPECT_TRUE(near(exact.cost, least)) << seed;
        const Solution nearly = solve(problem, {.price = price, .gap = 0.2});
        ASSERT_TRUE(nearly.has_values());
        EXPECT_LE(nearly.bound, least * (1 + kTolerance)) << seed;
        EXPECT_LE(nearly.cost * 0.8, least * (1 + kTolerance)) << seed;
        EXPECT_LE(nearly.nodes, exact.nodes + exact.nodes / 2 + 10) << seed;
        between += nearly.cost > least * (1 + kTolerance) ? 1 : 0;
    }
    EXPECT_GT(between, 5);
}

TEST(Solve, WithoutANodeNothingIsKnown) {
    const Solution solution = solve(two_level_product(100, 90, 70, 8), {.nodes = 0});
    EXPECT_EQ(solution.status, Status::kOutOfBudget);
    EXPECT_EQ(solution.bound, 0);
    EXPECT_EQ(solution.nodes, 0);
}

TEST(Solve, AShortBudgetLeavesAnAssignmentAndItsGap) {
    const Problem problem = two_level_product(1500, 900, 330, 32);
    const Solution best = solve(problem);
    ASSERT_EQ(best.status, Status::kOptimal);
    const Solution solution = solve(problem, {.nodes = 60});
    ASSERT_EQ(solution.status, Status::kFeasible);
    EXPECT_GT(solution.bound, 0);
    EXPECT_LE(solution.bound, best.cost);
    EXPECT_GE(solution.cost, best.cost);
    EXPECT_NEAR(solution.gap(), (solution.cost - solution.bound) / solution.cost, 1e-12);
}

TEST(Solve, TheSameProblemGivesTheSameSolution) {
    for (const int64_t nodes : {60, 100'000}) {
        const Problem problem = two_level_product(1000, 777, 512, 24);
        const Solution first = solve(problem, {.nodes = nodes}), second = solve(problem, {.nodes = nodes});
        EXPECT_EQ(first.values, second.values);
        EXPECT_EQ(first.nodes, second.nodes);
        EXPECT_EQ(first.bound, second.bound);
    }
}

TEST(Solve, BeginsWithTheIncumbent) {
    const Problem problem = two_level_product(1500, 900, 330, 32);
    const Solution best = solve(problem);
    const Solution again = solve(problem, {.incumbent = best.values});
    EXPECT_EQ(again.status, Status::kOptimal);
    EXPECT_EQ(again.cost, best.cost);
    EXPECT_LE(again.nodes, best.nodes);
    const Solution without_work = solve(problem, {.nodes = 0, .incumbent = best.values});
    EXPECT_EQ(without_work.status, Status::kFeasible);
    EXPECT_EQ(without_work.values, best.values);
    EXPECT_EQ(without_work.bound, 0);
}

TEST(Solve, IgnoresAnIncumbentThatIsInfeasible) {
    const Problem problem = two_level_product(100, 90, 70, 8);
    Assignment values = solve(problem).values;
    values[0] = 3;
    EXPECT_EQ(solve(problem, {.nodes = 0, .incumbent = values}).status, Status::kOutOfBudget);
    EXPECT_EQ(solve(problem, {.nodes = 0, .incumbent = Assignment{}}).status, Status::kOutOfBudget);
    EXPECT_EQ(solve(problem, {.incumbent = values}).cost, solve(problem).cost);
}

TEST(Solve, EachInferenceShrinksTheSearch) {
    const Problem problem = two_level_product(1500, 900, 330, 32);
    const int64_t most = 5'000;
    const Solution all = solve(problem, {.nodes = most});
    ASSERT_EQ(all.status, Status::kOptimal);
    const auto nodes_with = [&](Options options) {
        options.nodes = most;
        const Solution solution = solve(problem, options);
        EXPECT_LE(solution.bound, all.cost * (1 + kTolerance));
        return solution.nodes;
    };
    EXPECT_GT(nodes_with({.cancel_chains = false, .join_trips = false}), 2 * all.nodes);
    EXPECT_GT(nodes_with({.cut_ends = false}), 2 * all.nodes);
    EXPECT_GT(nodes_with({.try_small_sets = false}), all.nodes);
}

// m1 ceil(m2 / m1) is at least m2. At the ends of the domains it could be 4.
TEST(Solve, SizesOfAChainCancel) {
    Problem problem{.name = "chain",
                    .variables = {{"m1", {4, 7, 64}}, {"m2", {60, 61, 62, 63, 64, 65, 66}}},
                    .constraints = {},
                    .multiples = {},
                    .objective = {}};
    const Operand m1 = VariableIndex{0}, m2 = VariableIndex{1};
    problem.objective = {{"o", {{1, {{0, 1}}, {{m2, m1}}, {}}}}};
    EXPECT_GE(solve(problem, {.nodes = 1}).bound, 60 * (1 - kTolerance));
    EXPECT_LT(solve(problem, {.nodes = 1, .cancel_chains = false}).bound, 5);
    EXPECT_EQ(solve(problem).cost, 60);
}

// 1,537 rows in blocks of 8 are 193 blocks, not 192.125.
TEST(Solve, JoinedTripsCountWholeBlocks) {
    const Problem problem = two_level_product(1537, 905, 330, 32);
    const Solution all = solve(problem, {.nodes = 5'000});
    ASSERT_EQ(all.status, Status::kOptimal);
    const Solution without = solve(problem, {.nodes = 5'000, .join_trips = false});
    EXPECT_GE(without.nodes, all.nodes);
    EXPECT_GT(solve(problem, {.nodes = 1}).bound, solve(problem, {.nodes = 1, .join_trips = false}).bound);
}

/// Buffers that cost the same wherever they are kept.
Problem ties(size_t buffers) {
    Problem problem{
        .name = "ties", .variables = {}, .constraints = {}, .multiples = {}, .objective = {{"o", {}}}};
    for (size_t v = 0; v < buffers; ++v) {
        problem.variables.push_back({"p" + std::to_string(v), {0, 1}});
        problem.objective[0].terms.push_back({1.5, {}, {}, {{v, 0}}});
        problem.objective[0].terms.push_back({1.5, {}, {}, {{v, 1}}});
    }
    return problem;
}

TEST(Solve, TheCheapestOfExclusiveTermsCounts) {
    const Solution solution = solve(ties(40), {.nodes = 1000});
    EXPECT_EQ(solution.status, Status::kOptimal);
    EXPECT_EQ(solution.cost, 60);
    EXPECT_EQ(solve(ties(40), {.nodes = 10'000, .count_cheapest = false}).status, Status::kFeasible);
}

TEST(Solve, NeighbourhoodsImproveAShortSearch) {
    const Problem problem = two_level_product(1500, 900, 330, 32);
    const int64_t best = solve(problem).nodes;
    EXPECT_LT(best, solve(problem, {.neighbourhoods = false}).nodes);
}

TEST(Solve, SumsWithoutTermsCostNothing) {
    Problem problem{.name = "none",
                    .variables = {{"a", {3, 4, 5}}, {"b", {0, 1, 2, 3}}},
                    .constraints = {{{"none", {}}, 0}},
                    .multiples = {},
                    .objective = {{"o", {}}}};
    const Solution solution = solve(problem);
    EXPECT_EQ(solution.status, Status::kOptimal);
    EXPECT_EQ(solution.cost, 0);
    EXPECT_EQ(solution.gap(), 0);
}

// A float64 has 53 bits, and a limit that is met to the last of them must not be cut off by rounding.
TEST(Solve, LimitsThatAreMetExactlyHold) {
    Problem problem{.name = "exact", .variables = {}, .constraints = {}, .multiples = {}, .objective = {}};
    Sum sum{"sum", {}}, cost{"cost", {}};
    double most = 0;
    for (size_t v = 0; v < 12; ++v) {
        problem.variables.push_back({"v" + std::to_string(v), {1, 3, 7, 10}});
        sum.terms.push_back({0.1 + 0.01 * static_cast<double>(v), {{v, 1}}, {}, {}});
        cost.terms.push_back({1, {{v, -1}}, {}, {}});
        most += sum.terms.back().coefficient * 10;
    }
    problem.constraints = {{sum, most}};
    problem.objective = {cost};
    const Solution solution = solve(problem);
    EXPECT_EQ(solution.status, Status::kOptimal);
    EXPECT_THAT(solution.values, ::testing::Each(10));
}

TEST(Solve, LargeDomainsAndMultiples) {
    Problem problem{.name = "large", .variables = {}, .constraints = {}, .multiples = {}, .objective = {}};
    for (const char* each : {"m1", "m2", "m3"}) {
        problem.variables.push_back({each, {}});
        for (int64_t i = 1; i <= 5000; ++i) problem.variables.back().domain.push_back(i);
    }
    const auto v = [](size_t index) { return Operand(VariableIndex{index}); };
    problem.multiples = {{v(1), v(0)}, {v(2), v(1)}, {int64_t{4800}, v(2)}};
    problem.constraints = {{{"small", {{1, {{0, 1}}, {}, {}}}}, 49},
                           {{"middle", {{1, {{1, 1}}, {}, {}}}}, 700}};
    problem.objective = {
        {"trips",
         {{1, {}, {{int64_t{4800}, v(2)}, {v(2), v(1)}, {v(1), v(0)}}, {}}, {0.001, {{2, 1}}, {}, {}}}}};
    const Solution solution = solve(problem);
    ASSERT_EQ(solution.status, Status::kOptimal);
    // 4800 / 48 trips whatever lies between; m3 = m1 costs least.
    EXPECT_THAT(solution.values, ::testing::ElementsAre(48, 48, 48));
    EXPECT_TRUE(near(solution.cost, 100 + 0.048));
}

}  // namespace
}  // namespace tessera::tiles
