#include "search/egraph/block_terms.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/import_model.h"
#include "ir/graph_fixture.h"
#include "ir/ops/decompose.h"
#include "search/egraph/extraction.h"

namespace tessera::egraph {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// The selection that computes each class as the block did.
Selection itself(const EGraph& egraph, const Block& block, const BlockTerms& terms) {
    Selection selection;
    for (const Node& node : block.nodes)
        for (const ValueId result : node.results) {
            const TermId term = terms.values.at(result);
            selection.emplace(egraph.find(term), term);
            if (node.results.size() > 1) {
                const TermId all = egraph.term(term).children.front();
                selection.emplace(egraph.find(all), all);
            }
        }
    return selection;
}

void expect_round_trip(const Graph& graph) {
    EGraph egraph;  // of all blocks
    for (size_t i = 0; i < graph.blocks.size(); ++i) {
        SCOPED_TRACE(graph.blocks[i].name);
        const BlockTerms terms = add_block(egraph, graph, graph.blocks[i]);
        egraph.rebuild();
        const Graph again = with_block(graph, i, egraph, terms, itself(egraph, graph.blocks[i], terms));
        EXPECT_EQ(print(again), print(graph));
        verify(again, "again");
    }
}

TEST(BlockTerms, TheSmallGraphComesBackEqual) {
    expect_round_trip(parse_graph(testing::kSmallGraph, "small"));
}

TEST(BlockTerms, TheShippedModelComesBackEqual) {
    const Graph graph =
        import::import_model(std::filesystem::path(TESSERA_SOURCE_DIR) / "models" / "tessera-tiny").graph;
    expect_round_trip(graph);
    expect_round_trip(ops::decompose(graph));  // attention has operators with several results
}

TEST(BlockTerms, KnowsConstantsAndTypes) {
    const Graph graph = parse_graph(testing::kSmallGraph, "small");
    EGraph egraph;
    const BlockTerms terms = add_block(egraph, graph, graph.blocks[0]);
    for (const auto& [value, term] : terms.values) {
        EXPECT_EQ(egraph.facts(term).types, std::vector{graph[value].type});
        EXPECT_EQ(egraph.facts(term).is_constant, graph[value].kind == ValueKind::kConstant);
    }
}

constexpr const char* kTwice = R"(graph "twice"
symbol T in 1..8
point one weight 1: T = 1
input x: f32[T, 3]
value a: f32[T, 3]
value b: f32[T, 3]
value s: f32[T, 3]
value dead: f32[T, 3]
block body
  node first(x) -> a
    op up(t: T, d: 3)
    dim T in 1..8
    in X f32[t, d]
    out Y f32[t, d] = exp(X)
  node second(x) -> b
    op rise(i: T, j: 3)
    dim T in 1..8
    in A f32[i, j]
    out B f32[i, j] = exp(A)
  node unused(x) -> dead
    op tan(t: T, d: 3)
    dim T in 1..8
    in X f32[t, d]
    out Y f32[t, d] = tanh(X)
  node s(a, b) -> s
    op plus(t: T, d: 3)
    dim T in 1..8
    in X f32[t, d]
    in Y f32[t, d]
    out Z f32[t, d] = X + Y
output s, b
)";

TEST(BlockTerms, WhatIsComputedTwiceIsComputedOnceAndWhatIsDeadGoes) {
    const Graph graph = parse_graph(kTwice, "twice");
    EGraph egraph;
    const BlockTerms terms = add_block(egraph, graph, graph.blocks[0]);
    egraph.rebuild();
    const Graph once = with_block(graph, 0, egraph, terms, itself(egraph, graph.blocks[0], terms));
    verify(once, "once");
    const std::string text = print(once);
    EXPECT_THAT(text, HasSubstr("node second(x) -> b"));
    EXPECT_THAT(text, HasSubstr("node s(b, b) -> s"));
    EXPECT_THAT(text, HasSubstr("output s, b\n"));
    EXPECT_THAT(text, Not(HasSubstr("first")));
    EXPECT_THAT(text, Not(HasSubstr("dead")));
}

TEST(BlockTerms, EqualOutputsStayTwo) {
    Graph graph = parse_graph(kTwice, "twice");
    graph.outputs.push_back(*graph.find("a"));
    EGraph egraph;
    const BlockTerms terms = add_block(egraph, graph, graph.blocks[0]);
    egraph.rebuild();
    const Graph once = with_block(graph, 0, egraph, terms, itself(egraph, graph.blocks[0], terms));
    verify(once, "once");
    const std::string text = print(once);
    EXPECT_THAT(text, HasSubstr("node s(b, b) -> s"));
    EXPECT_THAT(text, HasSubstr("node a(b) -> a\n    op copy("));
    EXPECT_THAT(text, HasSubstr("output s, b, a\n"));
}

TEST(BlockTerms, ResultsThatNobodyReadsKeepTheirNames) {
    const Graph graph = ops::decompose(
        import::import_model(std::filesystem::path(TESSERA_SOURCE_DIR) / "models" / "tessera-tiny").graph);
    EGraph egraph;
    for (size_t i = 0; i < graph.blocks.size(); ++i) {
        const BlockTerms terms = add_block(egraph, graph, graph.blocks[i]);
        egraph.rebuild();
        Selection selection = itself(egraph, graph.blocks[i], terms);
        for (const Node& node : graph.blocks[i].nodes)
            if (node.results.size() == 3)  // the maxima of attention
                selection.erase(egraph.find(terms.values.at(node.results[0])));
        EXPECT_EQ(print(with_block(graph, i, egraph, terms, selection)), print(graph));
    }
}

TEST(BlockTermsDeath, AClassWithoutSelectionIsRefused) {
    const Graph graph = parse_graph(kTwice, "twice");
    EGraph egraph;
    const BlockTerms terms = add_block(egraph, graph, graph.blocks[0]);
    egraph.rebuild();
    EXPECT_DEATH(with_block(graph, 0, egraph, terms, {}), "has no selected node");
}

}  // namespace
}  // namespace tessera::egraph
