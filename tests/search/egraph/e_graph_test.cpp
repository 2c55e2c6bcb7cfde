#include "search/egraph/e_graph.h"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/graph.h"
#include "search/egraph/toy_terms.h"

namespace tessera::egraph {
namespace {

using ::testing::ElementsAre;
using toy::leaf;
using toy::op;

TEST(EGraph, EqualTermsAreOne) {
    EGraph graph;
    const TermId a = graph.add(leaf("a"), {}), b = graph.add(leaf("b"), {});
    const TermId fa = graph.add(op("f"), {a});
    EXPECT_EQ(graph.add(op("f"), {a}), fa);
    EXPECT_NE(graph.find(graph.add(op("f"), {b})), graph.find(fa));
    EXPECT_EQ(graph.node_count(), 4);
    EXPECT_EQ(graph.class_count(), 4);
}

TEST(EGraph, CongruenceFollowsEqualChildrenUpwards) {
    EGraph graph;
    const TermId a = graph.add(leaf("a"), {}), b = graph.add(leaf("b"), {});
    const TermId fa = graph.add(op("f"), {a}), fb = graph.add(op("f"), {b});
    const TermId ga = graph.add(op("g"), {fa, a}), gb = graph.add(op("g"), {fb, b});
    EXPECT_TRUE(graph.unite(a, b, "given"));
    EXPECT_FALSE(graph.unite(b, a, "given"));
    EXPECT_FALSE(graph.are_equal(fa, fb));  // deferred
    graph.rebuild();
    EXPECT_TRUE(graph.are_equal(fa, fb));
    EXPECT_TRUE(graph.are_equal(ga, gb));
    EXPECT_EQ(graph.node_count(), 4);  // a, b, f, g
    EXPECT_EQ(graph.class_count(), 3);
    EXPECT_THAT(graph.nodes(graph.find(gb)), ElementsAre(ga));
}

/// Partition of terms by equations and congruence, by going through all pairs until nothing changes.
std::vector<int> naive_closure(const EGraph& graph, const std::vector<std::pair<TermId, TermId>>& equations) {
    std::vector<int> part(graph.terms());
    for (size_t i = 0; i < part.size(); ++i) part[i] = static_cast<int>(i);
    const auto merge = [&](size_t a, size_t b) {
        const int from = part[a], to = part[b];
        if (from == to) return false;
        for (int& p : part)
            if (p == from) p = to;
        return true;
    };
    for (const auto& [a, b] : equations) merge(static_cast<size_t>(a.index), static_cast<size_t>(b.index));
    for (bool has_changed = true; has_changed;) {
        has_changed = false;
        for (size_t i = 0; i < part.size(); ++i)
            for (size_t j = 0; j < i; ++j) {
                const Term &a = graph.term({static_cast<int>(i)}), &b = graph.term({static_cast<int>(j)});
                bool is_same = a.op == b.op && a.children.size() == b.children.size();
                for (size_t k = 0; is_same && k < a.children.size(); ++k)
                    is_same = part[static_cast<size_t>(a.children[k].index)] ==
                              part[static_cast<size_t>(b.children[k].index)];
                has_changed = (is_same && merge(i, j)) || has_changed;
            }
    }
    return part;
}

TEST(EGraph, RandomCongruenceMeetsTheNaiveClosure) {
    for (unsigned seed = 0; seed < 150; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        const auto below = [&](size_t n) { return static_cast<int>(random() % n); };
        EGraph graph;
        std::vector<TermId> terms;
        for (const char* name : {"a", "b", "c", "d"}) terms.push_back(graph.add(leaf(name), {}));
        const auto any = [&] { return terms[static_cast<size_t>(below(terms.size()))]; };
        std::vector<std::pair<TermId, TermId>> equations;
        for (int i = 0; i < 40; ++i) {
            switch (below(5)) {
                case 0:
                    terms.push_back(graph.add(op("f"), {any()}));
                    break;
                case 1:
                    terms.push_back(graph.add(op("g"), {any()}));
                    break;
                case 2:
                    terms.push_back(graph.add(op("h"), {any(), any()}));
                    break;
                case 3:
                    terms.push_back(graph.add(op("h"), {any(), any()}));
                    break;
                default:
                    equations.emplace_back(any(), any());
                    graph.unite(equations.back().first, equations.back().second, "given");
                    if (below(2) == 0) graph.rebuild();
            }
        }
        graph.rebuild();
        const std::vector<int> expected = naive_closure(graph, equations);
        for (size_t i = 0; i < graph.terms(); ++i)
            for (size_t j = 0; j < i; ++j)
                ASSERT_EQ(graph.are_equal({static_cast<int>(i)}, {static_cast<int>(j)}),
                          expected[i] == expected[j])
                    << i << " " << j;
        // Nodes of all classes are distinct, each in the class where it belongs.
        int64_t nodes = 0;
        std::set<std::pair<int, std::vector<int>>> seen;
        for (const ClassId e_class : graph.classes())
            for (const TermId node : graph.nodes(e_class)) {
                ++nodes;
                std::vector<int> children;
                for (const TermId child : graph.term(node).children)
                    children.push_back(graph.find(child).index);
                EXPECT_TRUE(seen.emplace(graph.term(node).op.index, children).second);
                EXPECT_EQ(graph.find(node), e_class);
            }
        EXPECT_EQ(nodes, graph.node_count());
        EXPECT_EQ(static_cast<int64_t>(graph.classes().size()), graph.class_count());
    }
}

TEST(EGraph, ConstantsAreKnownUpwardsAlsoAfterUnions) {
    EGraph graph;
    const TermId w = graph.add(leaf("w", ValueKind::kConstant), {}), x = graph.add(leaf("x"), {});
    const TermId fw = graph.add(op("f"), {w}), fx = graph.add(op("f"), {x});
    const TermId h = graph.add(op("h"), {fw, fx}), g = graph.add(op("g"), {h});
    EXPECT_TRUE(graph.facts(fw).is_constant);
    EXPECT_FALSE(graph.facts(g).is_constant);
    graph.unite(fx, w, "given");
    graph.rebuild();
    EXPECT_TRUE(graph.facts(h).is_constant);
    EXPECT_TRUE(graph.facts(g).is_constant);
    EXPECT_FALSE(graph.facts(x).is_constant);
}

TEST(EGraph, DefinitionsAreComparedByStructure) {
    const auto structured = [](const std::string& text) {
        return Operator{.what = std::make_shared<const Definition>(parse_definition(text, "test")),
                        .results = {toy::kType}};
    };
    const Operator exp = structured("op up(i: 4)\nin X f32[i]\nout Y f32[i] = exp(X)\n");
    const Operator renamed = structured("op e(j: 4)\nin A f32[j]\nout B f32[j] = exp(A)\n");
    const Operator spelled = structured("op e(j: 4)\nin A f32[j]\nout B f32[j] = exp(A[j])\n");
    const Operator other = structured("op up(i: 4)\nin X f32[i]\nout Y f32[i] = tanh(X)\n");
    EXPECT_EQ(key(exp), key(renamed));
    EXPECT_EQ(key(exp), key(spelled));
    EXPECT_NE(key(exp), key(other));
    Operator in_another_layout = exp;
    in_another_layout.results.front().layout.lanes = {{0, 4}};
    EXPECT_NE(key(exp), key(in_another_layout));
    Operator composite = op("norm");
    std::get<Composite>(composite.what).attributes["n"] = int64_t{1};
    Operator real = composite;
    std::get<Composite>(real.what).attributes["n"] = 1.0;
    EXPECT_NE(key(composite), key(real));
}

TEST(EGraphDeath, DifferentTypesAreNeverEqual) {
    EGraph graph;
    Operator wide = leaf("b");
    wide.results.front().shape = {Dim(5)};
    const TermId a = graph.add(leaf("a"), {}), b = graph.add(wide, {});
    EXPECT_DEATH(graph.unite(a, b, "wrong-rule"),
                 "wrong-rule makes %a and %b equal, of types f32\\[4\\] and f32\\[5\\]");
    EXPECT_DEATH(graph.add(Operator{.what = Projection{1}, .results = {toy::kType}}, {a}), "result 1 of f32");
}

}  // namespace
}  // namespace tessera::egraph
