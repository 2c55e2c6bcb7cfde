#pragma once

// Dot products of narrow numbers, where the machine has them beside AVX-512 F, VL, DQ, BW. Included by
// avx512.h.

namespace tessera::ntt::native {

#ifdef __AVX512BF16__
// sum + a * b of the odd numbers of the pairs, then of the even ones (VDPBF16PS).
[[gnu::always_inline]] inline F32x16 dot_pairs(F32x16 sum, I32x16 a, I32x16 b) {
#ifdef __clang__
    return __builtin_ia32_dpbf16ps_512(sum, a, b);
#else
    return __builtin_ia32_dpbf16ps_v16sf(sum, (I16x32)a, (I16x32)b);
#endif
}
[[gnu::always_inline]] inline F32x8 dot_pairs(F32x8 sum, I32x8 a, I32x8 b) {
#ifdef __clang__
    return __builtin_ia32_dpbf16ps_256(sum, a, b);
#else
    return __builtin_ia32_dpbf16ps_v8sf(sum, (I16x16)a, (I16x16)b);
#endif
}
// The nearest bf16, but 0 for numbers below 2^-126 (VCVTNEPS2BF16).
[[gnu::always_inline]] inline U16x16 narrow_bf16_or_flush(F32x16 v) {
#ifdef __clang__
    return (U16x16)__builtin_ia32_cvtneps2bf16_512_mask(v, I16x16{}, kAll);
#else
    return (U16x16)__builtin_ia32_cvtneps2bf16_v16sf(v);
#endif
}
#endif

#ifdef __AVX512VNNI__
// sum + a * b of four bytes, those of a unsigned, those of b signed (VPDPBUSD).
[[gnu::always_inline]] inline I32x16 dot_quads(I32x16 sum, I32x16 a, I32x16 b) {
#ifdef __clang__
    return __builtin_ia32_vpdpbusd512(sum, a, b);
#else
    return __builtin_ia32_vpdpbusd_v16si(sum, a, b);
#endif
}
// sum + a * b of two shorts (VPDPWSSD).
[[gnu::always_inline]] inline I32x16 add_dot_shorts(I32x16 sum, I16x32 a, I16x32 b) {
#ifdef __clang__
    return __builtin_ia32_vpdpwssd512(sum, (I32x16)a, (I32x16)b);
#else
    return __builtin_ia32_vpdpwssd_v16si(sum, (I32x16)a, (I32x16)b);
#endif
}
#endif

#ifdef __AVX512VBMI__
// 64 numbers of B bits are B words. Word i of the register gets the bytes that hold the numbers 8*i to 8*i +
// 7, and each byte of it the eight bits that begin with its number.
template <int B>
[[gnu::always_inline]] inline I32x16 spread_quads(const uint8_t* p, std::integral_constant<int, B>, I32x16) {
    using Char64 __attribute__((vector_size(64))) = char;
    using I64x8 __attribute__((vector_size(64))) = long long;
    using U64x8 __attribute__((vector_size(64))) = uint64_t;
    constexpr uint64_t kFirstEight = 0x0706050403020100, kEach = 0x0101010101010101;
    const auto indices = (Char64)(U64x8{0, 1, 2, 3, 4, 5, 6, 7} * (B * kEach) + kFirstEight);
    const auto shifts = (Char64)(U64x8{} + B * kFirstEight);
    const auto words = (Char64)__builtin_ia32_loaddqudi512_mask(Address(p), I64x8{}, (1 << B) - 1);
#ifdef __clang__
    const Char64 bytes = __builtin_ia32_permvarqi512(words, indices);
    const Char64 numbers = __builtin_ia32_vpmultishiftqb512(shifts, bytes);
#else
    constexpr uint64_t kAllBytes = ~uint64_t{0};
    const Char64 bytes = __builtin_ia32_permvarqi512_mask(words, indices, Char64{}, kAllBytes);
    const Char64 numbers = __builtin_ia32_vpmultishiftqb512_mask(shifts, bytes, Char64{}, kAllBytes);
#endif
    return (I32x16)(numbers & static_cast<char>((1 << B) - 1));
}
#endif

}  // namespace tessera::ntt::native

#ifdef __AVX512VNNI__
#include "tessera/ntt/vnni.h"
#endif
