#include "lowering/plan/copies.h"

#include <gtest/gtest.h>

#include "ir/graph_interpreter.h"
#include "support/error.h"

namespace tessera::plan {
namespace {

Graph graph() {
    return parse_graph(R"(graph "g"
symbol T in 1..8
input x: f32[T, 3]
value s: f32[T, 3]
value a: f32[T, 3]
value b: f32[T, 3]

block main
  node s(x) -> s
    op double(t: T, d: 3)
    dim T in 1..8
    in X f32[t, d]
    out Y f32[t, d] = 2 * X
  node a(s) -> a
    op one_more(t: T, d: 3)
    dim T in 1..8
    in X f32[t, d]
    out Y f32[t, d] = X + 1
  node b(s, a) -> b
    op both(t: T, d: 3)
    dim T in 1..8
    in A f32[t, d], B f32[t, d]
    out Y f32[t, d] = A + B
output b
)",
                       "g");
}

Plan plan_with(std::map<std::string, CopyPlan> copies) {
    Plan plan;
    plan.copies = std::move(copies);
    return plan;
}

std::string error_of_copies(const std::map<std::string, CopyPlan>& copies) {
    try {
        (void)with_copies(graph(), plan_with(copies), "plan.toml");
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

TEST(Copies, StandInFrontOfTheirFirstReaderAndChangeNothing) {
    const Graph copied = with_copies(
        graph(), plan_with({{"s2", {"s", {{"b", "A"}}}}, {"y", {"a", {{"b", "B"}}, true}}}), "plan");
    EXPECT_NO_THROW(verify(copied, "plan"));
    std::vector<std::string> names;
    for (const Node& node : copied.blocks.front().nodes) names.push_back(node.name);
    EXPECT_EQ(names, (std::vector<std::string>{"s", "a", "copy_y", "copy_s2", "b"}));
    const GraphCall call{.symbols = {{"T", 2}}, .inputs = {{"x", {{2, 3}, {1, 2, 3, 4, 5, 6}}}}};
    EXPECT_EQ(interpret_graph(copied, call).outputs.front().values,
              interpret_graph(graph(), call).outputs.front().values);
}

TEST(Copies, MistakesAreNamed) {
    EXPECT_EQ(error_of_copies({{"a", {"s", {{"b", "A"}}}}}),
              "plan.toml: `a`: is a value of the graph, not a copy of one");
    EXPECT_EQ(error_of_copies({{"c", {"nothing", {{"b", "A"}}}}}),
              "plan.toml: `c`: copies nothing, which is not in the graph");
    EXPECT_EQ(error_of_copies({{"c", {"s", {{"b", "B"}}}}}),
              "plan.toml: `c`: is for b.B, which does not read s");
    EXPECT_EQ(error_of_copies({{"c", {"s", {{"nobody", "B"}}}}}),
              "plan.toml: `c`: is for nobody, which is not in the graph");
    EXPECT_EQ(error_of_copies({{"c", {"s", {}}}}), "plan.toml: `c`: is read by nobody");
    EXPECT_EQ(error_of_copies({{"c", {"x", {}, true}}}),
              "plan.toml: `c`: is made in place of x, which no operator makes as its only result");
}

}  // namespace
}  // namespace tessera::plan
