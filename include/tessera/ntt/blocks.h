#pragma once

#include <bit>

#include "tessera/ntt/extent.h"

namespace tessera::ntt {

/// Of a run-time extent, the size of the blocks that follow those of `size`; 0 behind the last.
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

}  // namespace tessera::ntt
