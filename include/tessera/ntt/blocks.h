#pragma once

#include "tessera/ntt/extent.h"

namespace tessera::ntt {

/// Cuts [0, extent) into blocks and calls f(Int<size>, begin) for each, in order. A static extent gives
/// blocks of `Size` and one of just the rest. A run-time extent goes on with blocks of Size/2, Size/4, ... 1:
/// each size is an instantiation of f, so this keeps their number small, and leaves at most two short blocks
/// of each size.
///
///     for_blocks<12>(Int<29>{}, f)    12 12 5
///     for_blocks<12>(29, f)           12 12 3 1 1
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
            if (rest > 0) for_blocks<Size / 2>(rest, f, begin);
        }
    }
}

}  // namespace tessera::ntt
