#pragma once

#include <bit>

#include "tessera/ntt/extent.h"

namespace tessera::ntt {

/// For a run-time extent, the size of the blocks that follow those of `size`; 0 behind the last.
constexpr int next_block_size(int size) {
    return size > 1 ? static_cast<int>(std::bit_floor(static_cast<unsigned>(size - 1))) : 0;
}

/// Cuts [0, extent) into blocks and calls f(Int<size>, begin) for each, in order. A static extent gives
/// blocks of `Size` and one of just the rest. A run-time extent goes on with the powers of two below `Size`:
/// each size is an instantiation of f, so this keeps their number small, and leaves at most one short block
/// of each size.
///
///     for_blocks<12>(Int<29>{}, f)    12 12 5
///     for_blocks<12>(29, f)           12 12 4 1
template <int Size, Extent E, class F>
[[gnu::always_inline]] inline void for_blocks(E extent, F f, int64_t begin = 0) {
    if constexpr (kIsStatic<E>) {
        constexpr int64_t kWhole = E::value / Size * Size;
        for (const int64_t end = begin + kWhole; begin < end; begin += Size) f(Int<Size>{}, begin);
        if constexpr (kWhole < E::value) f(Int<E::value - kWhole>{}, begin);
    } else {
        const int64_t rest = extent % Size;
        for (const int64_t end = begin + (extent - rest); begin < end; begin += Size) f(Int<Size>{}, begin);
        if constexpr (Size > 1) {
            if (rest > 0) for_blocks<next_block_size(Size)>(rest, f, begin);
        }
    }
}

namespace detail {

/// Cuts [0, extent) into parts of at most `fitting`, at least 1, and calls f(begin, size) for each, in order.
/// All but the last are whole blocks of `Size` where so many fit.
template <int Size, class F>
[[gnu::always_inline]] inline void for_parts(int64_t extent, int64_t fitting, F f) {
    const int64_t part = fitting < Size ? fitting : fitting / Size * Size;
    for (int64_t begin = 0; begin < extent; begin += part)
        f(begin, extent - begin < part ? extent - begin : part);
}

}  // namespace detail

/// Cuts n consecutive lanes, L to a group, into blocks of at most `Groups` whole groups and a last one of the
/// rest. Calls f(Int<groups>, first group, lanes of each) for each, in order; the lanes are an Int<L> where
/// the groups are whole.
template <int L, int Groups, Extent N, class F>
[[gnu::always_inline]] inline void for_groups(N n_extent, F f) {
    const auto whole = [&](auto groups, int64_t group) __attribute__((always_inline)) {
        f(groups, group, Int<L>{});
    };
    if constexpr (kIsStatic<N>) {
        for_blocks<Groups>(Int<N::value / L>{}, whole);
        if constexpr (N::value % L != 0) f(Int<1>{}, N::value / L, int64_t{N::value % L});
    } else {
        const int64_t n = n_extent;
        for_blocks<Groups>(n / L, whole);
        if (n % L != 0) f(Int<1>{}, n / L, n % L);
    }
}

/// The groups of a block, of which each lies so far from the one before: group + j is the number of the jth.
struct GroupsApart {
    int64_t first, distance;

    [[gnu::always_inline]] friend constexpr int64_t operator+(GroupsApart groups, int64_t j) {
        return groups.first + j * groups.distance;
    }
};

/// The same in blocks of one group of each of `Streams` equal parts of n, so that the data of the groups is
/// read in so many streams, each from end to end: the prefetchers of a processor go further ahead in all of
/// them than in one, and lose a stream where it ends. The groups that are left over follow one by one. Calls
/// f(Int<groups>, a GroupsApart or a group, lanes of each).
///
///     for_streams<8, 2>(44, f)    (0, 2) (1, 3) 4 and 4 lanes of 5
template <int L, int Streams, Extent N, class F>
[[gnu::always_inline]] inline void for_streams(N n_extent, F f) {
    const int64_t n = n_extent, part = n / L / Streams;
    for (int64_t group = 0; group < part; ++group) f(Int<Streams>{}, GroupsApart{group, part}, Int<L>{});
    for (int64_t group = part * Streams; group < n / L; ++group) f(Int<1>{}, group, Int<L>{});
    if (n % L != 0) f(Int<1>{}, n / L, n % L);
}

}  // namespace tessera::ntt
