// All rules of the product on the examples that they carry: each rewrites its example, and both sides compute
// the same. A rule's exactness defines "the same".
#include "search/rules/algebra/algebra_rules.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

#include <gtest/gtest.h>

#include "ir/ops/decompose.h"
#include "search/egraph/matcher.h"
#include "search/egraph/saturate.h"
#include "search/rules/examples.h"

namespace tessera::rules {
namespace {

using egraph::BlockTerms;
using egraph::EGraph;
using egraph::Match;
using egraph::Matcher;

constexpr unsigned kSeeds = 8;
// The interpreter sums in F64 and rounds the result once: two orders may round to neighbours in F32.
constexpr double kSumTolerance = 0x1p-22;

const std::vector<DimSymbol>& symbols() {
    static const std::vector<DimSymbol> all = {{"T", 1, 6}};
    return all;
}

/// The rule again, for graphs with the symbols of its example.
RuleEntry entry_for(size_t index, const std::vector<DimSymbol>& of_graph) {
    return algebra_rules(of_graph).at(index);
}

class AlgebraRules : public ::testing::TestWithParam<size_t> {};

TEST_P(AlgebraRules, RewritesItsExampleToWhatComputesTheSame) {
    const Graph graph = testing::graph_of(entry_for(GetParam(), symbols()), symbols());
    const RuleEntry entry = entry_for(GetParam(), graph.symbols);
    const Graph before = ops::decompose(graph);
    verify(before, entry.rule.name());

    EGraph original;
    const BlockTerms terms = add_block(original, graph, graph.blocks[0]);
    original.rebuild();
    Matcher matcher(original);
    matcher.refresh();
    int fired = 0;
    for (const Match& match : matcher.find(entry.rule.from(), 1000)) {
        if (!entry.rule.holds(original, match)) continue;
        EGraph egraph = original;
        const auto all = entry.rule.construct(egraph, match);
        if (all.empty() || egraph.find(all.front()) == match.root) continue;
        ASSERT_EQ(all.size(), 1u);
        const egraph::TermId made = all.front();
        egraph.unite(EGraph::any_term(match.root), made, entry.rule.name());
        egraph.rebuild();
        ++fired;
        const Graph after = testing::with_term(graph, egraph, terms, made);
        verify(after, entry.rule.name());
        EXPECT_NE(print(after), print(before));
        for (unsigned seed = 0; seed < kSeeds; ++seed) {
            const bool sums_move = entry.exactness == Exactness::kSumOrder;
            const GraphCall call = testing::random_call(before, seed, seed % 2 == 1 && !sums_move);
            EXPECT_EQ(testing::difference(interpret_graph(after, call), interpret_graph(before, call),
                                          sums_move ? kSumTolerance : 0),
                      "")
                << "seed " << seed << "\n"
                << print(before) << print(after);
        }
    }
    EXPECT_GT(fired, 0);
}

TEST_P(AlgebraRules, SaturatesItsExampleWithAllOthers) {
    const Graph graph = testing::graph_of(entry_for(GetParam(), symbols()), symbols());
    std::vector<egraph::Rule> rules;
    for (const RuleEntry& entry : algebra_rules(graph.symbols)) rules.push_back(entry.rule);
    EGraph egraph;
    add_block(egraph, graph, graph.blocks[0]);
    const auto report = saturate(egraph, rules, {.nodes = 2'000, .iterations = 30});
    EXPECT_EQ(name(report.stop), "saturated") << report.nodes << " nodes";
}

std::string name_of(const ::testing::TestParamInfo<size_t>& info) {
    std::string name = entry_for(info.param, symbols()).rule.name();
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(All, AlgebraRules, ::testing::Range<size_t>(0, algebra_rules(symbols()).size()),
                         name_of);

TEST(RuleNames, AreUnique) {
    std::set<std::string> names;
    for (const RuleEntry& entry : algebra_rules(symbols()))
        EXPECT_TRUE(names.insert(entry.rule.name()).second) << entry.rule.name();
}

TEST(RuleReference, NamesEveryRule) {
    std::ifstream file(TESSERA_SOURCE_DIR "/docs/rewriting.md");
    const std::string page{std::istreambuf_iterator<char>(file), {}};
    for (const RuleEntry& entry : algebra_rules(symbols())) {
        const std::string& name = entry.rule.name();
        const bool is_named = page.find(" " + name + ",") != std::string::npos ||
                              page.find(" " + name + " ") != std::string::npos;
        EXPECT_TRUE(is_named) << name << " is missing in the table of docs/rewriting.md";
    }
}

}  // namespace
}  // namespace tessera::rules
