// Paper 000, figure 2: whether transposes vanish depends on the order in which a greedy rewriter applies the
// rules of table 1, and not on the order in which equality saturation does.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "search/egraph/explain.h"
#include "search/egraph/extraction.h"
#include "search/egraph/matcher.h"
#include "search/rules/algebra/algebra_rules.h"
#include "search/rules/algebra/families.h"
#include "search/rules/algebra/formulas.h"
#include "search/rules/examples.h"
#include "search/rules/rewrite.h"

namespace tessera::rules {
namespace {

using egraph::BlockTerms;
using egraph::EGraph;
using egraph::Match;
using egraph::Matcher;
using egraph::Rule;
using egraph::TermId;

// y = transpose^-1(exp(transpose(x)) + transpose(z)), on three axes, so that a transpose is not its inverse.
constexpr const char* kFigure2 = R"(graph "figure_2"
symbol T in 1..8
point one weight 1: T = 4
input x: f32[T, 2, 3]
input z: f32[T, 2, 3]
value tx: f32[2, 3, T]
value e: f32[2, 3, T]
value tz: f32[2, 3, T]
value sum: f32[2, 3, T]
value y: f32[T, 2, 3]
block body
  node tx(x) -> tx
    op transpose(a: 2, b: 3, t: T)
    dim T in 1..8
    in X f32[t, a, b]
    out Y f32[a, b, t] = X
  node e(tx) -> e
    op exponential(a: 2, b: 3, t: T)
    dim T in 1..8
    in X f32[a, b, t]
    out Y f32[a, b, t] = exp(X)
  node tz(z) -> tz
    op transpose(a: 2, b: 3, t: T)
    dim T in 1..8
    in X f32[t, a, b]
    out Y f32[a, b, t] = X
  node sum(e, tz) -> sum
    op add(a: 2, b: 3, t: T)
    dim T in 1..8
    in X f32[a, b, t]
    in Z f32[a, b, t]
    out Y f32[a, b, t] = X + Z
  node y(sum) -> y
    op transpose(t: T, a: 2, b: 3)
    dim T in 1..8
    in X f32[a, b, t]
    out Y f32[t, a, b] = X
output y
)";

Graph figure_2() {
    Graph graph = parse_graph(kFigure2, "figure_2");
    verify(graph, "figure_2");
    return graph;
}

bool is_transpose(const egraph::Operator& op) {
    static const rules::Families families({});
    return families.transpose->recognise(op).has_value();
}

double cost(const egraph::Operator& op, std::span<const TensorType>) {
    return is_transpose(op) ? 10 : 1;
}

int count_transposes(const Graph& graph) {
    int count = 0;
    for (const Node& node : graph.blocks[0].nodes)
        count +=
            is_transpose({.what = std::get<DefinitionPtr>(node.op), .results = {graph[node.results[0]].type}})
                ? 1
                : 0;
    return count;
}

/// Table 1, in its order: combine-binary-left, combine-binary-right, combine-unary, fold-two, fold-nop.
std::vector<Rule> table_1(const Graph& graph) {
    std::vector<Rule> all;
    for (const rules::RuleEntry& entry : rules::transpose_rules(rules::Families(graph.symbols)))
        all.push_back(entry.rule);
    return all;
}

void expect_same(const Graph& found, const Graph& expected) {
    const GraphCall call = rules::testing::random_call(expected, 1, true);
    EXPECT_EQ(rules::testing::difference(interpret_graph(found, call), interpret_graph(expected, call), 0),
              "");
}

TEST(Figure2, ThePassLeavesNoTranspose) {
    const Graph graph = figure_2();
    EXPECT_EQ(count_transposes(graph), 3);
    const Rewritten result = rewrite(graph, {.cost = cost});
    verify(result.graph, "rewritten");
    EXPECT_EQ(count_transposes(result.graph), 0);
    EXPECT_EQ(result.graph.blocks[0].nodes.size(), 2u);
    EXPECT_EQ(result.blocks[0].cost_after, 2);
    EXPECT_EQ(result.blocks[0].status, extraction::Status::kOptimal);
    EXPECT_EQ(result.blocks[0].saturation.stop, egraph::StopReason::kSaturated);
    expect_same(result.graph, graph);
}

TEST(Figure2, EveryOrderOfTheRulesEndsWithoutTransposes) {
    const Graph graph = figure_2();
    std::vector<size_t> order = {0, 1, 2, 3, 4};
    std::optional<int64_t> nodes;
    do {
        std::vector<Rule> rules;
        for (const size_t i : order) rules.push_back(table_1(graph)[i]);
        EGraph egraph;
        const BlockTerms terms = add_block(egraph, graph, graph.blocks[0]);
        const egraph::SaturationReport report = saturate(egraph, rules);
        ASSERT_EQ(report.stop, egraph::StopReason::kSaturated);
        EXPECT_EQ(nodes.value_or(report.nodes), report.nodes);
        nodes = report.nodes;
        const TermId root = terms.values.at(graph.outputs[0]);
        const auto problem = extraction_problem(egraph, std::span(&root, 1),
                                                [&](TermId node) { return cost(egraph.op(node), {}); });
        const extraction::Result result = extraction::extract(problem.problem);
        ASSERT_EQ(result.status, extraction::Status::kOptimal);
        EXPECT_EQ(result.cost, 4);  // x, z, exp, +
        const Graph best = with_block(graph, 0, egraph, terms, selection_of(problem, result.choice));
        verify(best, "best");
        EXPECT_EQ(count_transposes(best), 0);
        expect_same(best, graph);
    } while (std::next_permutation(order.begin(), order.end()));
}

/// A term alone, copied into an e-graph of its own, so that nothing else can be matched; with `replacement`
/// in the place of `old`.
TermId copy(const EGraph& from, TermId term, EGraph& to, std::optional<TermId> old = {},
            std::optional<TermId> replacement = {}) {
    if (term == old) return copy(from, *replacement, to);
    std::vector<TermId> children;
    for (const TermId child : from.term(term).children)
        children.push_back(copy(from, child, to, old, replacement));
    return to.add(from.op(term), std::move(children));
}

/// Applies each rule as often as it matches, one rule after the other, as a pipeline of rewriting passes
/// does: a matched term is gone.
TermId greedy(const std::vector<size_t>& order, const Graph& graph, EGraph& result) {
    EGraph first;
    const BlockTerms terms = add_block(first, graph, graph.blocks[0]);
    TermId root = copy(first, terms.values.at(graph.outputs[0]), result);
    for (const size_t i : order) {
        const Rule rule = table_1(graph)[i];
        bool has_changed = true;
        while (has_changed) {
            has_changed = false;
            Matcher matcher(result);
            matcher.refresh();
            for (const Match& match : matcher.find(rule.from(), 1000)) {
                if (!rule.holds(result, match)) continue;
                EGraph next;
                const TermId matched = EGraph::any_term(match.root);
                const TermId made = rule.construct(result, match).front();
                root = copy(result, root, next, matched, made);
                result = std::move(next);
                has_changed = true;
                break;
            }
        }
    }
    return root;
}

int count_transposes(const EGraph& graph, TermId term) {
    int count = is_transpose(graph.op(term)) ? 1 : 0;
    for (const TermId child : graph.term(term).children) count += count_transposes(graph, child);
    return count;
}

TEST(Figure2, AGreedyRewriterKeepsTwoInTheBadOrder) {
    const Graph graph = figure_2();
    constexpr size_t kRight = 1, kUnary = 2, kTwo = 3, kNop = 4;
    EGraph good, bad;
    EXPECT_EQ(count_transposes(good, greedy({kUnary, kRight, kTwo, kNop}, graph, good)), 0);
    EXPECT_EQ(count_transposes(bad, greedy({kRight, kTwo, kNop, kUnary}, graph, bad)), 2);
}

TEST(Figure2, TheExplanationNamesRulesOfTheTable) {
    const Graph graph = figure_2();
    EGraph egraph;
    const BlockTerms terms = add_block(egraph, graph, graph.blocks[0]);
    saturate(egraph, table_1(graph));
    const rules::Families families(graph.symbols);
    const TensorType type = graph[{0}].type;
    const auto map = [&](const egraph::FamilyPtr& family, const char* body, std::vector<TermId> operands) {
        const std::vector<TensorType> types(operands.size(), type);
        const auto op = family->make(
            {{"body", rules::formula(body, static_cast<int>(operands.size()))}, {"result", "f32"}}, types);
        return egraph.add(op.value(), std::move(operands));
    };
    const TermId x = terms.values.at({0}), z = terms.values.at({1});
    const TermId plain = map(families.binary, "X + Z", {map(families.unary, "exp(X)", {x}), z});
    const TermId root = terms.values.at(graph.outputs[0]);
    ASSERT_TRUE(egraph.are_equal(root, plain));
    const std::string text = print(egraph, explain(egraph, root, plain));
    EXPECT_THAT(text, ::testing::HasSubstr("combine-"));
    EXPECT_THAT(text, ::testing::HasSubstr("fold-nop"));
}

}  // namespace
}  // namespace tessera::rules
