// A producer in a tile computes what all of its readers need, each of which may need another part.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lowering/movement/example_plans.h"
#include "lowering/movement/interpreted_plan.h"
#include "support/error.h"

namespace tessera::testing {
namespace {

constexpr const char* kTwoReaders = R"(graph "two_readers"
symbol T in 1..8
input x: f32[T, 16]
value twice: f32[T, 16]
value own: f32[T, 16]
value y: f32[T, 16]

block main
  node twice(x) -> twice
    op twice(t: T, d: 16)
    dim T in 1..8
    in X f32[t, d]
    out Z f32[t, d] = X + X
  node own(twice) -> own
    op own(t: T, d: 16)
    dim T in 1..8
    in Z f32[t, d]
    out O f32[t, d] = Z * Z
  node y(own, twice) -> y
    op total(t: T, d: 16, k*: 16)
    dim T in 1..8
    in O f32[t, d]
    in Z f32[t, k]
    out Y f32[t, d] = sum(O * Z)

output y
)";

TEST(SharedProducer, CoversTheNeedsOfAllReaders) {
    Example example{
        .graph = kTwoReaders,
        .nests = {"d:4 { twice[loops]; own[loops]; y[loops] }"},
        .stored = {},
        .tensors = {{"twice", {.place = plan::Place::kTile}}, {"own", {.place = plan::Place::kTile}}}};
    const Graph graph = example.parsed();
    GraphCall call{.symbols = {{"T", 3}}, .inputs = {}, .constant = {}};
    TensorData x{{3, 16}, {}};
    for (int i = 0; i < 3 * 16; ++i) x.values.push_back(i % 11 - 5);
    call.inputs["x"] = std::move(x);
    const InterpretedPlan::Run run = InterpretedPlan(graph, example.planned()).run(call);
    EXPECT_EQ(run.faults_text(), "");
    EXPECT_EQ(difference(run.result, interpret_graph(graph, call)).relative, 0);
}

/// The second reader runs along an axis of twice the length: behind the end it reads zeros, and the producer
/// has nothing to make there.
TEST(SharedProducer, StaysInItsExtent) {
    constexpr const char* kLonger = R"(graph "longer"
input x: f32[8, 4]
value a: f32[8, 4]
value y: f32[16, 4]
block main
  node a(x) -> a
    op negated(t: 8, d: 4)
    in X f32[t, d]
    out Z f32[t, d] = -X
  node y(a) -> y
    op padded(t: 16, d: 4)
    in A f32[t, d] of [8, 4]
    out Y f32[t, d] = A + 1
output y
)";
    GraphCall call{.symbols = {}, .inputs = {}, .constant = {}};
    TensorData& x = call.inputs["x"] = {{8, 4}, {}};
    for (int i = 0; i < 8 * 4; ++i) x.values.push_back(i % 11 - 5);
    const std::map<std::string, plan::TensorPlan> tile = {{"a", {.place = plan::Place::kTile}}};
    for (const char* nest : {"{ a[loops]; y[loops lanes=4 x=d] }", "d:2 { a[loops]; y[loops] }"}) {
        Example example{.graph = kLonger, .nests = {nest}, .stored = {}, .tensors = tile};
        const Graph graph = example.parsed();
        const InterpretedPlan::Run run = InterpretedPlan(graph, example.planned()).run(call);
        EXPECT_EQ(run.faults_text(), "") << nest;
        EXPECT_EQ(difference(run.result, interpret_graph(graph, call)).relative, 0) << nest;
    }
    Example example{.graph = kLonger, .nests = {"t:4 { a[loops]; y[loops] }"}, .stored = {}, .tensors = tile};
    const Graph graph = example.parsed();
    try {
        (void)InterpretedPlan(graph, example.planned());
        FAIL() << "makes elements that it does not have";
    } catch (const Error& error) {
        EXPECT_THAT(error.problem, ::testing::HasSubstr("not one tiled iterator inside of it"));
    }
}

}  // namespace
}  // namespace tessera::testing
