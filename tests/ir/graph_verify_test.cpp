#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/graph.h"
#include "ir/graph_fixture.h"
#include "support/error.h"

namespace tessera {
namespace {

using ::testing::HasSubstr;

TEST(GraphVerify, AcceptsTheFixture) {
    EXPECT_NO_THROW(verify(parse_graph(testing::kSmallGraph, "small"), "small"));
}

struct WrongGraph {
    const char* name;
    std::function<void(Graph&)> change;
    const char* message;
};

class GraphVerifyErrors : public ::testing::TestWithParam<WrongGraph> {};

TEST_P(GraphVerifyErrors, NameWhatIsWrong) {
    Graph graph = parse_graph(testing::kSmallGraph, "small");
    GetParam().change(graph);
    try {
        verify(graph, "small");
        FAIL() << "was accepted";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr(GetParam().message));
    }
}

Value& value(Graph& graph, const char* name) {
    return graph.values[static_cast<size_t>(graph.find(name)->index)];
}
Node& node(Graph& graph, size_t block, size_t index) {
    return graph.blocks[block].nodes[index];
}

const WrongGraph kWrongs[] = {
    {"symbol_bounds", [](Graph& g) { g.symbols[0].low = 0; }, "`T`: has bounds 0..8"},
    {"symbol_multiple", [](Graph& g) { g.symbols[1].high = 7; }, "`P`: has bounds 2..7 multiple of 2"},
    {"symbol_twice", [](Graph& g) { g.symbols[1].name = "T"; }, "`T`: names two symbols"},
    {"point_missing", [](Graph& g) { g.points[0].values.erase("T"); }, "`one`: has no value of T"},
    {"point_outside", [](Graph& g) { g.points[0].values["P"] = 3; }, "`one`: has P = 3"},
    {"point_unknown", [](Graph& g) { g.points[0].values["Z"] = 3; }, "Z, which is no symbol"},
    {"point_weight", [](Graph& g) { g.points[0].weight = 0; }, "`one`: has weight 0"},
    {"value_name", [](Graph& g) { value(g, "x").name = "1x"; }, "`1x`: is no name of a value"},
    {"value_twice", [](Graph& g) { value(g, "id").name = "x"; }, "`x`: names two values"},
    {"value_extent", [](Graph& g) { value(g, "x").type.shape[1] = Dim(0); }, "`x`: has an extent of 0"},
    {"value_symbol", [](Graph& g) { value(g, "x").type.shape[0] = Dim("Z"); },
     "extent Z, which is no symbol"},
    {"value_size",
     [](Graph& g) {
         value(g, "x").type.shape = {Dim(int64_t{1} << 40), Dim(int64_t{1} << 40)};
     },
     "more elements than 64 bits count"},
    {"value_layout",
     [](Graph& g) {
         value(g, "x").type.layout.order = {1, 1};
     },
     "illegal layout"},
    {"constant_source", [](Graph& g) { value(g, "table").sources.clear(); },
     "`table`: is a constant without sources"},
    {"source_of_none", [](Graph& g) { value(g, "x").sources = {"a"}; },
     "`x`: has sources, but is no constant"},
    {"sources_per_repetition", [](Graph& g) { value(g, "scale").sources.pop_back(); },
     "`scale`: has 2 sources, but is read by layer, which is repeated 3 times"},
    {"finite_input", [](Graph& g) { value(g, "x").is_finite = true; },
     "`x`: is finite, which is said of constants of floats alone"},
    {"concatenated_value",
     [](Graph& g) {
         value(g, "x").concatenation = {0, {1, 2}};
     },
     "`x`: is concatenated, but is no constant"},
    {"concatenation_axis", [](Graph& g) { value(g, "table").concatenation->axis = 2; },
     "`table`: is concatenated along axis 2 of 2"},
    {"concatenation_parts",
     [](Graph& g) {
         value(g, "table").concatenation->extents = {2, 2, 1};
     },
     "`table`: has 4 sources for 3 parts"},
    {"concatenation_of_one", [](Graph& g) { value(g, "table").concatenation->extents = {5}; },
     "`table`: has 4 sources for 1 parts"},
    {"concatenation_beyond",
     [](Graph& g) {
         value(g, "table").concatenation->extents = {2, 4};
     },
     "`table`: has a part of extent 4 where 3 are left"},
    {"concatenation_empty_part",
     [](Graph& g) {
         value(g, "table").concatenation->extents = {5, 0};
     },
     "`table`: has a part of extent 0 where 0 are left"},
    {"concatenation_short",
     [](Graph& g) {
         value(g, "table").concatenation->extents = {2, 2};
     },
     "`table`: has parts that leave 1 of its extent"},
    {"concatenation_of_bits", [](Graph& g) { value(g, "table").type.element = ElementType::kU4; },
     "`table`: is a concatenation of u4"},
    {"repeat", [](Graph& g) { g.blocks[0].repeat = 0; }, "`layer`: is repeated 0 times"},
    {"carry_half", [](Graph& g) { g.blocks[0].carried_in.reset(); }, "`layer`: carries a value in or out"},
    {"carry_type",
     [](Graph& g) {
         value(g, "x").type.layout = {.order = {1, 0}};
     },
     "has another type than x"},
    {"carry_not_made", [](Graph& g) { g.blocks[0].carried_out = g.find("picked"); },
     "`picked`: is not made in block layer"},
    {"state_kind", [](Graph& g) { g.blocks[0].states[0].before = *g.find("x"); }, "`x`: is updated by layer"},
    {"state_twice", [](Graph& g) { g.blocks[0].states.push_back(g.blocks[0].states[0]); },
     "`sums`: is a state"},
    {"state_type", [](Graph& g) { value(g, "sums").type.element = ElementType::kF16; },
     "another type than sums"},
    {"state_unlisted", [](Graph& g) { g.blocks[0].states.clear(); },
     "`add`: reads the state sums, which block layer does not update"},
    {"output_twice", [](Graph& g) { g.outputs.push_back(g.outputs[0]); }, "`normed`: is an output twice"},
    {"node_twice", [](Graph& g) { node(g, 0, 1).name = "scaled"; }, "`scaled`: names two nodes"},
    {"too_early", [](Graph& g) { std::swap(node(g, 0, 0), node(g, 0, 1)); }, "`add`: reads scaled"},
    {"of_another_repetition", [](Graph& g) { node(g, 1, 0).operands[1] = *g.find("sums_new"); },
     "`picked`: reads sums_new"},
    {"made_twice", [](Graph& g) { node(g, 1, 0).results[0] = *g.find("scaled"); }, "`scaled`: is made twice"},
    {"makes_input", [](Graph& g) { node(g, 1, 0).results[0] = *g.find("x"); }, "`picked`: makes x"},
    {"operand_count", [](Graph& g) { node(g, 0, 0).operands.pop_back(); },
     "`scaled`: has 1 operands and 1 results"},
    {"operand_id", [](Graph& g) { node(g, 0, 0).operands[0].index = 99; },
     "`scaled`: refers to value 99 of 9"},
    {"operand_element", [](Graph& g) { value(g, "id").type.element = ElementType::kI8; },
     "id for id: i8, expected i32"},
    {"operand_shape", [](Graph& g) { value(g, "scale").type.shape = {Dim(4)}; },
     "`scaled`: has scale for W: shape [4], expected [3]"},
    {"result_shape",
     [](Graph& g) {
         value(g, "picked").type.shape = {Dim(1), Dim(3)};
     },
     "`picked`: has picked for Y: shape [1, 3], expected [8, 3]"},
    {"previous", [](Graph& g) { node(g, 0, 1).previous.reset(); },
     "`add`: updates a result without previous"},
    {"no_update", [](Graph& g) { node(g, 0, 0).previous = g.find("x"); }, "`scaled`: has previous contents"},
    {"dim_bounds", [](Graph& g) { g.symbols[0].high = 9, g.points.clear(); }, "`scaled`: has T in 1..8"},
    {"dim_unknown",
     [](Graph& g) {
         auto changed = *node(g, 0, 0).definition();
         changed.dims[0].name = "Z";
         node(g, 0, 0).op = std::make_shared<const Definition>(changed);
     },
     "`scaled`: has the dim Z"},
    {"no_result", [](Graph& g) { node(g, 1, 1).results.clear(); }, "`normed`: has no result"},
    {"rounding",
     [](Graph& g) {
         const ValueId normed = *g.find("normed");
         g.values[static_cast<size_t>(normed.index)].type.element = ElementType::kBF16;
     },
     "`normed`: is an activation of bf16, but its rounding policy is exact"},
    {"output", [](Graph& g) { g.outputs.push_back(*g.find("sums_new")); }, "`sums_new`: is an output"},
};

INSTANTIATE_TEST_SUITE_P(All, GraphVerifyErrors, ::testing::ValuesIn(kWrongs),
                         [](const auto& wrong) { return std::string(wrong.param.name); });

}  // namespace
}  // namespace tessera
