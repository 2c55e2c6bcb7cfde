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
