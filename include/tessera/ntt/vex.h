#pragma once

#include <cstdint>

// Registers of 16 and 32 bytes on processors with AVX2 and FMA: the instructions that avx2.h and avx512.h
// share. By way of builtins, as in avx512.h.

namespace tessera::ntt::native {

using F32x8 __attribute__((vector_size(32))) = float;
using F32x4 __attribute__((vector_size(16))) = float;
using I32x8 __attribute__((vector_size(32))) = int32_t;
using I32x4 __attribute__((vector_size(16))) = int32_t;
using I16x8 __attribute__((vector_size(16))) = short;
using U16x8 __attribute__((vector_size(16))) = uint16_t;
using I8x8 __attribute__((vector_size(8))) = int8_t;
using U8x8 __attribute__((vector_size(8))) = uint8_t;
using Char16 __attribute__((vector_size(16))) = char;

[[gnu::always_inline]] inline F32x8 fma(F32x8 a, F32x8 b, F32x8 c) {
    return __builtin_ia32_vfmaddps256(a, b, c);
}
[[gnu::always_inline]] inline F32x4 fma(F32x4 a, F32x4 b, F32x4 c) {
    return __builtin_ia32_vfmaddps(a, b, c);
}

[[gnu::always_inline]] inline F32x8 sqrt(F32x8 a) {
    return __builtin_ia32_sqrtps256(a);
}
[[gnu::always_inline]] inline F32x4 sqrt(F32x4 a) {
    return __builtin_ia32_sqrtps(a);
}
[[gnu::always_inline]] inline float sqrt(float a) {
    return __builtin_ia32_sqrtss(F32x4{a, 0, 0, 0})[0];
}

[[gnu::always_inline]] inline F32x8 min_or_second(F32x8 a, F32x8 b) {
    return __builtin_ia32_minps256(a, b);
}
[[gnu::always_inline]] inline F32x4 min_or_second(F32x4 a, F32x4 b) {
    return __builtin_ia32_minps(a, b);
}
[[gnu::always_inline]] inline F32x8 max_or_second(F32x8 a, F32x8 b) {
    return __builtin_ia32_maxps256(a, b);
}
[[gnu::always_inline]] inline F32x4 max_or_second(F32x4 a, F32x4 b) {
    return __builtin_ia32_maxps(a, b);
}

// Eight bytes as the lower half of a register, which the conversions to eight lanes read.
template <class R>
[[gnu::always_inline]] inline Char16 as_lower_half(R v) {
    using Words __attribute__((vector_size(16))) = long long;
    return (Char16)Words{__builtin_bit_cast(long long, v), 0};
}

#ifndef __clang__
// GCC 12 widens vectors of bytes one by one, and shorts in halves.
[[gnu::always_inline]] inline I32x8 widen_integer(I8x8 v) {
    return __builtin_ia32_pmovsxbd256(as_lower_half(v));
}
[[gnu::always_inline]] inline I32x8 widen_integer(U8x8 v) {
    return __builtin_ia32_pmovzxbd256(as_lower_half(v));
}
[[gnu::always_inline]] inline I32x8 widen_integer(I16x8 v) {
    return __builtin_ia32_pmovsxwd256(v);
}
[[gnu::always_inline]] inline I32x8 widen_integer(U16x8 v) {
    return __builtin_ia32_pmovzxwd256((I16x8)v);
}
#endif

}  // namespace tessera::ntt::native
