#include "search/egraph/dot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "search/egraph/toy_terms.h"

namespace tessera::egraph {
namespace {

TEST(Dot, ShowsClassesNodesAndTheSelection) {
    EGraph graph;
    const TermId a = graph.add(toy::leaf("a"), {});
    const TermId fa = graph.add(toy::op("f"), {a}), ga = graph.add(toy::op("g"), {a});
    graph.unite(fa, ga, "given");
    graph.rebuild();
    EXPECT_EQ(dot(graph, {{graph.find(fa), ga}}), R"(digraph egraph {
  compound=true
  node [shape=box, fontname=monospace]
  subgraph cluster_0 {
    style=dashed
    label="f32[4]"
    n0 [label="%a"]
  }
  subgraph cluster_1 {
    style=dashed
    label="f32[4]"
    n1 [label="f"]
    n2 [label="g", style=filled]
  }
  n1 -> n0 [lhead=cluster_0]
  n2 -> n0 [lhead=cluster_0]
}
)");
}

TEST(Dot, ANoteIsALineBelowTheOperator) {
    EGraph graph;
    const TermId a = graph.add(toy::leaf("a"), {});
    graph.rebuild();
    EXPECT_THAT(dot(graph, {}, {{a, "lanes <0:16> \"so\""}}),
                ::testing::HasSubstr(R"(n0 [label="%a\nlanes <0:16> \"so\""])"));
}

}  // namespace
}  // namespace tessera::egraph
