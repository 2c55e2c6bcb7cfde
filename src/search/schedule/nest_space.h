#pragma once

#include <cstdint>

#include "lowering/tiled_kernel.h"

namespace tessera::schedule {

struct BlockContext;

/// The nests that a search considers. Each part can be left out, for comparisons (docs/schedule.md). A loop
/// is private if an operator inside of it computes the same in each of its trips.
struct NestSpace {
    bool has_other_orders = true;  ///< other loops over results outermost (loop_orders.h)
    bool has_odd_sizes = true;     ///< tiles that are neither a power of two nor the extent
    /// Tiles that cover more than the extent: all of them where the extent is a power of two, else those that
    /// cover 5 % more (paper 002, section III, rule 3).
    bool has_padded_sizes = true;
    bool has_private_loops = true;  ///< deep expressions of paper 002 alone have them
    bool has_inner_braces = true;   ///< flat expressions of paper 002 alone have them
    bool has_outer_sums = true;     ///< loops over reductions around loops over results (rule 2)
    /// Kernels of several operators whose innermost tiles together exceed the near cache 1.2 times (rule 4).
    bool has_large_tiles = true;
    bool operator==(const NestSpace&) const = default;
};

bool has_size(const NestSpace& space, int64_t size, int64_t extent);
bool has_private_loop(const lowering::TiledKernel& kernel);
/// The questions that only a nest with all of its tiles answers: outer sums and large tiles. Stated kernels
/// are in every space.
bool is_in_space(BlockContext& block, const lowering::TiledKernel& kernel);

}  // namespace tessera::schedule
