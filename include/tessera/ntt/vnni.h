#pragma once

// VPDPBUSD and VPDPWSSD of 256 and 128 bits, which AVX-VNNI and AVX-512 VNNI with VL both have. Included by
// avx2.h and avx512_dot.h.

namespace tessera::ntt::native {

// sum + a * b of four bytes, those of a unsigned, those of b signed.
[[gnu::always_inline]] inline I32x8 dot_quads(I32x8 sum, I32x8 a, I32x8 b) {
#ifdef __clang__
    return __builtin_ia32_vpdpbusd256(sum, a, b);
#else
    return __builtin_ia32_vpdpbusd_v8si(sum, a, b);
#endif
}
[[gnu::always_inline]] inline I32x4 dot_quads(I32x4 sum, I32x4 a, I32x4 b) {
#ifdef __clang__
    return __builtin_ia32_vpdpbusd128(sum, a, b);
#else
    return __builtin_ia32_vpdpbusd_v4si(sum, a, b);
#endif
}

// sum + a * b of two shorts.
[[gnu::always_inline]] inline I32x8 add_dot_shorts(I32x8 sum, I16x16 a, I16x16 b) {
#ifdef __clang__
    return __builtin_ia32_vpdpwssd256(sum, (I32x8)a, (I32x8)b);
#else
    return __builtin_ia32_vpdpwssd_v8si(sum, (I32x8)a, (I32x8)b);
#endif
}
[[gnu::always_inline]] inline I32x4 add_dot_shorts(I32x4 sum, I16x8 a, I16x8 b) {
#ifdef __clang__
    return __builtin_ia32_vpdpwssd128(sum, (I32x4)a, (I32x4)b);
#else
    return __builtin_ia32_vpdpwssd_v4si(sum, (I32x4)a, (I32x4)b);
#endif
}

}  // namespace tessera::ntt::native
