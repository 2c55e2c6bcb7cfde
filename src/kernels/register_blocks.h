#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/kernel_target.h"

namespace tessera::kernels {

/// What a product keeps in registers, and how it fetches what it has to read.
struct RegisterBlock {
    int64_t rows;
    int64_t columns;           ///< groups of lanes along n, or columns of a product with lanes along k
    int64_t prefetch = 0;      ///< bytes by which B is fetched ahead
    int64_t partial_sums = 1;  ///< of each row and column, side by side
    int64_t streams = 1;       ///< in which B is read: 1, or one for each of the columns
};

/// At most so many rows wait for what they read of B more than for what they compute.
inline constexpr int64_t kFewRows = 4;

/// How far all groups together fetch ahead, if they do: as far as the prefetchers of a processor go at most,
/// which is a page. Processors that stay behind a kernel that computes much gain a quarter; others lose.
inline constexpr int64_t kPrefetch = 4096;

/// How far ahead may be fetched what is read in the order of its addresses: as above; what a memory of 40
/// GB/s delivers in the seventh of a microsecond until it answers; and into the second cache, beyond what
/// prefetchers follow: what is read of a cache of keys or values between two tiles of the other is as much,
/// 64 positions of 128 numbers with 16 bits.
inline constexpr std::array<int64_t, 3> kPrefetchDistances = {kPrefetch, 6144, 16384};

/// First the block that bench/ntt found fastest. Many rows: accumulators for all of them, two groups of B and
/// one element of A are in registers (32 registers: 12 x 2, 16: 6 x 2); a few rows: as many groups as fit
/// with them. One row: enough sums in flight to hide the latency of the additions. Then others that fit the
/// registers: only the machine's measurements tell which is faster.
std::vector<RegisterBlock> register_blocks(const KernelTarget& target, int64_t rows, bool along_n);

/// Integers of the block are live, and B's numbers with their coefficients; the floats are needed once for
/// each block of k, and may wait in memory: fewer rows than of a contraction in floats. One row reads its
/// weights in the order of the addresses. Then others, as above.
std::vector<RegisterBlock> blocks_of_integers(const KernelTarget& target, int64_t rows);

/// Where A is multiplied as shorts by panels nothing but one sum is live, and for few k a float.
std::vector<RegisterBlock> blocks_of_folded_integers(const KernelTarget& target, int64_t rows);

/// Of weighted sums of a cache's values: a few rows read whole lines of it, many need the registers.
RegisterBlock block_of_values(int64_t registers, int64_t rows);

}  // namespace tessera::kernels
