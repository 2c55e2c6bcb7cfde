// Paper 000, figure 2: whether transposes vanish depends on the order in which a greedy rewriter applies the
// rules of table 1, and not on the order in which equality saturation does.
#include <algorithm>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "egraph/explain.h"
#include "egraph/extraction.h"
#include "egraph/matcher.h"
#include "egraph/saturate.h"
#include "egraph/transposes.h"
#include "extraction/extract.h"
#include "ir/graph_interpreter.h"

namespace tessera::egraph {
namespace {

using testing::elementwise;
using testing::is_transpose;
using testing::transpose;
using testing::transpose_rules;

/// y = transpose^-1(exp(transpose(x)) + transpose(z)), on three axes, so that a transpose is not its inverse.
Graph figure_2() {
    Graph graph{.name = "figure_2"};
    const auto value = [&](const std::string& name, ValueKind kind, std::vector<Dim> shape) {
        graph.values.push_back(
            {.name = name, .kind = kind, .type = {.element = ElementType::kF32, .shape = std::move(shape)}});
        return ValueId{static_cast<int>(graph.values.size()) - 1};
    };
    const ValueId x = value("x", ValueKind::kInput, {2, 3, 4}), z = value("z", ValueKind::kInput, {2, 3, 4});
    const ValueId tx = value("tx", ValueKind::kIntermediate, {3, 4, 2});
    const ValueId e = value("e", ValueKind::kIntermediate, {3, 4, 2});
    const ValueId tz = value("tz", ValueKind::kIntermediate, {3, 4, 2});
    const ValueId sum = value("sum", ValueKind::kIntermediate, {3, 4, 2});
    const ValueId y = value("y", ValueKind::kIntermediate, {2, 3, 4});
    Block block{.name = "body"};
    block.nodes = {{"tx", transpose({2, 3, 4}, {1, 2, 0}), {x}, {tx}, {}},
                   {"e", elementwise({3, 4, 2}, "exp", 1), {tx}, {e}, {}},
                   {"tz", transpose({2, 3, 4}, {1, 2, 0}), {z}, {tz}, {}},
                   {"sum", elementwise({3, 4, 2}, "+", 2), {e, tz}, {sum}, {}},
                   {"y", transpose({3, 4, 2}, {2, 0, 1}), {sum}, {y}, {}}};
    graph.blocks = {std::move(block)};
    graph.outputs = {y};
    verify(graph, "figure_2");
    return graph;
}

int count_transposes(const Graph& graph) {
    int count = 0;
    for (const Node& node : graph.blocks[0].nodes)
        count += is_transpose({.what = std::get<DefinitionPtr>(node.op), .results = {}}) ? 1 : 0;
    return count;
}

GraphResult run(const Graph& graph) {
    std::mt19937 random(1);
    GraphCall call;
    for (const char* name : {"x", "z"}) {
        TensorData data{{2, 3, 4}, std::vector<double>(24)};
        for (double& v : data.values) v = static_cast<double>(random() % 1024) / 1024;
        call.inputs[name] = std::move(data);
    }
    return interpret_graph(graph, call);
}

TEST(Figure2, EveryOrderOfTheRulesEndsWithoutTransposes) {
    const Graph graph = figure_2();
    const std::vector<TensorData> expected = run(graph).outputs;
    std::vector<size_t> order = {0, 1, 2, 3, 4};
    std::optional<int64_t> nodes;
    do {
        std::vector<Rule> rules;
        for (const size_t i : order) rules.push_back(transpose_rules()[i]);
        EGraph egraph;
        const BlockTerms terms = add_block(egraph, graph, graph.blocks[0]);
        const SaturationReport report = saturate(egraph, rules);
        ASSERT_EQ(report.stop, StopReason::kSaturated);
        EXPECT_EQ(nodes.value_or(report.nodes), report.nodes);
        nodes = report.nodes;
        const TermId root = terms.values.at(graph.outputs[0]);
        const ExtractionProblem problem = extraction_problem(egraph, std::span(&root, 1), [&](TermId node) {
            return is_transpose(egraph.op(node)) ? 10.0 : 1.0;
        });
        const extraction::Result result = extraction::extract(problem.problem);
        ASSERT_EQ(result.status, extraction::Status::kOptimal);
        EXPECT_EQ(result.cost, 4);  // x, z, exp, +
        const Graph best = with_block(graph, 0, egraph, terms, selection_of(problem, result.choice));
        verify(best, "best");
        EXPECT_EQ(count_transposes(best), 0);
        EXPECT_EQ(best.blocks[0].nodes.size(), 2u);
        EXPECT_EQ(run(best).outputs[0].values, expected[0].values);
    } while (std::next_permutation(order.begin(), order.end()));
}

/// Applies each rule as often as it matches, one rule after the other, as a pipeline of rewriting passes
/// does: what was matched is gone.
TermId greedy(const std::vector<size_t>& order, const Graph& graph, EGraph& result) {
    EGraph first;
    const BlockTerms terms = add_block(first, graph, graph.blocks[0]);
    // The term alone, copied into an e-graph of its own for every step: nothing else can be matched.
    const auto copy = [](const auto& self, const EGraph& from, TermId term, EGraph& to, TermId old,
                         TermId replacement, const EGraph* replacement_graph) -> TermId {
        if (term == old) return self(self, *replacement_graph, replacement, to, {}, {}, nullptr);
        std::vector<TermId> children;
        for (const TermId child : from.term(term).children)
            children.push_back(self(self, from, child, to, old, replacement, replacement_graph));
        return to.add(from.op(term), std::move(children));
    };
    TermId root = copy(copy, first, terms.values.at(graph.outputs[0]), result, {}, {}, nullptr);
    for (const size_t i : order) {
        const Rule rule = transpose_rules()[i];
        while (true) {
            Matcher matcher(result);
            matcher.refresh();
            bool has_changed = false;
            for (const Match& match : matcher.find(rule.from(), 1000)) {
                if (!rule.holds(result, match)) continue;
                EGraph next;
                const TermId matched = EGraph::any_term(match.root);
                const TermId made = rule.construct(result, match).front();
                const TermId new_root = copy(copy, result, root, next, matched, made, &result);
                result = std::move(next);
                root = new_root;
                has_changed = true;
                break;
            }
            if (!has_changed) break;
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
    saturate(egraph, transpose_rules());
    const TermId x = terms.values.at({0}), z = terms.values.at({1});
    const auto op = [](DefinitionPtr definition) {
        return Operator{.what = std::move(definition),
                        .results = {{.element = ElementType::kF32, .shape = {2, 3, 4}}}};
    };
    const TermId plain = egraph.add(op(elementwise({2, 3, 4}, "+", 2)),
                                    {egraph.add(op(elementwise({2, 3, 4}, "exp", 1)), {x}), z});
    const TermId root = terms.values.at(graph.outputs[0]);
    ASSERT_TRUE(egraph.are_equal(root, plain));
    const std::string text = print(egraph, explain(egraph, root, plain));
    EXPECT_THAT(text, ::testing::HasSubstr("combine-"));
    EXPECT_THAT(text, ::testing::HasSubstr("fold-nop"));
}

}  // namespace
}  // namespace tessera::egraph
