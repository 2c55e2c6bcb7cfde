#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "lowering/kernels/kernel_target.h"

namespace tessera::kernels {

/// The block that a product keeps in registers, and how it prefetches its operands.
struct RegisterBlock {
    int64_t rows;
    int64_t columns;             ///< groups of lanes along n, or columns of a product with lanes along k
    int64_t prefetch = 0;        ///< bytes by which B is fetched ahead
    int64_t partial_sums = 1;    ///< of each row and column, side by side
    int64_t streams = 1;         ///< in which B is read: 1, or one for each of the columns
    bool is_for_memory = false;  ///< preferred where B comes from the memory
    bool operator==(const RegisterBlock&) const = default;
};

/// The largest number of rows that are limited by reading B rather than by computing.
inline constexpr int64_t kFewRows = 4;

/// Prefetch distance of all groups together, if they prefetch: a page, which is as far as the prefetchers of
/// a processor go. Processors whose prefetchers fall behind a kernel that computes much gain a quarter;
/// others lose.
inline constexpr int64_t kPrefetch = 4096;

/// Prefetch distances for operands that are read in the order of their addresses: the page as above; the
/// bytes that a memory of 40 GB/s delivers within its latency of a seventh of a microsecond; and a distance
/// into the second cache, beyond what prefetchers follow. The last is as long as the part of a key cache that
/// is read between two tiles of values, or the reverse: 64 positions of 128 numbers with 16 bits.
inline constexpr std::array<int64_t, 3> kPrefetchDistances = {kPrefetch, 6144, 16384};

/// First the block that bench/ntt found fastest. Many rows: registers hold accumulators for all of them, two
/// groups of B and one element of A (32 registers: 12 x 2, 16: 6 x 2); a few rows: as many groups as fit with
/// them. One row: enough sums in flight to hide the latency of the additions. Then others that fit the
/// registers: only the machine's measurements tell which is faster. Among them, for B from the memory, all
/// rows that fit with one group: nothing is computed while B is not read.
std::vector<RegisterBlock> register_blocks(const KernelTarget& target, int64_t rows, bool along_n);

/// Integers of the block are live, and B's numbers with their coefficients; the floats are needed once for
/// each block of k, and may wait in memory: fewer rows than of a contraction in floats. One row reads its
/// weights in the order of the addresses, few rows in two streams, and both ask for their lines ahead, since
/// the processor's prefetchers fall behind what is computed for each byte: on a Zen 5 one row reads seven
/// formats at 35 to 37 GB/s, without requests at 10 to 36, four rows at 23 to 28 and 8 to 24. Then others, as
/// above.
std::vector<RegisterBlock> blocks_of_integers(const KernelTarget& target, int64_t rows);

/// Blocks for A multiplied as shorts by panels, where only one sum is live, and for few k a float.
std::vector<RegisterBlock> blocks_of_folded_integers(const KernelTarget& target, int64_t rows);

/// The block for weighted sums of a cache's values: a few rows read whole lines of it, many need the
/// registers.
RegisterBlock block_of_values(int64_t registers, int64_t rows);

}  // namespace tessera::kernels
