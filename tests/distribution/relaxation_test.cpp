#include "distribution/relaxation.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "distribution/distribute.h"
#include "distribution/example.h"
#include "distribution/order.h"
#include "distribution/plain_plans.h"
#include "distribution/random_graph.h"

namespace tessera::distribution {
namespace {

struct Bounds {
    double loose;
    double tight;
    int choices;       ///< of all operators
    int choices_left;  ///< that a plan no slower than the best may have
};

Bounds bounds_of(const Problem& problem, double best) {
    std::vector<std::vector<Choice>> choices;
    for (const Operator& op : problem.operators) choices.push_back(derive_choices(problem, op));
    const SearchGraph graph = build_search_graph(problem, choices);
    const std::vector<int> order = decision_order(graph);
    std::vector<int> sorted = order;
    std::ranges::sort(sorted);
    for (size_t i = 0; i < sorted.size(); ++i) EXPECT_EQ(sorted[i], static_cast<int>(i));
    std::vector<FormSets> sets(graph.values.size());
    Relaxation relaxation(graph, sets, order, {1, 0, false});
    Bounds bounds{.loose = relaxation.bound(), .tight = 0, .choices = 0, .choices_left = 0};
    relaxation.tighten();
    bounds.tight = relaxation.bound();
    relaxation.remove_choices_above(best * (1 + 1e-9));
    for (size_t o = 0; o < choices.size(); ++o)
        for (size_t x = 0; x < choices[o].size(); ++x) {
            ++bounds.choices;
            bounds.choices_left += relaxation.is_left(static_cast<int>(o), static_cast<int>(x)) ? 1 : 0;
        }
    return bounds;
}

TEST(Relaxations, AreExactOnAChain) {
    const Problem problem = read_problem(kLayers, "t.dist");
    const double best = distribute(problem).plan.seconds;
    const Bounds bounds = bounds_of(problem, best);
    EXPECT_LT(bounds.loose, best * 0.9);
    EXPECT_TRUE(is_near(bounds.tight, best)) << bounds.tight << " " << best;
    EXPECT_LT(bounds.choices_left, bounds.choices / 2);
}

TEST(Relaxations, NeverExceedTheBestPlan) {
    for (uint64_t seed = 0; seed < 100; ++seed) {
        SCOPED_TRACE(seed);
        const Problem problem =
            read_problem(random_graph_text(seed, {.levels = 1, .most_operators = 3}), "drawn.dist");
        const double best = enumerate(problem).front().seconds;
        const Bounds bounds = bounds_of(problem, best);
        EXPECT_LE(bounds.loose, bounds.tight + best * 1e-9);
        EXPECT_LE(bounds.tight, best * (1 + 1e-9));
        EXPECT_GE(bounds.choices_left, static_cast<int>(problem.operators.size()));
    }
}

}  // namespace
}  // namespace tessera::distribution
