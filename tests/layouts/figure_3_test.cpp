// Paper 000, figure 3: between two products and an exponential, layouts on four described machines. Costs are
// those of the units alone, as if there were a micro-kernel for everything that they take.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ir/graph_interpreter.h"
#include "layouts/choose_layouts.h"
#include "plan/copies.h"

namespace tessera::layouts {
namespace {

/// MatMul(Exp(MatMul(Q, K)), V) with factors of this type.
Graph figure(const std::string& type) {
    const bool is_rounded = type != "f32";
    return parse_graph(fmt::format(R"(graph "figure"
input Q: {0}[256, 256]
constant K: {0}[256, 256] from "K"
constant V: {0}[256, 256] from "V"
value S: f32[256, 256]
value E: {0}[256, 256]
value Y: f32[256, 256]

block main
  node scores(Q, K) -> S
    op matmul(m: 256, n: 256, k*: 256)
    in A {0}[m, k]
    in B {0}[n, k]
    out C f32[m, n] = sum({1})
  node exponential(S) -> E
    op exponential(m: 256, n: 256)
    in A f32[m, n]
    out B {0}[m, n] = {2}
  node weighted(E, V) -> Y
    op matmul(m: 256, n: 256, k*: 256)
    in A {0}[m, k]
    in B {0}[n, k]
    out C f32[m, n] = sum({1})
output Y
)",
                                   type, is_rounded ? "f32(A) * f32(B)" : "A * B",
                                   is_rounded ? "bf16(exp(A))" : "exp(A)"),
                       "figure");
}

struct Units {
    int64_t lanes = 16;
    double vector_peak = 1e11;
    double tile_peak = 2e12;  ///< 0: no matrix unit
    std::string type = "f32";
    std::vector<LaneAxis> a = {{'m', 16}, {'k', 16}}, b = {{'n', 16}, {'k', 16}}, c = {{'m', 16}, {'n', 16}};
    bool strided_rows = false;
    double near_rate = 1e12;  ///< of the caches, bytes a second
};

Machine machine_with(const Units& units) {
    Machine machine;
    machine.name = "described";
    const auto level = [](const char* name, int64_t bytes, double rate) {
        return MemoryLevel{.name = name,
                           .capacity_bytes = bytes,
                           .shared_by_cores = 1,
                           .latency_seconds = {},
                           .read_bandwidth = {{.threads = 1, .bytes_per_second = rate}}};
    };
    machine.memory = {level("L1", 64 << 10, units.near_rate), level("L2", 4 << 20, units.near_rate),
                      level("memory", int64_t{1} << 34, 1e11)};
    machine.units = {{.name = "vector",
                      .kind = UnitKind::kVector,
                      .operands = {{"A", "f32", {{'i', units.lanes}}},
                                   {"B", "f32", {{'i', units.lanes}}},
                                   {"C", "f32", {{'i', units.lanes}}}},
                      .registers = 32,
                      .strided_rows = false,
                      .peaks = {{.level = "L1", .operations_per_second = units.vector_peak}}}};
    if (units.tile_peak > 0)
        machine.units.push_back(
            {.name = "tiles",
             .kind = UnitKind::kMatrix,
             .operands = {{"A", units.type, units.a}, {"B", units.type, units.b}, {"C", "f32", units.c}},
             .registers = 8,
             .strided_rows = units.strided_rows,
             .peaks = {{.level = "L1", .operations_per_second = units.tile_peak}}});
    return machine;
}

struct Outcome {
    Plan plan;
    Search search;
    const SpecialisationPlan& only() const { return plan.specialisations.front(); }
    std::string layout(const std::string& value) const {
        const auto found = only().tensors.find(value);
        return found == only().tensors.end() ? "row-major" : print(found->second.layout);
    }
    std::string stored(const std::string& value) const {
        const auto found = plan.stored.find(value);
        return found == plan.stored.end() ? "row-major" : print(found->second);
    }
};

Outcome search(const Graph& graph, const Machine& machine) {
    Plan initial{.graph = graph.name, .machine = machine.name};
    initial.specialisations = {{.name = "all"}};
    SearchOptions options{.units = machine.units,
                          .costs = {by_units(graph, initial.specialisations.front(), machine)}};
    Search found = search_layouts(graph, initial, options);
    EXPECT_EQ(found.saturation.stop, egraph::StopReason::kSaturated);
    EXPECT_EQ(found.result.status, extraction::Status::kOptimal);
    EXPECT_TRUE(violations(found.problem.problem, found.result.choice).empty());
    return {decision_of(graph, initial, found), std::move(found)};
}

TEST(Figure3, WhereTheTilesAgreeTheBlockedLayoutPassesThrough) {
    const Outcome found = search(figure("f32"), machine_with({}));
    EXPECT_EQ(found.layout("S"), "lanes <0:16, 1:16>");
    EXPECT_EQ(found.layout("E"), "lanes <0:16, 1:16>");
    EXPECT_EQ(found.stored("K"), "lanes <0:16, 1:16>");
    EXPECT_EQ(found.stored("V"), "lanes <0:16, 1:16>");
    // What is given and what is shown are row-major: one pack in front, one unpack behind, none between.
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

TEST(Figure3, CopiesChangeNoNumber) {
    const Graph graph = figure("f32");
    const Outcome found = search(graph, machine_with({.lanes = 256, .near_rate = 1e14}));
    const Graph copied = with_copies(graph, found.plan, "plan");
    EXPECT_NO_THROW(verify(copied, "plan"));
    EXPECT_EQ(copied.blocks.front().nodes.size(),
              graph.blocks.front().nodes.size() + found.plan.copies.size());
}

}  // namespace
}  // namespace tessera::layouts
