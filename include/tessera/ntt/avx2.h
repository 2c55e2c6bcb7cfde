#pragma once

#include <cstdint>

#include <immintrin.h>

// AVX2 with FMA: fused operations, square roots, and memory access under a mask.

namespace tessera::ntt {

inline constexpr int kRegisterBytes = 32;
inline constexpr bool kHasFma = true;

namespace native {

[[gnu::always_inline]] inline __m256 fma(__m256 a, __m256 b, __m256 c) {
    return _mm256_fmadd_ps(a, b, c);
}
[[gnu::always_inline]] inline __m128 fma(__m128 a, __m128 b, __m128 c) {
    return _mm_fmadd_ps(a, b, c);
}

[[gnu::always_inline]] inline __m256 sqrt(__m256 a) {
    return _mm256_sqrt_ps(a);
}
[[gnu::always_inline]] inline __m128 sqrt(__m128 a) {
    return _mm_sqrt_ps(a);
}
[[gnu::always_inline]] inline float sqrt(float a) {
    return _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(a)));
}

[[gnu::always_inline]] inline __m256 min(__m256 a, __m256 b) {
    return _mm256_min_ps(a, b);
}
[[gnu::always_inline]] inline __m128 min(__m128 a, __m128 b) {
    return _mm_min_ps(a, b);
}
[[gnu::always_inline]] inline __m256 max(__m256 a, __m256 b) {
    return _mm256_max_ps(a, b);
}
[[gnu::always_inline]] inline __m128 max(__m128 a, __m128 b) {
    return _mm_max_ps(a, b);
}

// All ones in the lanes before n, n >= 0.
[[gnu::always_inline]] inline __m256i first_8(int64_t n) {
    const __m256i count = _mm256_set1_epi32(static_cast<int>(n < 8 ? n : 8));
    return _mm256_cmpgt_epi32(count, _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
[[gnu::always_inline]] inline __m128i first_4(int64_t n) {
    const __m128i count = _mm_set1_epi32(static_cast<int>(n < 4 ? n : 4));
    return _mm_cmpgt_epi32(count, _mm_setr_epi32(0, 1, 2, 3));
}

[[gnu::always_inline]] inline __m256 load_first(const float* p, int64_t n, __m256 rest) {
    const __m256i mask = first_8(n);
    return _mm256_blendv_ps(rest, _mm256_maskload_ps(p, mask), _mm256_castsi256_ps(mask));
}
[[gnu::always_inline]] inline __m128 load_first(const float* p, int64_t n, __m128 rest) {
    const __m128i mask = first_4(n);
    return _mm_blendv_ps(rest, _mm_maskload_ps(p, mask), _mm_castsi128_ps(mask));
}

[[gnu::always_inline]] inline void store_first(float* p, __m256 v, int64_t n) {
    _mm256_maskstore_ps(p, first_8(n), v);
}
[[gnu::always_inline]] inline void store_first(float* p, __m128 v, int64_t n) {
    _mm_maskstore_ps(p, first_4(n), v);
}

}  // namespace native
}  // namespace tessera::ntt
