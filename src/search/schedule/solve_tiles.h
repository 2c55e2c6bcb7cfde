#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "search/schedule/structure.h"

namespace tessera::schedule {

/// A kernel with its tile sizes and leaves.
struct SolvedKernel {
    lowering::NumberedNest nest;  ///< without loops of one trip
    std::vector<int> leaves;      ///< numbers of those of its operators, in the order of execution
    cost::Evaluation cost;        ///< of the worker with the most work, in the division that leaves it least
    double seconds = 0;           ///< used in comparisons with other kernels: with_mistrust
    double bound = 0;             ///< no choice of tiles takes less; 0: not known
};

/// True if no choice of tiles takes less by more than kernels of about the same time differ.
bool is_proved(const SolvedKernel& kernel);

struct TileOptions {
    int64_t evaluations = 200;  ///< of choices of one kernel
    int64_t refusals = 24;      ///< after this many choices that do not lower, a kernel counts as illegal
    /// Sets of choices that a proof looks at (search/tiles/solve.h), for each order of the loops; 0: none. It
    /// takes the place of more descents where there are more choices than `evaluations`.
    int64_t nodes = 0;
    std::span<const double> least = {};  ///< of a proof, as in least_of_tiles
};

/// The seconds by which kernels are compared: loops around products count more than they cost, since
/// estimates of short calls are less certain.
/// @param in_loops seconds of computing products inside of loops, by one worker
double with_mistrust(const cost::Evaluation& cost, double in_loops, int64_t workers);
/// True if an operator of the kernel is a product, by this leaf, inside of a loop.
bool is_product_in_loops(const BlockContext& block, const lowering::TiledKernel& kernel, size_t at, int leaf);

/// The sizes of the open tiles with the least cost. Sizes are powers of two, divisors if the extent is
/// constant, and the extent. Among nests with about the same time the smallest buffers win, then the fewest
/// loops. All choices are tried if there are no more than `evaluations`; else each size in turn, until none
/// helps, and with a proof all that may take less by more than a nest of about the same time. If the kernel
/// waits for transfers, the same is tried with each loop over results outermost.
/// @return nothing if no choice is legal. `work` counts the choices that were tried.
std::optional<SolvedKernel> solve_tiles(BlockContext& block, const lowering::NumberedNest& kernel,
                                        const TileOptions& options, int64_t& work);
/// The `most` best choices by ascending time; fewer if no others are legal. `solve_tiles` takes one of them.
std::vector<SolvedKernel> best_tiles(BlockContext& block, const lowering::NumberedNest& kernel,
                                     const TileOptions& options, size_t most, int64_t& work);

}  // namespace tessera::schedule
