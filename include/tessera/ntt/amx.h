#pragma once

#include "tessera/ntt/tile_configuration.h"

// The matrix unit AMX. Own assembly: GCC 12 takes its intrinsic for LDTILECFG to read 8 bytes instead of 64,
// and may move that for TILELOADD before the store of the loaded data.

namespace tessera::ntt {

/// The tiles of the thread. The process must have been given them (Linux: ARCH_REQ_XCOMP_PERM) before.
class AmxTiles {
public:
    /// Sets all tiles to 0.
    [[gnu::always_inline]] static void configure(const TileConfiguration& configuration) {
        asm volatile("ldtilecfg %0" : : "m"(configuration));
    }
    /// Leaves the tiles as they are before the first use, so that the system need not save them.
    [[gnu::always_inline]] static void release() { asm volatile("tilerelease"); }

    template <int Tile>
    [[gnu::always_inline]] static void zero() {
        asm volatile("tilezero %%tmm%c0" : : "i"(Tile));
    }
    /// Loads rows from `first` on, `stride` bytes apart.
    template <int Tile>
    [[gnu::always_inline]] static void load(const void* first, int64_t stride) {
        asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(first), "r"(stride), "i"(Tile) : "memory");
    }
    template <int Tile>
    [[gnu::always_inline]] static void store(void* first, int64_t stride) {
        asm volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(first), "r"(stride), "i"(Tile) : "memory");
    }
    /// C += A B of pairs of bf16 (TDPBF16PS).
    template <int C, int A, int B>
    [[gnu::always_inline]] static void add_products() {
        asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(C), "i"(A), "i"(B));
    }
    /// C += A B of quads of signed bytes (TDPBSSD).
    template <int C, int A, int B>
    [[gnu::always_inline]] static void add_byte_products() {
        asm volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(C), "i"(A), "i"(B));
    }
};

using TileUnit = AmxTiles;

}  // namespace tessera::ntt
