// Random small graphs: the plan of the search is valid and costs what the best of all plans costs.
#include <algorithm>
#include <cmath>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "distribution/distribute.h"
#include "distribution/grains.h"
#include "distribution/plain_plans.h"
#include "distribution/random_graph.h"
#include "distribution/read_problem.h"
#include "distribution/run_choice.h"

namespace tessera::distribution {
namespace {

constexpr uint64_t kSeeds = 500;

// Each choice of the plan is run with the contents of the zoo.
void run_operators(const Problem& problem, const DistributionPlan& plan) {
    for (size_t o = 0; o < problem.operators.size(); ++o) {
        const Operator& op = problem.operators[o];
        std::vector<TensorData> contents;
        for (size_t t = 0; t < op.values.size(); ++t) {
            TensorData& data = contents.emplace_back();
            data.shape = op.bound.extents.shapes[t];
            data.values = op.bound.contents[t];
            size_t elements = 1;
            for (const int64_t extent : data.shape) elements *= static_cast<size_t>(extent);
            for (size_t i = data.values.size(); i < elements; ++i)
                data.values.push_back(static_cast<double>((37 * i + 11 * t) % 101) / 101 - 0.5);
        }
        EXPECT_THAT(run_choice(op, problem.placement, plan.operators[o], contents), ::testing::IsEmpty())
            << op.name();
    }
}

void compare(Problem problem, std::optional<int64_t> memory, const std::vector<PlainSum>& plans) {
    problem.memory = memory;
    const int64_t limit = memory ? *memory * problem.units_per_byte() : plans.front().units;
    const Distribution found = distribute(problem);
    EXPECT_THAT(violations(problem, found.plan), ::testing::IsEmpty());
    run_operators(problem, found.plan);
    const auto best = std::ranges::find_if(plans, [&](const PlainSum& sum) { return sum.units <= limit; });
    if (best == plans.end()) {
        EXPECT_EQ(found.status, Status::kInfeasible);
        EXPECT_EQ(found.plan.units, plans.back().units);
        return;
    }
    EXPECT_EQ(found.status, Status::kOptimal);
    EXPECT_TRUE(is_near(found.plan.seconds, best->seconds)) << found.plan.seconds << " " << best->seconds;
    EXPECT_LE(found.bound, best->seconds * (1 + 1e-12));
    EXPECT_GE(found.bound, best->seconds * (1 - 1e-9));
    EXPECT_LE(found.plan.units, limit);
}

/// Unlimited, with less than the least memory, and between that and what the fastest plan holds.
/// @param views slices are the only boxes of constants, and take no memory
void compare_with_limits(uint64_t seed, const RandomGraphOptions& options,
                         facts::Cut cut = facts::Cut::kEvenly, bool views = false) {
    const std::string text = random_graph_text(seed, options);
    SCOPED_TRACE(::testing::Message() << "seed " << seed << "\n" << text);
    Problem problem = read_problem(text, "drawn.dist");
    problem.cut = cut;
    for (Value& value : problem.values) value.only_slices = views && value.is_constant;
    derive_grains(problem);
    const std::vector<PlainSum> plans = enumerate(problem);
    compare(problem, std::nullopt, plans);
    const double least = problem.bytes(plans.back().units);
    const double share = static_cast<double>(seed % 4) / 4;
    const double limit = std::ceil(least + (problem.bytes(plans.front().units) - least) * share);
    compare(problem, static_cast<int64_t>(limit) - (seed % 8 == 0 ? 1 : 0), plans);
}

TEST(RandomGraphs, OnOneLevelAgreeWithEveryPlan) {
    for (uint64_t seed = 0; seed < kSeeds && !HasFailure(); ++seed)
        compare_with_limits(seed, {.levels = 1, .most_operators = 3});
}

TEST(RandomGraphs, OnTwoLevelsAgreeWithEveryPlan) {
    for (uint64_t seed = 0; seed < kSeeds && !HasFailure(); ++seed)
        compare_with_limits(seed, {.levels = 2, .most_operators = 2});
}

// Counts of devices that divide few extents, so that most parts are ragged.
TEST(RandomGraphs, InRaggedPartsOnOneLevelAgreeWithEveryPlan) {
    for (uint64_t seed = 0; seed < kSeeds && !HasFailure(); ++seed)
        compare_with_limits(seed, {.levels = 1, .most_operators = 3}, facts::Cut::kRagged);
}

TEST(RandomGraphs, InRaggedPartsOnTwoLevelsAgreeWithEveryPlan) {
    for (uint64_t seed = 0; seed < kSeeds && !HasFailure(); ++seed)
        compare_with_limits(seed, {.levels = 2, .most_operators = 2}, facts::Cut::kRagged);
}

// As a rank's code reads weights (distribution/spmd/model_problem.h).
TEST(RandomGraphs, WithViewsOfConstantsAgreeWithEveryPlan) {
    for (uint64_t seed = 0; seed < kSeeds && !HasFailure(); ++seed)
        compare_with_limits(seed, {.levels = 1 + static_cast<int>(seed % 2), .most_operators = 2},
                            facts::Cut::kRagged, true);
}

}  // namespace
}  // namespace tessera::distribution
