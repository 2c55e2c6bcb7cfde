#include "search/planner/default_planner.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/graph.h"
#include "search/planner/usual_machine.h"
#include "search/planner/verify_plan.h"
#include "support/error.h"

namespace tessera::planner {
namespace {

std::string residual(const std::string& name, const std::string& x) {
    return "  node " + name + "_made(" + x + ") -> " + name +
           "_made\n    op double(t: T, n: 16)\n    dim T in 1..8\n" +
           "    in X f32[t, n]\n    out Y f32[t, n] = X * 2\n" + "  node " + name + "(" + x + ", " + name +
           "_made) -> " + name + "\n    op add(t: T, n: 16)\n    dim T in 1..8\n    in A f32[t, n]\n" +
           "    in B f32[t, n]\n    out Y f32[t, n] = A + B\n";
}

/// As in a model with several kinds of layers: each group continues with the value that the previous one
/// carries out.
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
    const plan::Plan plan = default_plan(graph, testing::on_usual_machine({.machine = "test", .lanes = 8}));
    EXPECT_NO_THROW(verify_plan(graph, plan, "default plan"));
    for (const plan::SpecialisationPlan& s : plan.specialisations) {
        EXPECT_EQ(s.tensors.at("a").of, "begin");
        EXPECT_EQ(s.tensors.at("b").of, "a");
        EXPECT_EQ(s.tensors.at("c").of, "b");
    }
}

/// The heads side by side, as a view, have no stride along k: the product would be computed by `loops`.
TEST(DefaultPlanner, ComputesAViewThatKeepsAProductFromItsMicroKernel) {
    const Graph graph = parse_graph(R"(graph "heads"
input x: f32[8, 16, 32]
constant w: f32[256, 256] from "w"
value made: f32[8, 16, 32]
value turned: f32[16, 8, 32]
value merged: f32[16, 256]
value y: f32[16, 256]
block main
  node made(x) -> made
    op double(h: 8, t: 16, e: 32)
    in X f32[h, t, e]
    out Y f32[h, t, e] = X * 2
  node turned(made) -> turned
    op transpose(t: 16, h: 8, e: 32)
    in X f32[h, t, e]
    out Y f32[t, h, e] = X
  node merged(turned) -> merged
    op reshape(t: 16, k: 256)
    in X f32[t, k div 32, k mod 32] of [16, 8, 32]
    out Y f32[t, k] = X
  node y(merged, w) -> y
    op matmul(m: 16, n: 256, k*: 256)
    in A f32[m, k]
    in W f32[k, n]
    out Y f32[m, n] = sum(A * W)
output y
)",
                                    "heads");
    const plan::Plan plan = default_plan(graph, testing::on_usual_machine({.machine = "test", .lanes = 16}));
    EXPECT_NO_THROW(verify_plan(graph, plan, "default plan"));
    const std::string text = plan::print(plan);
    EXPECT_THAT(text, ::testing::HasSubstr("merged[loops"));
    EXPECT_THAT(text, ::testing::HasSubstr("y[contract"));
    EXPECT_EQ(plan.specialisations.front().tensors.at("turned").place, plan::Place::kView);
}

/// The interpreter runs such a graph; compiled, each repetition would read the caller's value.
TEST(DefaultPlanner, RefusesToCarryWhatIsTheCallers) {
    const auto refusal = [](const std::string& in, const std::string& output) {
        std::string text =
            "graph \"g\"\nsymbol T in 1..8\npoint decode weight 1: T = 1\n\ninput x: f32[T, 16]\n";
        for (const char* value : {"begin", "a_made", "a", "end"})
            text += std::string("value ") + value + ": f32[T, 16]\n";
        const auto copy = [](const std::string& name, const std::string& from) {
            return "  node " + name + "(" + from + ") -> " + name +
                   "\n    op copy(t: T, n: 16)\n    dim T in 1..8\n    in X f32[t, n]\n    out Y f32[t, n] = "
                   "X * 3\n";
        };
        text += "\nblock first\n" + copy("begin", "x") + "\nblock layer repeat 3 carry " + in + " -> a\n" +
                residual("a", in) + "\nblock last\n" + copy("end", "a") + "\noutput " + output + "\n";
        const Graph graph = parse_graph(text, "g");
        verify(graph, "g");
        try {
            verify_plan(graph,
                        default_plan(graph, testing::on_usual_machine({.machine = "test", .lanes = 8})),
                        "default plan");
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_EQ(refusal("begin", "end"), "");
    const std::string why =
        "cannot be carried by block layer, whose repetitions overwrite it: the caller's memory is not theirs";
    EXPECT_THAT(refusal("x", "begin, end"), ::testing::HasSubstr("`x`: " + why));
    EXPECT_THAT(refusal("begin", "a, end"), ::testing::HasSubstr("`a`: " + why));
}

}  // namespace
}  // namespace tessera::planner
