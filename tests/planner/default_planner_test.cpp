#include "planner/default_planner.h"

#include <string>

#include <gtest/gtest.h>

#include "ir/graph.h"
#include "planner/verify_plan.h"

namespace tessera {
namespace {

std::string residual(const std::string& name, const std::string& x) {
    return "  node " + name + "_made(" + x + ") -> " + name +
           "_made\n    op double(t: T, n: 16)\n    dim T in 1..8\n" +
           "    in X f32[t, n]\n    out Y f32[t, n] = X * 2\n" + "  node " + name + "(" + x + ", " + name +
           "_made) -> " + name + "\n    op add(t: T, n: 16)\n    dim T in 1..8\n    in A f32[t, n]\n" +
           "    in B f32[t, n]\n    out Y f32[t, n] = A + B\n";
}

/// As of a model whose layers are of several kinds: each group carries on what the one before it left.
TEST(DefaultPlanner, CarriedValuesKeepTheirPlaceOverSeveralGroups) {
    std::string text =
        "graph \"groups\"\nsymbol T in 1..8\npoint decode weight 1: T = 1\n\ninput x: f32[T, 16]\n";
    for (const char* value : {"begin", "a_made", "a", "b_made", "b", "c_made", "c", "end"})
        text += std::string("value ") + value + ": f32[T, 16]\n";
    const auto copy = [](const std::string& name, const std::string& x) {
        return "  node " + name + "(" + x + ") -> " + name +
               "\n    op copy(t: T, n: 16)\n    dim T in 1..8\n    in X f32[t, n]\n    out Y f32[t, n] = X * "
               "3\n";
    };
    text += "\nblock first\n" + copy("begin", "x");
    text += "\nblock one repeat 3 carry begin -> a\n" + residual("a", "begin");
    text += "\nblock two repeat 2 carry a -> c\n" + residual("b", "a") + residual("c", "b");
    text += "\nblock last\n" + copy("end", "c") + "\noutput end\n";
    const Graph graph = parse_graph(text, "groups");
    verify(graph, "groups");
    const Plan plan = default_plan(graph, {.machine = "test", .lanes = 8});
    EXPECT_NO_THROW(verify_plan(graph, plan, "default plan"));
    for (const SpecialisationPlan& s : plan.specialisations) {
        EXPECT_EQ(s.tensors.at("a").of, "begin");
        EXPECT_EQ(s.tensors.at("b").of, "a");
        EXPECT_EQ(s.tensors.at("c").of, "b");
    }
}

}  // namespace
}  // namespace tessera
