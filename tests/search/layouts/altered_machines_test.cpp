// The description of a machine alone decides the packings: no rule knows an instruction set.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "search/layouts/described_machines.h"

namespace tessera::layouts {
namespace {

using testing::machine_with;
using testing::Outcome;
using testing::search;
using testing::Units;

/// Y = X W^T with factors of this type and so many rows.
Graph product(const std::string& type, int64_t rows) {
    return parse_graph(fmt::format(R"(graph "product"
input X: {0}[{1}, 256]
constant W: {0}[256, 256] from "W"
value Y: f32[{1}, 256]

block main
  node product(X, W) -> Y
    op matmul(m: {1}, n: 256, k*: 256)
    in A {0}[m, k]
    in B {0}[n, k]
    out C f32[m, n] = sum({2})
output Y
)",
                                   type, rows, type == "f32" ? "A * B" : "f32(A) * f32(B)"),
                       "product");
}

struct Case {
    std::string name;
    std::string type;
    int64_t rows;
    Units units;
    std::string weight;
    size_t copies;
};

void PrintTo(const Case& c, std::ostream* out) {
    *out << c.name;
}

class AlteredMachine : public ::testing::TestWithParam<Case> {};

TEST_P(AlteredMachine, GivesThePredictedLayouts) {
    const Case& c = GetParam();
    const Outcome found = search(product(c.type, c.rows), machine_with(c.units));
    EXPECT_EQ(found.stored("W"), c.weight);
    EXPECT_EQ(found.plan.copies.size(), c.copies);
}

const std::vector<machine::LaneAxis> kAmxA = {{'m', 16}, {'k', 32}}, kAmxB = {{'k', 16}, {'n', 16}, {'k', 2}};

INSTANTIATE_TEST_SUITE_P(
    All, AlteredMachine,
    ::testing::Values(
        Case{"SixteenLanes", "f32", 64, {.tile_peak = 0}, "lanes <0:16>", 0},
        Case{"EightLanes", "f32", 64, {.lanes = 8, .tile_peak = 0}, "lanes <0:8>", 0},
        Case{"TilesOfOneKind", "f32", 256, {}, "lanes <0:16, 1:16>", 2},
        Case{"LongerTiles",
             "f32",
             256,
             {.a = {{'m', 8}, {'k', 64}}, .b = {{'n', 32}, {'k', 64}}, .c = {{'m', 8}, {'n', 32}}},
             "lanes <0:32, 1:64>",
             2},
        Case{"TilesInPairs", "bf16", 256, {.type = "bf16", .a = kAmxA, .b = kAmxB}, "lanes <0:16, 1:2>", 2},
        Case{"TilesInStridedRows",
             "bf16",
             256,
             {.type = "bf16", .a = kAmxA, .b = kAmxB, .strided_rows = true},
             "lanes <0:16, 1:2>",
             0},
        // The unit saves less than packing X and unpacking Y take.
        Case{"SlowCaches",
             "f32",
             128,
             {.vector_peak = 1e12, .tile_peak = 1.05e12, .near_rate = 1e10},
             "lanes <0:16>",
             0},
        Case{"NoUnitForTheType", "f32", 256, {.type = "bf16", .a = kAmxA, .b = kAmxB}, "lanes <0:16>", 0}),
    [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace tessera::layouts
