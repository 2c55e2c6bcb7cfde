#pragma once

#include "tessera/ntt/arithmetic.h"
#include "tessera/ntt/pairs.h"
#include "tessera/ntt/storage.h"
#include "tessera/ntt/tile_configuration.h"

namespace tessera::ntt {

/// Eight tiles in memory, with the operations of AMX in plain loops (Intel, Instruction Set Extensions,
/// TDPBF16PS):
///
///     for each m:  even[n] = odd[n] = 0
///                  for each pair of k:  even[n] += A[m, k] * B[n, k]
///                                       odd[n] += A[m, k + 1] * B[n, k + 1]
///                  C[m, n] += even[n] + odd[n]
///
/// Each product is added by one fused multiply-add, to nearest. Numbers and results below 2^-126 in magnitude
/// count as 0 with their sign. Without FMA (kHasFma) a product is rounded before it is added; its 16 digits
/// always fit, so the bits are the same as long as no product but 0 is outside of [2^-126, 2^128).
///
/// Products of bytes are added modulo 2^32 (TDPBSSD).
class EmulatedTiles {
public:
    void configure(const TileConfiguration& configuration) {
        configuration_ = configuration;
        __builtin_memset(tiles_, 0, sizeof tiles_);
    }
    void release() { configure({}); }

    template <int Tile>
    void zero() {
        __builtin_memset(tiles_[Tile], 0, sizeof tiles_[Tile]);
    }
    template <int Tile>
    void load(const void* first, int64_t stride) {
        zero<Tile>();
        for (int row = 0; row < configuration_.rows[Tile]; ++row)
            __builtin_memcpy(tiles_[Tile][row], static_cast<const uint8_t*>(first) + row * stride,
                             configuration_.row_bytes[Tile]);
    }
    template <int Tile>
    void store(void* first, int64_t stride) const {
        for (int row = 0; row < configuration_.rows[Tile]; ++row)
            __builtin_memcpy(static_cast<uint8_t*>(first) + row * stride, tiles_[Tile][row],
                             configuration_.row_bytes[Tile]);
    }
    template <int C, int A, int B>
    void add_products() {
        add_products(tiles_[C], tiles_[A], tiles_[B], configuration_.rows[C],
                     configuration_.row_bytes[A] / 4);
    }
    template <int C, int A, int B>
    void add_byte_products() {
        add_byte_products(tiles_[C], tiles_[A], tiles_[B], configuration_.rows[C],
                          configuration_.row_bytes[A] / 4);
    }

private:
    using Row = uint8_t[kTileRowBytes];
    using V = Vector<float, kTileRowBytes / 4>;

    static V flushed(V v) { return select(abs(v) < 0x1p-126f, v * 0.0f, v); }

    template <class T>
    static T read(const uint8_t* p) {
        T value;
        __builtin_memcpy(&value, p, sizeof value);
        return value;
    }

    [[gnu::noinline]] static void add_products(Row* c, const Row* a, const Row* b, int rows, int pairs) {
        V b_even[kTileRows], b_odd[kTileRows];
        for (int k = 0; k < pairs; ++k) {
            const auto b_pairs = read<PairsOf<V>>(b[k]);
            b_even[k] = flushed(widen_even(b_pairs));
            b_odd[k] = flushed(widen_odd(b_pairs));
        }
        for (int m = 0; m < rows; ++m) {
            V even = broadcast<V>(0.0f), odd = even;
            for (int k = 0; k < pairs; ++k) {
                const auto a_pair = broadcast<PairsOf<V>>(read<int32_t>(a[m] + 4 * k));
                even = flushed(fma(flushed(widen_even(a_pair)), b_even[k], even));
                odd = flushed(fma(flushed(widen_odd(a_pair)), b_odd[k], odd));
            }
            const V sum = flushed(flushed(read<V>(c[m])) + flushed(even + odd));
            __builtin_memcpy(c[m], &sum, sizeof sum);
        }
    }

    [[gnu::noinline]] static void add_byte_products(Row* c, const Row* a, const Row* b, int rows, int quads) {
        for (int m = 0; m < rows; ++m) {
            for (int n = 0; n < kTileRowBytes / 4; ++n) {
                auto sum = read<uint32_t>(c[m] + 4 * n);
                for (int k = 0; k < 4 * quads; ++k) {
                    const int32_t product = read<int8_t>(a[m] + k) * read<int8_t>(b[k / 4] + 4 * n + k % 4);
                    sum += static_cast<uint32_t>(product);
                }
                __builtin_memcpy(c[m] + 4 * n, &sum, sizeof sum);
            }
        }
    }

    TileConfiguration configuration_;
    alignas(64) Row tiles_[kTiles][kTileRows];
};

}  // namespace tessera::ntt
