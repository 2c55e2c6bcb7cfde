#pragma once

#include <cstdint>

namespace tessera::ntt {

// A matrix unit has eight tiles. A tile is up to 16 rows of up to 64 bytes; its numbers of both are
// configured, and numbers beyond them are 0. Products of bf16 take the numbers in pairs of k, those of signed
// bytes in quads (Intel, Instruction Set Extensions, chapter 3):
//
//     A  row m:     A[m, 0] A[m, 1] A[m, 2] ..
//     B  row k/2:   B[0, k] B[0, k + 1] B[1, k] B[1, k + 1] ..
//        or k/4:    B[0, k] .. B[0, k + 3] B[1, k] ..
//     C  row m:     C[m, 0] C[m, 1] ..   of F32, or of int32

inline constexpr int kTiles = 8;
inline constexpr int kTileRows = 16;
inline constexpr int kTileRowBytes = 64;

/// The operand of LDTILECFG, in its layout.
struct alignas(64) TileConfiguration {
    uint8_t palette = 1;
    uint8_t start_row = 0;
    uint8_t reserved[14] = {};
    uint16_t row_bytes[16] = {};  ///< by tile; multiples of 4
    uint8_t rows[16] = {};        ///< by tile; 0: it is not used

    constexpr void set(int tile, int64_t tile_rows, int64_t bytes) {
        rows[tile] = static_cast<uint8_t>(tile_rows);
        row_bytes[tile] = static_cast<uint16_t>(bytes);
    }
};
static_assert(sizeof(TileConfiguration) == 64);

}  // namespace tessera::ntt
