#pragma once

#include "lowering/kernels/tile_block.h"
#include "lowering/plan/micro_kernel.h"

/// Parameters that several micro-kernels share, or that others ask for. A parameter of a single micro-kernel
/// stands in its file.
namespace tessera::kernels::parameter {

constexpr plan::Parameter iterator(std::string_view name, std::string_view meaning, bool is_required) {
    return {
        .name = name, .meaning = meaning, .kind = plan::ParameterKind::kIterator, .is_required = is_required};
}

/// A dimension of the register block.
constexpr plan::Parameter in_registers(std::string_view name, std::string_view meaning, int64_t most) {
    return {.name = name, .meaning = meaning, .most = most, .is_stated = true, .is_of_block = true};
}

inline constexpr plan::Parameter kIteratorOfLanes =
    iterator("x", "iterator of the lanes; none: scalars", false);
inline constexpr plan::Parameter kRowsOfA = iterator("m", "iterator of A and C; none: one row", false);
inline constexpr plan::Parameter kColumns = iterator("n", "iterator of B and C", true);
inline constexpr plan::Parameter kReduction = iterator("k", "reduction iterator of A and B", true);
inline constexpr plan::Parameter kRowsOfStream = iterator("m", "iterator of the rows; none: one row", false);
inline constexpr plan::Parameter kValues = iterator("d", "iterator of the values alone", true);

inline constexpr plan::Parameter kLanes{
    .name = "lanes", .meaning = "lanes of a vector", .most = 64, .is_power_of_two = true};
inline constexpr plan::Parameter kRows = in_registers("rows", "rows in registers", 32);
inline constexpr plan::Parameter kGroups = in_registers("groups", "groups of lanes in registers", 16);
inline constexpr plan::Parameter kColumnsInRegisters = in_registers("columns", "columns in registers", 16);
inline constexpr plan::Parameter kPrefetch{
    .name = "prefetch",
    .meaning = "bytes by which B is fetched ahead where it is read directly",
    .otherwise = 0,
    .least = 0,
    .most = 1 << 20,
    .is_of_block = true};
inline constexpr plan::Parameter kStreams{
    .name = "streams",
    .meaning =
        "equal parts of n that are read beside each other, a block having a group of each: 1, or as "
        "many as `groups`",
    .most = 16,
    .is_of_block = true};
inline constexpr plan::Parameter kPanelBlocks{
    .name = "panel_blocks",
    .meaning =
        "blocks of rows from which on B is widened or decoded once for all of them, a panel at a time; "
        "0: never",
    .otherwise = 0,
    .least = 0,
    .most = 1 << 20,
    .is_of_block = true};
inline constexpr plan::Parameter kPartialSums{.name = "partial_sums",
                                              .meaning = "sums of a row and group that take k in turns",
                                              .most = 8,
                                              .is_of_block = true};
inline constexpr plan::Parameter kKLanes{
    .name = "k_lanes",
    .meaning = "neighbouring k that lie side by side in B, `lanes <n:16, k:2>`",
    .most = 2};
inline constexpr plan::Parameter kDot{
    .name = "dot",
    .meaning =
        "neighbours along the reduction whose products one operation adds; B that has no such pairs "
        "is made into them as it is read",
    .most = 2};

inline constexpr plan::Parameter kSteps{.name = "steps",
                                        .meaning = "values of the ordered iterator that are taken together",
                                        .is_required = true,
                                        .least = 2,
                                        .most = 8,
                                        .is_power_of_two = true};

inline constexpr plan::Parameter kLanesOfTile{.name = "lanes",
                                              .meaning = "n of a tile",
                                              .is_required = true,
                                              .most = kMostTileLanes,
                                              .is_power_of_two = true};
inline constexpr plan::Parameter kRowsOfTile{
    .name = "tile_rows", .meaning = "m of a tile", .is_required = true, .most = kMostTileRows};
inline constexpr plan::Parameter kDepthOfTile{.name = "depth",
                                              .meaning = "k of a tile",
                                              .is_required = true,
                                              .least = 2,
                                              .most = kMostTileDepth,
                                              .multiple_of = 2};
inline constexpr plan::Parameter kTilesOfA = in_registers("rows", "tiles of A in registers", kTiles);
inline constexpr plan::Parameter kTilesOfB = in_registers("groups", "tiles of B in registers", kTiles);

}  // namespace tessera::kernels::parameter
