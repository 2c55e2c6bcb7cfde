#pragma once

#include <cstdint>
#include <map>

namespace tessera::cost {

/// How a micro-kernel for products cuts the rows of a call, and what a block of some takes.
///
/// On vector units a block is `rows` registers high, and NTT cuts the rest into blocks in powers of two
/// (for_blocks). The time of a block, known for some numbers of rows, is interpolated in the logarithms;
/// beyond them it grows with the rows.
///
/// On a matrix unit (`tile_rows` > 0, include/tessera/ntt/contract_tiles.h) it is `rows` tiles high, and what
/// is left is one block of as many tiles as it needs. All of them are whole but the last one, which is
/// configured with the height that is left: it loads and multiplies just those rows of A, by all of B, whose
/// tiles stay whole. The saving depends on whether the unit waits for A or for B, so that only measurements
/// tell: the last tile takes the share of a whole one that calls of single tiles of its height do, and all of
/// it where such calls are not listed.
struct RowBlocks {
    int64_t rows = 1;
    int64_t tile_rows = 0;

    /// Numbers of rows of the blocks, with how many there are.
    std::map<int64_t, int64_t> cut(int64_t m) const;
    /// True if the time of a call of m rows gives that of its largest block, those of its others being known.
    bool tells_of_largest(int64_t m) const;
    /// The seconds of a block, from the seconds of those listed. @pre some are listed; all seconds are
    /// positive
    double seconds(const std::map<int64_t, double>& listed, int64_t block) const;

    bool operator==(const RowBlocks&) const = default;
};

/// y at x between known points, by the logarithms of both; the nearest point's beyond the ends.
/// @pre some points, all positive
double interpolate(const std::map<int64_t, double>& points, int64_t x);

}  // namespace tessera::cost
