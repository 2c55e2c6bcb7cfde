// Paper 000, figure 3: between two products and an exponential, layouts on four described machines. Costs are
// those of the units alone, as if there were a micro-kernel for everything that they take.

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/graph_interpreter.h"
#include "lowering/plan/copies.h"
#include "search/layouts/described_machines.h"

namespace tessera::layouts {
namespace {

using testing::machine_with;
using testing::Outcome;
using testing::search;
using testing::Units;

/// MatMul(Exp(MatMul(Q, K)), V) with factors of this type.
Graph figure(const std::string& type, int64_t size = 256) {
    const bool is_rounded = type != "f32";
    return parse_graph(fmt::format(R"(graph "figure"
input Q: {0}[{3}, {3}]
constant K: {0}[{3}, {3}] from "K"
constant V: {0}[{3}, {3}] from "V"
value S: f32[{3}, {3}]
value E: {0}[{3}, {3}]
value Y: f32[{3}, {3}]

block main
  node scores(Q, K) -> S
    op matmul(m: {3}, n: {3}, k*: {3})
    in A {0}[m, k]
    in B {0}[n, k]
    out C f32[m, n] = sum({1})
  node exponential(S) -> E
    op exponential(m: {3}, n: {3})
    in A f32[m, n]
    out B {0}[m, n] = {2}
  node weighted(E, V) -> Y
    op matmul(m: {3}, n: {3}, k*: {3})
    in A {0}[m, k]
    in B {0}[n, k]
    out C f32[m, n] = sum({1})
output Y
)",
                                   type, is_rounded ? "f32(A) * f32(B)" : "A * B",
                                   is_rounded ? "bf16(exp(A))" : "exp(A)", size),
                       "figure");
}

TEST(Figure3, WhereTheTilesAgreeTheBlockedLayoutPassesThrough) {
    const Outcome found = search(figure("f32"), machine_with({}));
    EXPECT_EQ(found.layout("S"), "lanes <0:16, 1:16>");
    EXPECT_EQ(found.layout("E"), "lanes <0:16, 1:16>");
    EXPECT_EQ(found.stored("K"), "lanes <0:16, 1:16>");
    EXPECT_EQ(found.stored("V"), "lanes <0:16, 1:16>");
    // Inputs and outputs are row-major: one pack in front, one unpack behind, none between.
    ASSERT_EQ(found.plan.copies.size(), 2u);
    EXPECT_EQ(found.plan.copies.at("Q_packed").of, "Q");
    EXPECT_EQ(found.plan.copies.at("Y_packed").of, "Y");
    EXPECT_TRUE(found.plan.copies.at("Y_packed").is_made);
}

TEST(Figure3, WhereTheyDifferTilesAreMerged) {
    Units amx{.type = "bf16", .a = {{'m', 16}, {'k', 32}}, .b = {{'k', 16}, {'n', 16}, {'k', 2}}};
    const Outcome found = search(figure("bf16"), machine_with(amx));
    EXPECT_EQ(found.layout("S"), "lanes <0:16, 1:16>");
    // The exponential itself rounds and merges two tiles.
    EXPECT_EQ(found.layout("E"), "lanes <0:16, 1:32>");
    EXPECT_EQ(found.plan.copies.size(), 2u);
    // Sixteen pairs of k in a row are a tile.
    EXPECT_EQ(found.stored("K"), "lanes <0:16, 1:2>");
}

TEST(Figure3, WhereRowsMayBeStridedNothingIsPackedButWeights) {
    Units amx{.type = "bf16",
              .a = {{'m', 16}, {'k', 32}},
              .b = {{'k', 16}, {'n', 16}, {'k', 2}},
              .strided_rows = true};
    const Outcome found = search(figure("bf16"), machine_with(amx));
    EXPECT_TRUE(found.plan.copies.empty());
    EXPECT_EQ(found.layout("S"), "row-major");
    EXPECT_EQ(found.stored("K"), "lanes <0:16, 1:2>");
    EXPECT_EQ(found.stored("V"), "lanes <0:16, 1:2>");
}

TEST(Figure3, VectorsPackOneAxisOfTheWeights) {
    const Outcome found = search(figure("f32"), machine_with({.tile_peak = 0}));
    EXPECT_TRUE(found.plan.copies.empty());
    EXPECT_EQ(found.stored("K"), "lanes <0:16>");
    EXPECT_EQ(found.stored("V"), "lanes <0:16>");
}

TEST(Figure3, WhereUnpackingIsCheapAndTheBlockedExponentialDearTheChoiceFlips) {
    // A blocked row has 16 of the 256 lanes, so the exponential takes sixteen times as long in tiles.
    const Outcome found = search(figure("f32"), machine_with({.lanes = 256, .near_rate = 1e14}));
    EXPECT_EQ(found.layout("S"), "lanes <0:16, 1:16>");
    EXPECT_EQ(found.layout("S_packed"), "row-major");
    EXPECT_EQ(found.layout("E"), "row-major");
    EXPECT_EQ(found.layout("E_packed"), "lanes <0:16, 1:16>");
}

TEST(Figure3, TheProgramsGiveTheSameNumbers) {
    const Graph graph = figure("f32", 32);
    std::vector<double> values(32 * 32);
    for (size_t i = 0; i < values.size(); ++i) values[i] = 0.01 * static_cast<double>(i * 7919 % 101) - 0.5;
    const TensorData square{{32, 32}, values};
    const GraphCall call{.symbols = {},
                         .inputs = {{"Q", square}},
                         .constant = [&](const Value&, int64_t) { return square; },
                         .states = {}};
    const std::vector<double> expected = interpret_graph(graph, call).outputs.front().values;
    for (const Units& units : {Units{}, Units{.lanes = 256, .near_rate = 1e14}, Units{.tile_peak = 0}}) {
        const Outcome found = search(graph, machine_with(units));
        EXPECT_EQ(found.plan.copies.empty(), units.tile_peak == 0);
        const Graph copied = plan::with_copies(graph, found.plan, "plan");
        EXPECT_NO_THROW(verify(copied, "plan"));
        // A copy of the result rounds it to F32, as the step's output is.
        EXPECT_THAT(interpret_graph(copied, call).outputs.front().values,
                    ::testing::Pointwise(::testing::DoubleNear(1e-5), expected));
    }
}

}  // namespace
}  // namespace tessera::layouts
