#include "ir/graph_interpreter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/graph_fixture.h"
#include "support/error.h"

namespace tessera {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// The fixture without its composite.
Graph small_graph() {
    Graph graph = parse_graph(testing::kSmallGraph, "small");
    graph.blocks[1].nodes.pop_back();
    graph.outputs = {*graph.find("picked")};
    return graph;
}

GraphCall call_of(const Graph& graph) {
    GraphCall call;
    call.symbols = {{"T", 2}, {"P", 2}};
    call.inputs = {{"x", {{2, 3}, {1, 2, 3, 4, 5, 6}}}, {"id", {{2}, {1, 0}}}};
    call.constant = [](const Value&, int64_t repetition) {
        return TensorData{{3}, {1, 2, static_cast<double>(repetition + 1)}};  // scales of the repetitions
    };
    call.states = zero_states(graph, call.symbols);
    return call;
}

TEST(GraphInterpreter, RepeatsABlockWithItsOwnConstantsAndStates) {
    const Graph graph = small_graph();
    GraphCall call = call_of(graph);
    GraphResult result = interpret_graph(graph, call);
    // after three repetitions column 1 is scaled by 2^3, column 2 by 3!
    EXPECT_THAT(result.outputs.at(0).values, ElementsAre(4, 40, 36, 1, 16, 18));
    const std::vector<TensorData>& sums = result.states.at("sums");
    ASSERT_EQ(sums.size(), 3u);
    EXPECT_THAT(sums[0].values, ElementsAre(5, 14, 9, 5, 14, 9));
    EXPECT_THAT(sums[1].values, ElementsAre(5, 28, 18, 5, 28, 18));
    EXPECT_THAT(sums[2].values, ElementsAre(5, 56, 54, 5, 56, 54));

    call.states = std::move(result.states);
    result = interpret_graph(graph, call);
    EXPECT_THAT(result.states.at("sums")[2].values, ElementsAre(10, 112, 108, 10, 112, 108));
}

void expect_error(const Graph& graph, const GraphCall& call, const char* message) {
    try {
        (void)interpret_graph(graph, call);
        FAIL() << "was accepted";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr(message));
    }
}

TEST(GraphInterpreter, ChecksWhatItIsGiven) {
    const Graph graph = small_graph();
    GraphCall call = call_of(graph);
    call.inputs.erase("id");
    expect_error(graph, call, "`id`: is an input without contents");
    call = call_of(graph);
    call.inputs["x"].shape = {3, 2};
    expect_error(graph, call, "`x`: has shape [3, 2], expected [2, 3]");
    call = call_of(graph);
    call.states["sums"].pop_back();
    expect_error(graph, call, "`sums`: is a state without contents of repetition 2");
    call = call_of(graph);
    call.constant = [](const Value&, int64_t) { return TensorData{{1}, {1}}; };
    expect_error(graph, call, "`scale`: has shape [1], expected [3]");
    const Graph with_composite = parse_graph(testing::kSmallGraph, "small");
    expect_error(with_composite, call_of(with_composite), "`normed`: is a composite");
}

}  // namespace
}  // namespace tessera
