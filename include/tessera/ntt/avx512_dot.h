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
#endif

}  // namespace tessera::ntt::native
