#pragma once

// VPDPBUSD of 256 and 128 bits, which AVX-VNNI and AVX-512 VNNI with VL both have. Included by avx2.h and
// avx512_dot.h.

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

}  // namespace tessera::ntt::native
