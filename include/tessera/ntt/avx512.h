#pragma once

#include <cstdint>

#include <immintrin.h>

// AVX-512 F, VL, DQ, BW: masked memory access, and what the vector extensions of GCC 12 do not reach.

namespace tessera::ntt {

inline constexpr int kRegisterBytes = 64;
inline constexpr bool kHasFma = true;

namespace native {

// The unmasked intrinsics of GCC 12 read an undefined register, which -Wuninitialized reports; a full mask
// costs nothing.
inline constexpr __mmask16 kAll = 0xffff;

[[gnu::always_inline]] inline __m512 fma(__m512 a, __m512 b, __m512 c) {
    return _mm512_fmadd_ps(a, b, c);
}
[[gnu::always_inline]] inline __m256 fma(__m256 a, __m256 b, __m256 c) {
    return _mm256_fmadd_ps(a, b, c);
}
[[gnu::always_inline]] inline __m128 fma(__m128 a, __m128 b, __m128 c) {
    return _mm_fmadd_ps(a, b, c);
}

[[gnu::always_inline]] inline __m512 sqrt(__m512 a) {
    return _mm512_maskz_sqrt_ps(kAll, a);
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

[[gnu::always_inline]] inline __m512 min(__m512 a, __m512 b) {
    return _mm512_maskz_min_ps(kAll, a, b);
}
[[gnu::always_inline]] inline __m256 min(__m256 a, __m256 b) {
    return _mm256_min_ps(a, b);
}
[[gnu::always_inline]] inline __m128 min(__m128 a, __m128 b) {
    return _mm_min_ps(a, b);
}
[[gnu::always_inline]] inline __m512 max(__m512 a, __m512 b) {
    return _mm512_maskz_max_ps(kAll, a, b);
}
[[gnu::always_inline]] inline __m256 max(__m256 a, __m256 b) {
    return _mm256_max_ps(a, b);
}
[[gnu::always_inline]] inline __m128 max(__m128 a, __m128 b) {
    return _mm_max_ps(a, b);
}

// Lanes before n; n is at least 0 and may exceed the register.
[[gnu::always_inline]] inline uint32_t first_lanes(int64_t n) {
    return n >= 16 ? 0xffffu : (1u << n) - 1u;
}

[[gnu::always_inline]] inline __m512 load_first(const float* p, int64_t n, __m512 rest) {
    return _mm512_mask_loadu_ps(rest, static_cast<__mmask16>(first_lanes(n)), p);
}
[[gnu::always_inline]] inline __m256 load_first(const float* p, int64_t n, __m256 rest) {
    return _mm256_mask_loadu_ps(rest, static_cast<__mmask8>(first_lanes(n)), p);
}
[[gnu::always_inline]] inline __m128 load_first(const float* p, int64_t n, __m128 rest) {
    return _mm_mask_loadu_ps(rest, static_cast<__mmask8>(first_lanes(n)), p);
}

using I32x16 __attribute__((vector_size(64))) = int32_t;
using I32x8 __attribute__((vector_size(32))) = int32_t;
[[gnu::always_inline]] inline I32x16 load_first(const int32_t* p, int64_t n, I32x16 rest) {
    return (I32x16)_mm512_mask_loadu_epi32((__m512i)rest, static_cast<__mmask16>(first_lanes(n)), p);
}
[[gnu::always_inline]] inline I32x8 load_first(const int32_t* p, int64_t n, I32x8 rest) {
    return (I32x8)_mm256_mask_loadu_epi32((__m256i)rest, static_cast<__mmask8>(first_lanes(n)), p);
}

[[gnu::always_inline]] inline void store_first(float* p, __m512 v, int64_t n) {
    _mm512_mask_storeu_ps(p, static_cast<__mmask16>(first_lanes(n)), v);
}
[[gnu::always_inline]] inline void store_first(float* p, __m256 v, int64_t n) {
    _mm256_mask_storeu_ps(p, static_cast<__mmask8>(first_lanes(n)), v);
}
[[gnu::always_inline]] inline void store_first(float* p, __m128 v, int64_t n) {
    _mm_mask_storeu_ps(p, static_cast<__mmask8>(first_lanes(n)), v);
}

[[gnu::always_inline]] inline void store_first(int32_t* p, I32x16 v, int64_t n) {
    _mm512_mask_storeu_epi32(p, static_cast<__mmask16>(first_lanes(n)), (__m512i)v);
}
[[gnu::always_inline]] inline void store_first(int32_t* p, I32x8 v, int64_t n) {
    _mm256_mask_storeu_epi32(p, static_cast<__mmask8>(first_lanes(n)), (__m256i)v);
}

}  // namespace native
}  // namespace tessera::ntt
