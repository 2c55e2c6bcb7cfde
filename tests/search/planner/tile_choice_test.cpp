#include "lowering/kernels/tile_choice.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "ir/graph.h"
#include "lowering/plan/nest.h"
#include "machine/machine_text.h"
#include "search/planner/default_planner.h"
#include "search/planner/usual_machine.h"
#include "search/planner/verify_plan.h"

namespace tessera::planner {
namespace {

/// A product of T rows with a weight of this type.
Graph product(const std::string& type) {
    const std::string text = R"(graph "product"
symbol T in 1..512
point decode weight 1: T = 1
point prefill weight 1: T = 512
constant table: TYPE[512, 96] from "table"
constant w: TYPE[200, 96] from "w"
value x: TYPE[T, 96] rounded
value y: f32[T, 200]

block main
  node x(table) -> x
    op rows(t: T, k: 96)
    dim T in 1..512
    in E TYPE[t, k] of [512, 96]
    out X TYPE[t, k] = E * 2
  node y(x, w) -> y
    op linear(t: T, n: 200, k*: 96)
    dim T in 1..512
    in X TYPE[t, k]
    in W TYPE[n, k]
    out Y f32[t, n] = sum(X * W)

output y
)";
    std::string typed;
    for (size_t at = 0; at < text.size();) {
        const bool is_type = text.compare(at, 4, "TYPE") == 0;
        typed += is_type ? type : text.substr(at, 1);
        at += is_type ? 4 : 1;
    }
    Graph graph = parse_graph(typed, "product");
    verify(graph, "product");
    return graph;
}

class TileChoice : public ::testing::Test {
protected:
    machine::ComputeUnit& unit(std::string_view name) {
        return *std::find_if(machine_.units.begin(), machine_.units.end(),
                             [&](const machine::ComputeUnit& each) { return each.name == name; });
    }
    /// How the product is computed in a specialisation, "decode" or "prefill".
    std::string leaf(std::string_view specialisation, const std::string& type = "bf16") {
        const Graph graph = product(type);
        const plan::Plan plan = default_plan(
            graph, testing::on_usual_machine({.machine = "test",
                                              .lanes = machine::vector_lanes(machine_),
                                              .vector_registers = machine::vector_registers(machine_),
                                              .units = machine_.units}));
        verify_plan(graph, plan, "default plan");
        for (const plan::SpecialisationPlan& s : plan.specialisations)
            if (s.name == specialisation) return plan::print(s.kernels.back().nest);
        return "no " + std::string(specialisation);
    }

    machine::Machine machine_ = machine::read_machine(std::string(TESSERA_SOURCE_DIR) + "/machines/amx.toml");
};

constexpr const char* kTiles = "contract_tiles depth=32 groups=2 k=k lanes=16 m=t n=n rows=2 tile_rows=16";

TEST_F(TileChoice, ManyRowsAreForTheMatrixUnitAndOneForTheVectors) {
    EXPECT_NE(leaf("prefill").find(kTiles), std::string::npos) << leaf("prefill");
    EXPECT_EQ(leaf("decode").find("contract_tiles"), std::string::npos);
    EXPECT_NE(leaf("decode").find("dot=2"), std::string::npos);
    EXPECT_EQ(leaf("prefill", "f16").find("contract_tiles"), std::string::npos);
    EXPECT_EQ(leaf("prefill", "f32").find("contract_tiles"), std::string::npos);
}

TEST_F(TileChoice, TheShapeIsTheUnits) {
    unit("amx-bf16").operands[0].lanes = {{'m', 8}, {'k', 16}};
    unit("amx-bf16").operands[1].lanes = {{'k', 8}, {'n', 16}, {'k', 2}};
    unit("amx-bf16").operands[2].lanes = {{'m', 8}, {'n', 16}};
    unit("amx-bf16").registers = 5;
    EXPECT_NE(
        leaf("prefill").find("contract_tiles depth=16 groups=1 k=k lanes=16 m=t n=n rows=2 tile_rows=8"),
        std::string::npos);
}

TEST_F(TileChoice, WhatThePackedFormDoesNotFitIsNotUsed) {
    unit("amx-bf16").operands[1].lanes = {{'k', 8}, {'n', 16}, {'k', 4}};
    EXPECT_EQ(leaf("prefill").find("contract_tiles"), std::string::npos);
    unit("amx-bf16").operands[1].lanes = {{'k', 16}, {'n', 32}, {'k', 2}};
    unit("amx-bf16").operands[2].lanes = {{'m', 16}, {'n', 32}};
    EXPECT_EQ(leaf("prefill").find("contract_tiles"), std::string::npos);
}

TEST_F(TileChoice, MeasuredPeaksDecide) {
    unit("avx512").peaks = {{"registers", 240e9}};
    unit("avx512-bf16").peaks = {{"registers", 120e9}};
    unit("amx-bf16").peaks = {{"registers", 3.5e12}};
    EXPECT_NE(leaf("prefill").find("contract_tiles"), std::string::npos);
    unit("amx-bf16").peaks = {{"registers", 200e9}};
    EXPECT_EQ(leaf("prefill").find("contract_tiles"), std::string::npos);
}

/// A tile of a few rows takes as long as a whole one.
TEST_F(TileChoice, FewRowsWantAUnitThatIsSoMuchFaster) {
    kernels::KernelTarget target{.lanes = 16, .units = machine_.units};
    const auto is_chosen = [&](int64_t rows) {
        return !kernels::tile_blocks(ElementType::kBF16, rows, target).empty();
    };
    EXPECT_FALSE(is_chosen(1));
    EXPECT_TRUE(is_chosen(2)) << "nothing was measured";
    for (machine::ComputeUnit& each : machine_.units) {
        if (each.name == "avx512-bf16") each.peaks = {{"registers", 300e9}};
        if (each.name == "amx-bf16") each.peaks = {{"registers", 1200e9}};
    }
    EXPECT_FALSE(is_chosen(3));
    EXPECT_TRUE(is_chosen(4));
    EXPECT_EQ(kernels::tile_blocks(ElementType::kBF16, 16, target).front().groups, 3) << "one row of tiles";
}

/// Tiles of bytes, as deep as sums are of integers, for more rows than wait for the memory.
TEST_F(TileChoice, BytesAreForTheUnitThatMultipliesThem) {
    kernels::KernelTarget target{.lanes = 16, .units = machine_.units};
    const auto depth = [&](int64_t fold, int64_t rows) {
        const auto found = kernels::byte_tile_blocks(fold, rows, target);
        return found.empty() ? 0 : found.front().depth;
    };
    EXPECT_EQ(depth(256, 512), 64);
    EXPECT_EQ(depth(32, 512), 32);
    EXPECT_EQ(depth(32, 4), 0);
    target.lanes = 8;
    EXPECT_EQ(depth(256, 512), 0) << "in which B is not stored";
}

/// A product of activations of two bytes with a weight of Q8_0.
TEST_F(TileChoice, QuantisedProductsOfManyRowsAreForTheMatrixUnit) {
    Graph graph = parse_graph(R"(graph "product"
symbol T in 1..512
point decode weight 1: T = 1
point prefill weight 1: T = 512
input x: i8[T, 256]
input low: i8[T, 256]
input scales: f32[T, 1]
constant w_q: i8[64, 256] from "w#q"
constant w_d: f16[64, 8] from "w#d"
value y: f32[T, 64]

block main
  node y(x, low, scales, w_q, w_d) -> y
    op product(t: T, n: 64, k*: 256)
    dim T in 1..512
    in X i8[t, k]
    in L i8[t, k]
    in S f32[t, k div 256]
    in q i8[n, k]
    in d f16[n, k div 32]
    out Y f32[t, n] = sum((X * 128 + L) * S * (q * d))

output y
)",
                              "product");
    verify(graph, "product");
    const PlannerOptions options = testing::on_usual_machine(
        {.machine = "test", .lanes = 16, .vector_registers = 32, .units = machine_.units});
    const plan::Plan plan = default_plan(graph, options);
    verify_plan(graph, plan, "default plan");
    const auto leaf = [&](const plan::SpecialisationPlan& s) { return plan::print(s.kernels.back().nest); };
    EXPECT_NE(leaf(plan.specialisations.back())
                  .find("contract_block_tiles depth=32 groups=2 k=k lanes=16 m=t n=n tile_rows=16"),
              std::string::npos)
        << leaf(plan.specialisations.back());
    EXPECT_NE(leaf(plan.specialisations.front()).find("contract_blocks "), std::string::npos)
        << leaf(plan.specialisations.front());
}

}  // namespace
}  // namespace tessera::planner
