#include "compiler/bench/peak_loop.h"

#include <cstddef>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#else
#error "Tessera runs on x86-64 and AArch64"
#endif

namespace tessera::benchmark {
namespace {

// A factor just below one and the rest of it: sums tend to one, so none overflows or becomes slowly small.
constexpr float kFactor = 0.999F;

double operations(size_t sums, size_t lanes) {
    return 2 * static_cast<double>(sums * lanes);
}

#if defined(__x86_64__)

// A multiply-add takes 4 or 5 cycles and at most two start in a cycle: 12 sums keep both units busy, and with
// the two factors they fit into the 16 registers of AVX2. The indices are constants, so that every sum is a
// register at any level of optimisation.
using Sums = std::make_index_sequence<12>;

template <size_t... i>
[[gnu::target("avx512f")]] float avx512(int64_t rounds, std::index_sequence<i...>) {
    const __m512 a = _mm512_set1_ps(kFactor), b = _mm512_set1_ps(1 - kFactor);
    __m512 s[] = {_mm512_set1_ps(static_cast<float>(i))...};
    for (int64_t r = 0; r < rounds; ++r) ((s[i] = _mm512_fmadd_ps(s[i], a, b)), ...);
    return (s[i] + ...)[0];
}

template <size_t... i>
[[gnu::target("avx2,fma")]] float avx2(int64_t rounds, std::index_sequence<i...>) {
    const __m256 a = _mm256_set1_ps(kFactor), b = _mm256_set1_ps(1 - kFactor);
    __m256 s[] = {_mm256_set1_ps(static_cast<float>(i))...};
    for (int64_t r = 0; r < rounds; ++r) ((s[i] = _mm256_fmadd_ps(s[i], a, b)), ...);
    return (s[i] + ...)[0];
}

// Without a fused instruction a multiplication and an addition are two, and SSE2 is what every CPU has.
template <size_t... i>
float sse2(int64_t rounds, std::index_sequence<i...>) {
    const __m128 a = _mm_set1_ps(kFactor), b = _mm_set1_ps(1 - kFactor);
    __m128 s[] = {_mm_set1_ps(static_cast<float>(i))...};
    for (int64_t r = 0; r < rounds; ++r) ((s[i] = _mm_add_ps(_mm_mul_ps(s[i], a), b)), ...);
    return (s[i] + ...)[0];
}

#else

// Up to four multiply-adds of 4 cycles start in a cycle.
using Sums = std::make_index_sequence<20>;

template <size_t... i>
float neon(int64_t rounds, std::index_sequence<i...>) {
    const float32x4_t a = vdupq_n_f32(kFactor), b = vdupq_n_f32(1 - kFactor);
    float32x4_t s[] = {vdupq_n_f32(static_cast<float>(i))...};
    for (int64_t r = 0; r < rounds; ++r) ((s[i] = vfmaq_f32(b, s[i], a)), ...);
    return (s[i] + ...)[0];
}

#endif

}  // namespace

PeakLoop peak_loop() {
    constexpr size_t kSums = Sums::size();
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f"))
        return {[](int64_t rounds) { return avx512(rounds, Sums()); }, operations(kSums, 16)};
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return {[](int64_t rounds) { return avx2(rounds, Sums()); }, operations(kSums, 8)};
    return {[](int64_t rounds) { return sse2(rounds, Sums()); }, operations(kSums, 4)};
#else
    return {[](int64_t rounds) { return neon(rounds, Sums()); }, operations(kSums, 4)};
#endif
}

}  // namespace tessera::benchmark
