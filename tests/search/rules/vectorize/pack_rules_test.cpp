// The equalities of each rule of table 2, alone or after meta-pack. Tests of emitted code
// (backend/layouts_test.cpp) show that forms compute the same, since the interpreter ignores layouts.
#include "search/rules/vectorize/pack_rules.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "search/egraph/block_terms.h"
#include "search/egraph/saturate.h"

namespace tessera::rules {
namespace {

using egraph::EGraph;
using egraph::TermId;
using ::testing::Contains;
using ::testing::Not;

Graph chain() {
    return parse_graph(R"(graph "chain"
symbol T in 1..8
input X: f32[T, 64]
input id: i32[T]
constant W: f32[32, 64] from "W"
value S: f32[T, 32]
value E: f32[T, 32]
value R: f32[T, 64]

block main
  node S(X, W) -> S
    op product(t: T, n: 32, k*: 64)
    dim T in 1..8
    in X f32[t, k], W f32[n, k]
    out Y f32[t, n] = sum(X * W)
  node E(S) -> E
    op exponential(t: T, n: 32)
    dim T in 1..8
    in X f32[t, n]
    out Y f32[t, n] = exp(X)
  node R(id, W) -> R
    op rows(t: T, k: 64)
    dim T in 1..8
    index id i32[t]
    in W f32[id[t], k] of [32, 64]
    out Y f32[t, k] = W
output E, R
)",
                       "chain");
}

std::string text(const EGraph& graph, TermId term) {
    std::string result = label(graph.op(term)) + "(";
    for (const TermId child : graph.term(term).children)
        result += (result.back() == '(' ? "" : "; ") + print(graph.facts(child).types.front().layout);
    return result + ") -> " + print(graph.op(term).results.front().layout);
}

class PackRules : public ::testing::Test {
protected:
    PackRules() {
        options_.symbols = chain().symbols;
        options_.units = {
            {.name = "vector",
             .kind = machine::UnitKind::kVector,
             .operands = {{"A", "f32", {{'i', 4}}}, {"B", "f32", {{'i', 4}}}, {"C", "f32", {{'i', 4}}}}}};
    }

    /// Every form that saturation with these rules finds.
    std::set<std::string> forms(const std::vector<egraph::Rule>& rules) {
        const Graph graph = chain();
        EGraph egraph;
        (void)add_block(egraph, graph, graph.blocks.front());
        const egraph::SaturationReport report = saturate(egraph, rules);
        EXPECT_EQ(report.stop, egraph::StopReason::kSaturated);
        std::set<std::string> found;
        for (const egraph::ClassId e_class : egraph.classes())
            for (const TermId node : egraph.nodes(e_class)) found.insert(text(egraph, node));
        return found;
    }

    PackRuleOptions options_;
};

TEST_F(PackRules, MetaPackOffersEveryIteratorOfTheUnit) {
    const auto found = forms({meta_pack(options_)});
    EXPECT_THAT(found, Contains("product(row-major; lanes <0:4>) -> row-major"))
        << "n: rows of Y have 32 anyway";
    EXPECT_THAT(found, Contains("product(lanes <0:4>; row-major) -> lanes <0:4>")) << "t";
    EXPECT_THAT(found, Contains("product(lanes <0:4>; row-major) -> row-major"));
    EXPECT_THAT(found, Contains("exponential(lanes <0:4>) -> lanes <0:4>"));
    EXPECT_THAT(found, Not(Contains("rows(row-major; lanes <0:4>) -> row-major")));
}

TEST_F(PackRules, WhatIsFoundByAnIndexIsFoundInEveryForm) {
    EXPECT_THAT(forms({meta_pack(options_), read_as_stored(options_)}),
                Contains("rows(row-major; lanes <0:4>) -> row-major"));
}

TEST_F(PackRules, LayoutsPassThroughAndResultsAreMadeAsTheyAreRead) {
    // A unit for products alone: the forms of the exponential follow from its neighbours.
    options_.units = {{.name = "tiles",
                       .kind = machine::UnitKind::kMatrix,
                       .operands = {{"A", "f32", {{'m', 2}, {'k', 4}}},
                                    {"B", "f32", {{'n', 8}, {'k', 4}}},
                                    {"C", "f32", {{'m', 2}, {'n', 8}}}}}};
    const std::string passed = "exponential(lanes <0:2, 1:8>) -> lanes <0:2, 1:8>";
    EXPECT_THAT(forms({meta_pack(options_)}),
                Contains("product(lanes <0:2, 1:4>; lanes <0:8, 1:4>) -> lanes <0:2, 1:8>"));
    EXPECT_THAT(forms({meta_pack(options_)}), Not(Contains(passed)));
    EXPECT_THAT(forms({meta_pack(options_), pass_through(options_)}), Contains(passed));
    // It may unpack as well, and a reader then packs its result.
    EXPECT_THAT(forms({meta_pack(options_), pass_through(options_)}),
                Contains("exponential(lanes <0:2, 1:8>) -> row-major"));
    EXPECT_THAT(forms({meta_pack(options_), pass_through(options_), write_as_read(options_)}),
                Contains("exponential(row-major) -> lanes <0:2, 1:8>"));
}

TEST_F(PackRules, PacksOfPacksFold) {
    const auto found = forms(pack_rules(options_));
    EXPECT_THAT(found, Contains("copy(row-major) -> lanes <0:4>"));
    EXPECT_THAT(found, Contains("copy(lanes <0:4>) -> row-major"));
    EXPECT_THAT(found, Not(Contains("copy(lanes <0:4>) -> lanes <0:4>")));
}

}  // namespace
}  // namespace tessera::rules
