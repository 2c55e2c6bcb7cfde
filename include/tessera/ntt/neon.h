#pragma once

#include <arm_neon.h>

// AArch64.

namespace tessera::ntt {

inline constexpr int kRegisterBytes = 16;
inline constexpr bool kHasFma = true;
inline constexpr bool kHasScale = false;

namespace native {

[[gnu::always_inline]] inline float32x4_t fma(float32x4_t a, float32x4_t b, float32x4_t c) {
    return vfmaq_f32(c, a, b);
}
[[gnu::always_inline]] inline float32x2_t fma(float32x2_t a, float32x2_t b, float32x2_t c) {
    return vfma_f32(c, a, b);
}
// FMIN and FMAX keep NaN, and order zeros by their signs: of equal numbers the first is chosen before.
[[gnu::always_inline]] inline float32x4_t min(float32x4_t a, float32x4_t b) {
    return vbslq_f32(vcleq_f32(a, b), a, vminq_f32(a, b));
}
[[gnu::always_inline]] inline float32x4_t max(float32x4_t a, float32x4_t b) {
    return vbslq_f32(vcgeq_f32(a, b), a, vmaxq_f32(a, b));
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

using I32x4 __attribute__((vector_size(16))) = int32_t;
using F32x4 __attribute__((vector_size(16))) = float;
using I16x4 __attribute__((vector_size(8))) = int16_t;
using U16x4 __attribute__((vector_size(8))) = uint16_t;
using I8x4 __attribute__((vector_size(4))) = int8_t;
using U8x4 __attribute__((vector_size(4))) = uint8_t;

[[gnu::always_inline]] inline F32x4 widen_f16(U16x4 h) {
    return (F32x4)vcvt_f32_f16((float16x4_t)h);
}
[[gnu::always_inline]] inline float widen_f16(uint16_t h) {
    return vgetq_lane_f32(vcvt_f32_f16((float16x4_t)U16x4{h}), 0);
}
[[gnu::always_inline]] inline U16x4 narrow_f16(F32x4 v) {
    return (U16x4)vcvt_f16_f32((float32x4_t)v);
}
[[gnu::always_inline]] inline uint16_t narrow_f16(float v) {
    return ((U16x4)vcvt_f16_f32(vdupq_n_f32(v)))[0];
}

// GCC 12 widens vectors of bytes and half registers one by one.
[[gnu::always_inline]] inline I32x4 widen_integer(I16x4 v) {
    return (I32x4)vmovl_s16((int16x4_t)v);
}
[[gnu::always_inline]] inline I32x4 widen_integer(U16x4 v) {
    return (I32x4)vmovl_u16((uint16x4_t)v);
}
[[gnu::always_inline]] inline I32x4 widen_integer(I8x4 v) {
    const auto bytes = (int8x8_t)(uint64_t{__builtin_bit_cast(uint32_t, v)});
    return (I32x4)vmovl_s16(vget_low_s16(vmovl_s8(bytes)));
}
[[gnu::always_inline]] inline I32x4 widen_integer(U8x4 v) {
    const auto bytes = (uint8x8_t)(uint64_t{__builtin_bit_cast(uint32_t, v)});
    return (I32x4)vmovl_u16(vget_low_u16(vmovl_u8(bytes)));
}

// sum + a * b of four bytes, those of a unsigned, those of b signed.
[[gnu::always_inline]] inline I32x4 dot_quads(I32x4 sum, I32x4 a, I32x4 b) {
#ifdef __ARM_FEATURE_MATMUL_INT8
    return (I32x4)vusdotq_s32((int32x4_t)sum, (uint8x16_t)a, (int8x16_t)b);
#else
    // The even bytes as shorts, and the odd ones; then each long sum is of one half of a quad.
    const auto a_even = (int16x8_t)a & vdupq_n_s16(0xff);
    const auto a_odd = (int16x8_t)vshrq_n_u16((uint16x8_t)a, 8);
    const auto b_even = vshrq_n_s16(vshlq_n_s16((int16x8_t)b, 8), 8);
    const auto b_odd = vshrq_n_s16((int16x8_t)b, 8);
    const auto low = vmlal_s16(vmull_s16(vget_low_s16(a_even), vget_low_s16(b_even)), vget_low_s16(a_odd),
                               vget_low_s16(b_odd));
    const auto high = vmlal_high_s16(vmull_high_s16(a_even, b_even), a_odd, b_odd);
    return sum + (I32x4)vpaddq_s32(low, high);
#endif
}

}  // namespace native
}  // namespace tessera::ntt
