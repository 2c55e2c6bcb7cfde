#include "search/egraph/rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "search/egraph/explain.h"
#include "search/egraph/matcher.h"
#include "search/egraph/saturate.h"
#include "search/egraph/toy_terms.h"

namespace tessera::egraph {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;
using toy::f;
using toy::leaf;
using toy::op;

std::vector<Match> find(const EGraph& graph, const Pattern& pattern) {
    Matcher matcher(graph);
    matcher.refresh();
    return matcher.find(pattern, 1000);
}

TEST(Matcher, FindsEveryPlaceAndBindsHoles) {
    EGraph graph;
    const TermId a = graph.add(leaf("a"), {}), b = graph.add(leaf("b"), {});
    const TermId ab = graph.add(op("+"), {a, b});
    const TermId sum = graph.add(op("+"), {ab, ab});
    const auto matches = find(graph, f("+", {hole("x"), hole("y")}));
    ASSERT_THAT(matches, SizeIs(2));
    EXPECT_EQ(matches[0].root, graph.find(ab));
    EXPECT_EQ(matches[0]["x"], a);
    EXPECT_EQ(matches[0]["y"], b);
    EXPECT_EQ(matches[1].root, graph.find(sum));
    const auto twice = find(graph, f("+", {hole("x"), hole("x")}));
    ASSERT_THAT(twice, SizeIs(1));
    EXPECT_EQ(twice[0]["x"], ab);
    EXPECT_THAT(find(graph, f("+", {f("+", {hole("x"), hole("y")}), hole("z")})), SizeIs(1));
    EXPECT_THAT(find(graph, hole("any")), SizeIs(4));
}

TEST(Matcher, SeesAllNodesOfAClass) {
    EGraph graph;
    const TermId a = graph.add(leaf("a"), {}), b = graph.add(leaf("b"), {});
    const TermId fa = graph.add(op("f"), {a}), gb = graph.add(op("g"), {b});
    const TermId top = graph.add(op("h"), {fa});
    EXPECT_THAT(find(graph, f("h", {f("g", {hole("x")})})), SizeIs(0));
    graph.unite(fa, gb, "given");
    graph.rebuild();
    const auto matches = find(graph, f("h", {f("g", {hole("x")})}));
    ASSERT_THAT(matches, SizeIs(1));
    EXPECT_EQ(matches[0]["x"], b);
    EXPECT_EQ(matches[0].root, graph.find(top));
}

TEST(Matcher, HolesAreTypedAndAttributesBind) {
    EGraph graph;
    const auto scaled = [](int64_t by) {
        Operator result = op("scale");
        std::get<Composite>(result.what).attributes = {{"by", by}, {"exact", std::string("yes")}};
        return result;
    };
    const TermId w = graph.add(leaf("w", ValueKind::kConstant), {}), x = graph.add(leaf("x"), {});
    const TermId s3 = graph.add(scaled(3), {w});
    graph.add(scaled(3), {s3});
    graph.add(scaled(5), {graph.add(scaled(3), {x})});
    const FamilyPtr scale = composites("scale");
    const auto constant = [](const ClassFacts& facts) { return facts.is_constant; };
    EXPECT_THAT(find(graph, apply(scale, {}, {hole("x")})), SizeIs(4));
    EXPECT_THAT(find(graph, apply(scale, {}, {hole("x", constant)})), SizeIs(2));
    EXPECT_THAT(find(graph, apply(scale, {{"by", Attribute(int64_t{5})}}, {hole("x")})), SizeIs(1));
    EXPECT_THAT(find(graph, apply(scale, {{"other", Attribute(int64_t{5})}}, {hole("x")})), SizeIs(0));
    const auto two =
        find(graph, apply(scale, {{"by", bound("a")}}, {apply(scale, {{"by", bound("b")}}, {hole("x")})}));
    ASSERT_THAT(two, SizeIs(2));
    EXPECT_EQ(two[1].attribute<int64_t>("a"), 5);
    EXPECT_EQ(two[1].attribute<int64_t>("b"), 3);
    const auto equal =
        find(graph, apply(scale, {{"by", bound("a")}}, {apply(scale, {{"by", bound("a")}}, {hole("x")})}));
    ASSERT_THAT(equal, SizeIs(1));
    EXPECT_EQ(equal[0]["x"], w);
}

TEST(Matcher, TakesAnyNumberOfChildrenByOneName) {
    EGraph graph;
    const TermId a = graph.add(leaf("a"), {}), b = graph.add(leaf("b"), {});
    const TermId one = graph.add(op("sum"), {a}), three = graph.add(op("sum"), {b, a, b});
    graph.add(op("pair"), {one, one});
    graph.add(op("pair"), {one, three});
    const Pattern all = apply_to_all(toy::family("sum"), {}, "xs");
    const auto matches = find(graph, all);
    ASSERT_THAT(matches, SizeIs(2));
    EXPECT_THAT(matches[0].lists.at("xs"), ElementsAre(a));
    EXPECT_THAT(matches[1].lists.at("xs"), ElementsAre(b, a, b));
    // The same name means the same children.
    EXPECT_THAT(find(graph, f("pair", {all, all})), SizeIs(1));
    const Rule rule(
        {.name = "first", .from = all, .to = Construct([](EGraph&, const Match& m) -> std::optional<TermId> {
                                           return m.lists.at("xs").front();
                                       })});
    EXPECT_EQ(rule.matched(graph, matches[1]), three);
    EXPECT_THAT(rule.construct(graph, matches[1]), ElementsAre(b));
}

/// An operator whose result the policy allows to be rounded.
Operator rounded(const std::string& kind) {
    Operator result = op(kind);
    result.results.front().rounding = Rounding::kWeights;
    return result;
}

TEST(Rule, WhatIsMadeHasThePolicyOfWhatItReplaces) {
    EGraph graph;
    const TermId a = graph.add(leaf("a"), {});
    const TermId fa = graph.add(rounded("f"), {a}), ga = graph.add(rounded("g"), {a});
    const std::vector<Rule> rules = {
        Rule({.name = "f-is-h", .from = f("f", {hole("x")}), .to = f("h", {hole("x")})}),
        Rule({.name = "g-is-nothing", .from = f("g", {hole("x")}), .to = hole("x")})};
    EXPECT_EQ(saturate(graph, rules).stop, StopReason::kSaturated);
    EXPECT_TRUE(graph.are_equal(fa, graph.add(rounded("h"), {a})));
    EXPECT_FALSE(graph.are_equal(ga, a)) << "what may be rounded is not what may not";
}

TEST(Rule, ConditionsAndConstructionsDecide) {
    EGraph graph;
    const TermId w = graph.add(leaf("w", ValueKind::kConstant), {}), x = graph.add(leaf("x"), {});
    const TermId fw = graph.add(op("f"), {w}), fx = graph.add(op("f"), {x});
    const std::vector<Rule> rules = {
        Rule({.name = "fold",
              .from = f("f", {hole("x")}),
              .to = Construct([](EGraph& g, const Match&) -> std::optional<TermId> {
                  return g.add(leaf("folded", ValueKind::kConstant), {});
              }),
              .condition = [](const EGraph& g,
                              const Match& match) { return g.facts(match["x"]).is_constant; }}),
        Rule({.name = "never", .from = f("f", {hole("x")}), .to = Construct([](EGraph&, const Match&) {
                                                                return std::optional<TermId>();
                                                            })})};
    const SaturationReport report = saturate(graph, rules);
    EXPECT_EQ(report.stop, StopReason::kSaturated);
    EXPECT_EQ(report.rules[0].unions, 1);
    EXPECT_EQ(report.rules[1].unions, 0);
    EXPECT_GT(report.rules[1].matches, 0);
    EXPECT_TRUE(graph.are_equal(fw, graph.add(leaf("folded", ValueKind::kConstant), {})));
    EXPECT_FALSE(graph.are_equal(fw, fx));
}

TEST(RuleDeath, WhatIsNotBoundIsRefused) {
    EXPECT_DEATH(Rule({.name = "r", .from = f("f", {hole("x")}), .to = hole("y")}), "rule r: y is not bound");
    EXPECT_DEATH(Rule({.name = "r", .from = hole("x"), .to = apply(composites("f"), {}, {hole("x")})}),
                 "rule r: the family f makes no operators");
    EXPECT_DEATH(Rule({.name = "r",
                       .from = hole("x"),
                       .to = apply(toy::family("f"), {{"a", bound("n")}}, {hole("x")})}),
                 "rule r: n is not bound");
    const Pattern all = apply_to_all(toy::family("f"), {}, "xs");
    EXPECT_DEATH(Rule({.name = "r", .from = all, .to = all}), "rule r: f makes no list of children");
}

}  // namespace
}  // namespace tessera::egraph
