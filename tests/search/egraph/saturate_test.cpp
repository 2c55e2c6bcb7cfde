#include "search/egraph/saturate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "search/egraph/toy_terms.h"

namespace tessera::egraph {
namespace {

using toy::f;
using toy::leaf;
using toy::op;

Rule commute() {
    return Rule(
        {.name = "commute", .from = f("+", {hole("x"), hole("y")}), .to = f("+", {hole("y"), hole("x")})});
}
Rule associate() {
    return Rule({.name = "associate",
                 .from = f("+", {f("+", {hole("x"), hole("y")}), hole("z")}),
                 .to = f("+", {hole("x"), f("+", {hole("y"), hole("z")})})});
}
Rule absorb() {
    return Rule({.name = "absorb", .from = f("f", {f("f", {hole("x")})}), .to = hole("x")});
}

/// ((a0 + a1) + a2) + ... and the same from the right, in reverse order.
std::pair<TermId, TermId> sums(EGraph& graph, int count) {
    std::vector<TermId> leaves;
    for (int i = 0; i < count; ++i) leaves.push_back(graph.add(leaf("a" + std::to_string(i)), {}));
    TermId left = leaves[0], right = leaves[0];
    for (int i = 1; i < count; ++i) {
        left = graph.add(op("+"), {left, leaves[static_cast<size_t>(i)]});
        right = graph.add(op("+"), {leaves[static_cast<size_t>(i)], right});
    }
    return {left, right};
}

TEST(Saturate, SumsOfFiveTermsAreAllEqualAndOfTheKnownNumber) {
    EGraph graph;
    const auto [left, right] = sums(graph, 5);
    const std::vector<Rule> rules = {commute(), associate()};
    const SaturationReport report = saturate(graph, rules);
    EXPECT_EQ(report.stop, StopReason::kSaturated);
    EXPECT_TRUE(graph.are_equal(left, right));
    // A class for each set of leaves, and for each ordered split of one in two a node: 3^n - 2^(n+1) + 1.
    EXPECT_EQ(report.classes, (1 << 5) - 1);
    EXPECT_EQ(report.nodes, 243 - 64 + 1 + 5);
}

TEST(Saturate, BackOffLeavesRoomAndLosesNothing) {
    EGraph graph;
    const auto [left, right] = sums(graph, 6);
    const TermId wrapped = graph.add(op("f"), {graph.add(op("f"), {left})});
    const std::vector<Rule> rules = {commute(), associate(), absorb()};
    const SaturationReport report = saturate(graph, rules, {.back_off = {.matches = 20, .iterations = 2}});
    EXPECT_EQ(report.stop, StopReason::kSaturated);
    EXPECT_TRUE(graph.are_equal(wrapped, right));
    EXPECT_GT(report.rules[0].rests + report.rules[1].rests, 0);
    EXPECT_EQ(report.rules[2].rests, 0);
    EXPECT_EQ(report.rules[2].unions, 1);
    EXPECT_EQ(report.classes, (1 << 6) - 1 + 1);  // f(left) is the one more
}

TEST(Saturate, ReportsWhichLimitStruck) {
    {
        EGraph graph;
        sums(graph, 10);
        const std::vector<Rule> rules = {commute(), associate()};
        const SaturationReport report =
            saturate(graph, rules, {.nodes = 300, .back_off = {.matches = 100'000}});
        EXPECT_EQ(report.stop, StopReason::kNodes);
        EXPECT_GT(report.iterations, 1);
        EXPECT_EQ(report.nodes, graph.node_count());
        EXPECT_TRUE(graph.is_rebuilt());
    }
    {
        EGraph graph;
        sums(graph, 10);
        const std::vector<Rule> rules = {commute(), associate()};
        const SaturationReport report = saturate(graph, rules, {.iterations = 2});
        EXPECT_EQ(report.stop, StopReason::kIterations);
        EXPECT_EQ(report.iterations, 2);
    }
    {
        // A rule that never ends: x = f(x) upwards from a new leaf each time.
        EGraph graph;
        graph.add(op("f"), {graph.add(leaf("a"), {})});
        const std::vector<Rule> rules = {Rule(
            {.name = "grow", .from = f("f", {hole("x")}), .to = f("g", {f("f", {f("f", {hole("x")})})})})};
        EXPECT_EQ(saturate(graph, rules, {.nodes = 500, .iterations = 1000}).stop, StopReason::kNodes);
        EXPECT_EQ(name(StopReason::kNodes), "limit of nodes");
    }
}

TEST(Saturate, TheOrderOfRulesDoesNotDecideWhatIsFound) {
    for (const bool is_reversed : {false, true}) {
        EGraph graph;
        const auto [left, right] = sums(graph, 5);
        std::vector<Rule> rules = {commute(), associate(), absorb()};
        if (is_reversed) std::reverse(rules.begin(), rules.end());
        const SaturationReport report = saturate(graph, rules);
        EXPECT_TRUE(graph.are_equal(left, right));
        EXPECT_EQ(report.nodes, 185);
        EXPECT_EQ(report.classes, 31);
    }
}

TEST(Saturate, TheSameTwice) {
    const auto run = [] {
        EGraph graph;
        sums(graph, 7);
        const std::vector<Rule> rules = {commute(), associate()};
        SaturationReport report = saturate(graph, rules, {.iterations = 6, .back_off = {.matches = 200}});
        std::vector<std::vector<int>> nodes;
        for (const ClassId e_class : graph.classes()) {
            nodes.emplace_back();
            for (const TermId node : graph.nodes(e_class)) nodes.back().push_back(node.index);
        }
        return std::pair(report, nodes);
    };
    EXPECT_EQ(run(), run());
}

}  // namespace
}  // namespace tessera::egraph
