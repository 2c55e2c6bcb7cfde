#include "search/tiles/evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "search/tiles/random_problem.h"

namespace tessera::tiles {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// m and k; 4 m k if k = 8, at most 100; m a multiple of 2; 3 ceil(10 / m) m^2 / k, and m.
Problem example() {
    const Operand m = VariableIndex{0};
    return {.name = "example",
            .variables = {{"m", {2, 3, 4}}, {"k", {8, 16}}},
            .constraints = {{{"L1", {{4, {{0, 1}, {1, 1}}, {}, {{1, 8}}}}}, 100}},
            .multiples = {{m, int64_t{2}}},
            .objective = {{"memory", {{3, {{0, 2}, {1, -1}}, {{int64_t{10}, m}}, {}}}},
                          {"compute", {{1, {{0, 1}}, {}, {}}}}}};
}

TEST(Evaluate, GivesEverySum) {
    const Evaluation evaluation = evaluate(example(), {2, 8});
    EXPECT_THAT(evaluation.broken, IsEmpty());
    EXPECT_THAT(evaluation.constraints, ElementsAre(64));
    EXPECT_THAT(evaluation.objective, ElementsAre(3.0 * 5 * 4 / 8, 2));
    EXPECT_EQ(evaluation.cost, 7.5);
    EXPECT_THAT(evaluate(example(), {4, 16}).constraints, ElementsAre(0));
}

TEST(Evaluate, NamesWhatIsBroken) {
    EXPECT_THAT(evaluate(example(), {4, 8}).broken, ElementsAre("L1: 128 > 100"));
    EXPECT_THAT(evaluate(example(), {3, 16}).broken, ElementsAre("m = 3 is no multiple of 2"));
    EXPECT_THAT(evaluate(example(), {5, 9}).broken,
                ElementsAre("m = 5 is not in its domain", "k = 9 is not in its domain"));
    EXPECT_THAT(evaluate(example(), {2}).broken, ElementsAre(HasSubstr("1 values for 2 variables")));
    EXPECT_FALSE(evaluate(example(), {}).is_feasible());
}

TEST(Evaluate, ALimitHoldsWithinTheTolerance) {
    Problem problem = example();
    problem.constraints[0].most = 128 / (1 + 0.9e-9);
    EXPECT_TRUE(evaluate(problem, {4, 8}).is_feasible());
    problem.constraints[0].most = 128 / (1 + 1.1e-9);
    EXPECT_FALSE(evaluate(problem, {4, 8}).is_feasible());
}

TEST(Evaluate, AgreesWithThePlainReading) {
    std::mt19937 random(3);
    int feasible = 0;
    for (unsigned seed = 0; seed < 2000; ++seed) {
        SCOPED_TRACE(seed);
        const Problem problem = RandomProblem(seed).make();
        Assignment values;
        for (const Variable& variable : problem.variables)
            values.push_back(variable.domain[random() % variable.domain.size()]);
        const Evaluation evaluation = evaluate(problem, values);
        const auto cost = plain_cost(problem, values);
        ASSERT_EQ(evaluation.is_feasible(), cost.has_value());
        if (!cost) continue;
        ++feasible;
        EXPECT_TRUE(near(evaluation.cost, static_cast<double>(*cost)));
    }
    EXPECT_GT(feasible, 300);
}

}  // namespace
}  // namespace tessera::tiles
