#include "search/egraph/explain.h"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "search/egraph/matcher.h"
#include "search/egraph/saturate.h"
#include "search/egraph/toy_terms.h"

namespace tessera::egraph {
namespace {

using toy::f;
using toy::leaf;
using toy::op;

/// A term as a tree of texts, as people read it.
struct Tree {
    std::string op;
    std::vector<Tree> children;
    bool operator==(const Tree&) const = default;
};
Tree tree(const EGraph& graph, TermId term) {
    Tree result{label(graph.op(term)), {}};
    for (const TermId child : graph.term(term).children) result.children.push_back(tree(graph, child));
    return result;
}

TermId add(EGraph& graph, const Tree& t) {
    std::vector<TermId> children;
    for (const Tree& child : t.children) children.push_back(add(graph, child));
    return graph.add(t.op.starts_with('%') ? leaf(t.op.substr(1)) : op(t.op), std::move(children));
}
/// True if the rule turns exactly this tree into exactly that one, told by an e-graph of its own.
bool rewrites(const Rule& rule, const Tree& before, const Tree& after) {
    EGraph graph;
    const TermId whole = add(graph, before);
    Matcher matcher(graph);
    matcher.refresh();
    for (const Match& match : matcher.find(rule.from(), 10'000)) {
        if (match.root != graph.find(whole)) continue;
        for (const TermId made : rule.construct(graph, match))
            if (tree(graph, made) == after) return true;
    }
    return false;
}

/// Follows the steps from `from`, checks each of them and where they end.
void replay(const EGraph& graph, const std::vector<Rule>& rules, TermId from, TermId to) {
    const Explanation explanation = explain(graph, from, to);
    ASSERT_TRUE(explanation.is_whole);
    Tree now = tree(graph, from);
    for (const Step& step : explanation.steps) {
        Tree* part = &now;
        for (const int child : step.position) {
            ASSERT_LT(static_cast<size_t>(child), part->children.size());
            part = &part->children[static_cast<size_t>(child)];
        }
        const Tree before = tree(graph, step.before), after = tree(graph, step.after);
        ASSERT_EQ(*part, before) << step.rule;
        const auto rule =
            std::find_if(rules.begin(), rules.end(), [&](const Rule& r) { return r.name() == step.rule; });
        ASSERT_NE(rule, rules.end()) << step.rule;
        EXPECT_TRUE(step.is_forward ? rewrites(*rule, before, after) : rewrites(*rule, after, before))
            << step.rule;
        *part = after;
    }
    EXPECT_EQ(now, tree(graph, to));
}

std::vector<Rule> algebra() {
    const Pattern x = hole("x"), y = hole("y"), z = hole("z");
    return {
        Rule({.name = "commute", .from = f("+", {x, y}), .to = f("+", {y, x})}),
        Rule({.name = "associate", .from = f("+", {f("+", {x, y}), z}), .to = f("+", {x, f("+", {y, z})})}),
        Rule({.name = "distribute",
              .from = f("*", {x, f("+", {y, z})}),
              .to = f("+", {f("*", {x, y}), f("*", {x, z})})}),
        Rule({.name = "negate-twice", .from = f("-", {f("-", {x})}), .to = x}),
        Rule({.name = "negate-sum",
              .from = f("-", {f("+", {x, y})}),
              .to = f("+", {f("-", {x}), f("-", {y})})})};
}

TEST(Explain, SaysEachRuleInItsPlace) {
    EGraph graph;
    const TermId a = graph.add(leaf("a"), {}), b = graph.add(leaf("b"), {});
    const TermId negated = graph.add(op("-"), {graph.add(op("-"), {a})});
    const TermId from = graph.add(op("+"), {b, negated}), to = graph.add(op("+"), {a, b});
    const std::vector<Rule> rules = algebra();
    saturate(graph, rules);
    ASSERT_TRUE(graph.are_equal(from, to));
    replay(graph, rules, from, to);
    const std::string text = print(graph, explain(graph, from, to));
    EXPECT_THAT(text, ::testing::HasSubstr("negate-twice: -(-(%a)) = %a\n"));
    EXPECT_THAT(text, ::testing::HasSubstr("commute"));
    EXPECT_TRUE(explain(graph, from, from).steps.empty());
}

TEST(Explain, EveryEqualityOfRandomTermsCanBeReplayed) {
    const std::vector<Rule> rules = algebra();
    int replayed = 0;
    for (unsigned seed = 0; seed < 40; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        const auto below = [&](size_t n) { return random() % n; };
        EGraph graph;
        std::vector<TermId> terms;
        for (const char* name : {"a", "b", "c"}) terms.push_back(graph.add(leaf(name), {}));
        const auto any = [&] { return terms[below(terms.size())]; };
        for (int i = 0; i < 7; ++i) {
            const size_t kind = below(4);
            if (kind == 0)
                terms.push_back(graph.add(op("-"), {any()}));
            else
                terms.push_back(graph.add(op(kind == 1 ? "*" : "+"), {any(), any()}));
        }
        saturate(graph, rules, {.nodes = 2000, .iterations = 5});
        for (const ClassId e_class : graph.classes()) {
            const std::vector<TermId>& nodes = graph.nodes(e_class);
            for (size_t i = 1; i < nodes.size() && i < 6; ++i) {
                replay(graph, rules, nodes.front(), nodes[i]);
                ++replayed;
            }
            if (HasFatalFailure()) return;
        }
    }
    EXPECT_GT(replayed, 500);
}

TEST(Explain, IsCutOffWhereAsked) {
    EGraph graph;
    TermId sum = graph.add(leaf("a"), {});
    for (int i = 0; i < 4; ++i) sum = graph.add(op("-"), {graph.add(op("-"), {sum})});
    const std::vector<Rule> rules = algebra();
    saturate(graph, rules);
    const Explanation cut = explain(graph, sum, graph.add(leaf("a"), {}), 2);
    EXPECT_FALSE(cut.is_whole);
    EXPECT_EQ(cut.steps.size(), 2u);
}

}  // namespace
}  // namespace tessera::egraph
