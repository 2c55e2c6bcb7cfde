#pragma once

#include <arm_neon.h>

// AArch64. Minimum and maximum stay with the portable form: vminq and vmaxq give NaN where the others give
// the second operand.

namespace tessera::ntt {

inline constexpr int kRegisterBytes = 16;
inline constexpr bool kHasFma = true;

namespace native {

[[gnu::always_inline]] inline float32x4_t fma(float32x4_t a, float32x4_t b, float32x4_t c) {
    return vfmaq_f32(c, a, b);
}
[[gnu::always_inline]] inline float32x2_t fma(float32x2_t a, float32x2_t b, float32x2_t c) {
    return vfma_f32(c, a, b);
}
[[gnu::always_inline]] inline float32x4_t sqrt(float32x4_t a) {
    return vsqrtq_f32(a);
}
[[gnu::always_inline]] inline float32x2_t sqrt(float32x2_t a) {
    return vsqrt_f32(a);
}
[[gnu::always_inline]] inline float sqrt(float a) {
    return vget_lane_f32(vsqrt_f32(vdup_n_f32(a)), 0);
}

}  // namespace native
}  // namespace tessera::ntt
