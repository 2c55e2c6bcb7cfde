#pragma once

#include "machine/machine.h"

/// Compute units that plans of tests are made for; their code runs on every machine.
namespace tessera::testing {

/// Adds the products of pairs of k of bf16 in each of its lanes.
inline machine::ComputeUnit pair_unit(int64_t lanes) {
    const std::vector<machine::LaneAxis> pairs = {{'i', lanes}, {'k', 2}};
    return {.name = "pairs",
            .kind = machine::UnitKind::kVector,
            .operands = {{"A", "bf16", pairs}, {"B", "bf16", pairs}, {"C", "f32", {{'i', lanes}}}},
            .registers = 32};
}

struct TileLanes {
    int64_t m, n, k;
};
/// Multiplies tiles of bf16, B in pairs of k.
inline machine::ComputeUnit tile_unit(TileLanes lanes) {
    return {.name = "tiles",
            .kind = machine::UnitKind::kMatrix,
            .operands = {{"A", "bf16", {{'m', lanes.m}, {'k', lanes.k}}},
                         {"B", "bf16", {{'k', lanes.k / 2}, {'n', lanes.n}, {'k', 2}}},
                         {"C", "f32", {{'m', lanes.m}, {'n', lanes.n}}}},
            .registers = 8,
            .strided_rows = true};
}

/// Multiplies tiles of signed bytes, B in quads of k.
inline machine::ComputeUnit byte_tile_unit(TileLanes lanes) {
    return {.name = "byte tiles",
            .kind = machine::UnitKind::kMatrix,
            .operands = {{"A", "i8", {{'m', lanes.m}, {'k', lanes.k}}},
                         {"B", "i8", {{'k', lanes.k / 4}, {'n', lanes.n}, {'k', 4}}},
                         {"C", "i32", {{'m', lanes.m}, {'n', lanes.n}}}},
            .registers = 8,
            .strided_rows = true};
}

}  // namespace tessera::testing
