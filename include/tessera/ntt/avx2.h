#pragma once

#include <cstdint>
#include <type_traits>

#include "tessera/ntt/vex.h"

// AVX2 with FMA: fused operations, square roots, and memory access under a mask; conversions of binary16 if
// there is F16C. By way of builtins, as in avx512.h.

namespace tessera::ntt {

inline constexpr int kRegisterBytes = 32;
inline constexpr bool kHasFma = true;
inline constexpr bool kHasScale = false;

namespace native {

// All ones in the lanes before n, n >= 0.
[[gnu::always_inline]] inline I32x8 first_8(int64_t n) {
    return I32x8{0, 1, 2, 3, 4, 5, 6, 7} < static_cast<int32_t>(n < 8 ? n : 8);
}
[[gnu::always_inline]] inline I32x4 first_4(int64_t n) {
    return I32x4{0, 1, 2, 3} < static_cast<int32_t>(n < 4 ? n : 4);
}

[[gnu::always_inline]] inline F32x8 load_between(const float* p, int64_t first, int64_t end, F32x8 rest) {
    const I32x8 mask = first_8(end) & ~first_8(first);
    const F32x8 lanes = __builtin_ia32_maskloadps256(reinterpret_cast<const F32x8*>(p), mask);
    return __builtin_ia32_blendvps256(rest, lanes, (F32x8)mask);
}
[[gnu::always_inline]] inline F32x4 load_between(const float* p, int64_t first, int64_t end, F32x4 rest) {
    const I32x4 mask = first_4(end) & ~first_4(first);
    const F32x4 lanes = __builtin_ia32_maskloadps(reinterpret_cast<const F32x4*>(p), mask);
    return __builtin_ia32_blendvps(rest, lanes, (F32x4)mask);
}

[[gnu::always_inline]] inline void store_first(float* p, F32x8 v, int64_t n) {
    __builtin_ia32_maskstoreps256(reinterpret_cast<F32x8*>(p), first_8(n), v);
}
[[gnu::always_inline]] inline void store_first(float* p, F32x4 v, int64_t n) {
    __builtin_ia32_maskstoreps(reinterpret_cast<F32x4*>(p), first_4(n), v);
}

#ifdef __F16C__
inline constexpr int kRoundToNearestEven = 0;  // _MM_FROUND_TO_NEAREST_INT

[[gnu::always_inline]] inline F32x8 widen_f16(U16x8 h) {
    return __builtin_ia32_vcvtph2ps256((I16x8)h);
}
[[gnu::always_inline]] inline float widen_f16(uint16_t h) {
    return __builtin_ia32_vcvtph2ps256(I16x8{static_cast<short>(h)})[0];
}
[[gnu::always_inline]] inline U16x8 narrow_f16(F32x8 v) {
    return (U16x8)__builtin_ia32_vcvtps2ph256(v, kRoundToNearestEven);
}
[[gnu::always_inline]] inline uint16_t narrow_f16(float v) {
    return static_cast<uint16_t>(__builtin_ia32_vcvtps2ph256(F32x8{v}, kRoundToNearestEven)[0]);
}
#endif

using I16x16 __attribute__((vector_size(32))) = short;
[[gnu::always_inline]] inline I32x8 dot_shorts(I16x16 a, I16x16 b) {
    return __builtin_ia32_pmaddwd256(a, b);
}
[[gnu::always_inline]] inline I32x4 dot_shorts(I16x8 a, I16x8 b) {
    return __builtin_ia32_pmaddwd128(a, b);
}

using Char32 __attribute__((vector_size(32))) = char;
[[gnu::always_inline]] inline I32x8 dot_byte_pairs(I32x8 a, I32x8 b) {
    return (I32x8)__builtin_ia32_pmaddubsw256((Char32)a, (Char32)b);
}
[[gnu::always_inline]] inline I32x4 dot_byte_pairs(I32x4 a, I32x4 b) {
    return (I32x4)__builtin_ia32_pmaddubsw128((Char16)a, (Char16)b);
}

using U16x16 __attribute__((vector_size(32))) = uint16_t;

// 16 bytes, each as a short.
[[gnu::always_inline]] inline U16x16 widen_bytes(const uint8_t* p) {
    using U8x16 __attribute__((vector_size(16))) = uint8_t;
    U8x16 bytes;
    __builtin_memcpy(&bytes, p, sizeof bytes);
#ifdef __clang__
    return __builtin_convertvector(bytes, U16x16);
#else
    return (U16x16)__builtin_ia32_pmovzxbw256((Char16)bytes);
#endif
}

// 32 numbers of 4 bits: a byte becomes a short, whose upper half then is moved into the upper byte.
[[gnu::always_inline]] inline I32x8 spread_quads(const uint8_t* p, std::integral_constant<int, 4>, I32x8) {
    const U16x16 shorts = widen_bytes(p);
    return (I32x8)((shorts | shorts << 4) & 0x0f0f);
}
[[gnu::always_inline]] inline I32x8 load_split(const uint8_t* p, std::integral_constant<int, 4>, I32x8& odd) {
    const U16x16 shorts = widen_bytes(p);
    odd = (I32x8)(shorts >> 4);
    return (I32x8)(shorts & 0xf);
}

// 32 numbers of 5 or 6 bits: two neighbours lie within two bytes, and each half of the register within 16.
// A shuffle brings these bytes into a short, a product each number to the top of it.
template <int B>
requires(B == 5 || B == 6) [[gnu::always_inline]] inline I32x8
    load_split(const uint8_t* p, std::integral_constant<int, B>, I32x8& odd) {
    using Words __attribute__((vector_size(16))) = long long;
    struct Tables {
        alignas(32) char bytes[32]{};
        alignas(32) uint16_t even[16]{}, odd[16]{};
    };
    static constexpr Tables kTables = [] {
        Tables tables;
        for (int i = 0; i < 16; ++i) {
            // The upper half is loaded so that it ends where the numbers do.
            const int bit = i % 8 * 2 * B, begin = i < 8 ? 0 : 16 - 2 * B;
            tables.bytes[2 * i] = static_cast<char>(begin + bit / 8);
            tables.bytes[2 * i + 1] = static_cast<char>(begin + bit / 8 + 1);
            tables.even[i] = static_cast<uint16_t>(1 << (16 - B - bit % 8));
            tables.odd[i] = static_cast<uint16_t>(1 << (16 - 2 * B - bit % 8));
        }
        return tables;
    }();
    Words low, high;
    __builtin_memcpy(&low, p, sizeof low);
    __builtin_memcpy(&high, p + 4 * B - sizeof high, sizeof high);
    Char32 bytes;
    U16x16 to_even, to_odd;
    __builtin_memcpy(&bytes, kTables.bytes, sizeof bytes);
    __builtin_memcpy(&to_even, kTables.even, sizeof to_even);
    __builtin_memcpy(&to_odd, kTables.odd, sizeof to_odd);
    const auto halves = (Char32)__builtin_shufflevector(low, high, 0, 1, 2, 3);
    const auto pairs = (U16x16)__builtin_ia32_pshufb256(halves, bytes);
    odd = (I32x8)(pairs * to_odd >> (16 - B));
    return (I32x8)(pairs * to_even >> (16 - B));
}
template <int B>
requires(B == 5 || B == 6) [[gnu::always_inline]] inline I32x8
    spread_quads(const uint8_t* p, std::integral_constant<int, B> bits, I32x8) {
    I32x8 odd;
    const I32x8 even = load_split(p, bits, odd);
    return even | odd << 8;
}

}  // namespace native
}  // namespace tessera::ntt

#ifdef __AVXVNNI__
#include "tessera/ntt/vnni.h"
#endif
