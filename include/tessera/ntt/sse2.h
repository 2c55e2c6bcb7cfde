#pragma once

#include <xmmintrin.h>

// Plain x86-64. There is no fused multiply-add: fma(a, b, c) is a * b + c, rounded twice.

namespace tessera::ntt {

inline constexpr int kRegisterBytes = 16;
inline constexpr bool kHasFma = false;
inline constexpr bool kHasScale = false;

namespace native {

[[gnu::always_inline]] inline __m128 sqrt(__m128 a) {
    return _mm_sqrt_ps(a);
}
[[gnu::always_inline]] inline float sqrt(float a) {
    return _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(a)));
}

[[gnu::always_inline]] inline __m128 min_or_second(__m128 a, __m128 b) {
    return _mm_min_ps(a, b);
}
[[gnu::always_inline]] inline __m128 max_or_second(__m128 a, __m128 b) {
    return _mm_max_ps(a, b);
}

using I32x4 __attribute__((vector_size(16))) = int;
using I16x8 __attribute__((vector_size(16))) = short;
[[gnu::always_inline]] inline I32x4 dot_shorts(I16x8 a, I16x8 b) {
    return __builtin_ia32_pmaddwd128(a, b);
}

}  // namespace native
}  // namespace tessera::ntt
