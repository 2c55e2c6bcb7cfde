#include "distribution/distribute.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "distribution/example.h"
#include "distribution/plain_plans.h"
#include "distribution/random_graph.h"

namespace tessera::distribution {
namespace {

using ::testing::IsEmpty;

Form made(const Problem& problem, const Distribution& found, const std::string& value) {
    for (size_t v = 0; v < problem.values.size(); ++v)
        if (problem.values[v].name == value) return found.plan.values[v].made;
    return {};
}

TEST(Distributing, FindsColumnsThenRows) {
    const Problem problem = read_problem(kLayers, "t.dist");
    const Distribution found = distribute(problem);
    EXPECT_EQ(found.status, Status::kOptimal);
    EXPECT_THAT(violations(problem, found.plan), IsEmpty());
    EXPECT_NEAR(found.plan.seconds, 3.4352e-06, 1e-15);
    EXPECT_EQ(problem.bytes(found.plan.units), 2688);
    EXPECT_EQ(made(problem, found, "W1"), Form{split(1)});
    EXPECT_EQ(made(problem, found, "H"), Form{split(1)});
    EXPECT_EQ(made(problem, found, "W2"), Form{split(0)});
    EXPECT_EQ(made(problem, found, "Y"), Form{partial(Monoid::kSum)});
    ASSERT_EQ(found.plan.values.back().boxes.size(), 1u);
    EXPECT_EQ(found.plan.values.back().boxes[0].collective, Collective::kAllReduce);
}

// From copies to splits: a limit that falls step by step never makes a plan cheaper.
TEST(Distributing, CostsMoreWithLessMemory) {
    std::string text = changed(kLayers, "input X B", "input X S(0)");
    for (const char* op : {"up(", "activate(", "down("})
        text = changed(text, std::string(op) + "t: 2", std::string(op) + "t: 8");
    text = changed(text, "devices 4 alpha 1e-7 beta 1e-10",
                   "op last(t: 8, c: 16, d*: 16)\nin Y f32[t, d], W3 f32[d, c]\n"
                   "out Z f32[t, c] = sum(Y * W3)\n\ndevices 4 alpha 3e-7 beta 1e-9");
    text = changed(changed(text, "W1, W2\n", "W1, W2, W3\n"), "output Y B", "output Z S(0)");
    Problem problem = read_problem(changed(text, "flops 4e9", "flops 1e9"), "t.dist");
    const Distribution free = distribute(problem);
    problem.memory = 0;
    const double least = problem.bytes(distribute(problem).plan.units);
    std::vector<double> costs = {free.plan.seconds};
    for (const double share : {1.0, 0.7, 0.4, 0.2, 0.1, 0.0}) {
        problem.memory = static_cast<int64_t>(least + (problem.bytes(free.plan.units) - least) * share);
        const Distribution found = distribute(problem);
        ASSERT_TRUE(found.has_plan()) << share;
        EXPECT_THAT(violations(problem, found.plan), IsEmpty());
        EXPECT_LE(problem.bytes(found.plan.units), static_cast<double>(*problem.memory));
        EXPECT_GE(found.plan.seconds, costs.back());
        costs.push_back(found.plan.seconds);
    }
    EXPECT_EQ(costs[1], costs[0]);
    EXPECT_GT(costs.back(), costs.front());
}

TEST(Distributing, SaysWhatIsNeededAtLeast) {
    Problem problem = read_problem(kLayers, "t.dist");
    problem.memory = 0;
    const Distribution found = distribute(problem);
    EXPECT_EQ(found.status, Status::kInfeasible);
    EXPECT_FALSE(found.has_plan());
    EXPECT_EQ(found.plan.units, enumerate(problem).back().units);
    // Exactly that much suffices.
    problem.memory = static_cast<int64_t>(problem.bytes(found.plan.units));
    EXPECT_EQ(distribute(problem).status, Status::kOptimal);
    problem.memory = *problem.memory - 1;
    EXPECT_EQ(distribute(problem).status, Status::kInfeasible);
}

// A form that several operators read is made once.
TEST(Distributing, MakesEachFormOnce) {
    const Problem problem = read_problem(
        "op a(i: 8)\nin X f32[i]\nout A f32[i] = exp(X)\n"
        "op b(i: 8)\nin A f32[i]\nout Y f32[i] = A + 1\n"
        "op c(i: 8)\nin A f32[i]\nout Z f32[i] = A * A\n"
        "devices 2 alpha 1e-7 beta 1e-9\ncompute flops 1e12 bytes 1e12\nmemory unlimited\ninput X S(0)\n"
        "output Y B\noutput Z B\n",
        "t.dist");
    const Distribution found = distribute(problem);
    EXPECT_THAT(violations(problem, found.plan), IsEmpty());
    size_t boxes = 0;
    for (const ValuePlan& value : found.plan.values) boxes += value.boxes.size();
    EXPECT_EQ(boxes, 1u);
    EXPECT_NEAR(found.plan.seconds, enumerate(problem).front().seconds, 1e-18);
}

// All three results of softmax_sum become whole, read or not.
TEST(Distributing, EndsPartialWeightsOfAllThree) {
    const Problem problem = read_problem(
        "op attend(q: 1, e: 4, s*: 64)\nin P f32[q, s], V f32[s, e]\n"
        "out M f32[q], L f32[q], A f32[q, e] = softmax_sum(P, V)\n"
        "devices 4 alpha 1e-9 beta 1e-10\ncompute flops 1e8 bytes 1e9\nmemory unlimited\n"
        "input P S(1)\ninput V S(0)\noutput A B\n",
        "t.dist");
    const Distribution found = distribute(problem);
    EXPECT_THAT(violations(problem, found.plan), IsEmpty());
    for (const char* result : {"M", "L", "A"})
        EXPECT_EQ(made(problem, found, result), Form{partial(Monoid::kSoftmaxSum)}) << result;
    EXPECT_EQ(found.plan.values[2].boxes.size(), 1u);
}

TEST(Distributing, IsDeterministic) {
    const Problem problem = read_problem(random_graph_text(7, {.levels = 2, .most_operators = 6}), "t.dist");
    const Distribution first = distribute(problem);
    const Distribution second = distribute(problem);
    EXPECT_EQ(first.nodes, second.nodes);
    for (size_t v = 0; v < problem.values.size(); ++v) {
        EXPECT_EQ(first.plan.values[v].made, second.plan.values[v].made);
        EXPECT_EQ(first.plan.values[v].boxes, second.plan.values[v].boxes);
    }
}

TEST(Distributing, StopsAfterItsNodesWithABound) {
    int stopped = 0;
    for (uint64_t seed = 0; seed < 20; ++seed) {
        const Problem problem =
            read_problem(random_graph_text(seed, {.levels = 2, .most_operators = 6}), "t.dist");
        const Distribution whole = distribute(problem);
        const Distribution part = distribute(problem, {.nodes = 40, .tighten = false});
        ASSERT_TRUE(part.has_plan());
        EXPECT_THAT(violations(problem, part.plan), IsEmpty());
        EXPECT_LE(part.bound, whole.plan.seconds * (1 + 1e-9));
        EXPECT_GE(part.plan.seconds, whole.plan.seconds * (1 - 1e-9));
        stopped += part.status == Status::kFeasible ? 1 : 0;
    }
    EXPECT_GT(stopped, 0);
}

struct Inference {
    const char* name;
    bool DistributeOptions::*is_on;
};

void PrintTo(const Inference& inference, std::ostream* stream) {
    *stream << inference.name;
}

class Inferences : public ::testing::TestWithParam<Inference> {};

TEST_P(Inferences, ShrinkTheSearchAndKeepTheOptimum) {
    Problem problem = read_problem(residual_layers(6), "t.dist");
    Problem none = problem;
    none.memory = 0;
    const double least = problem.bytes(distribute(none).plan.units);
    const double most = problem.bytes(distribute(problem).plan.units);
    int64_t with = 0;
    int64_t without = 0;
    for (const double share : {0.3, 0.7}) {
        problem.memory = static_cast<int64_t>(least + (most - least) * share);
        DistributeOptions options;
        const Distribution usual = distribute(problem, options);
        options.*GetParam().is_on = false;
        const Distribution other = distribute(problem, options);
        EXPECT_EQ(usual.status, Status::kOptimal);
        if (other.status == Status::kOptimal) {
            EXPECT_TRUE(is_near(usual.plan.seconds, other.plan.seconds));
        }
        with += usual.nodes;
        without += other.nodes;
    }
    EXPECT_LT(with, without);
}

INSTANTIATE_TEST_SUITE_P(Each, Inferences,
                         ::testing::Values(Inference{"tighten", &DistributeOptions::tighten},
                                           Inference{"remove_choices", &DistributeOptions::remove_choices},
                                           Inference{"weigh_memory", &DistributeOptions::weigh_memory}),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace tessera::distribution
