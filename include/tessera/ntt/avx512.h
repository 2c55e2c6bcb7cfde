#pragma once

#include <cstdint>
#include <type_traits>

#include "tessera/ntt/vex.h"

// AVX-512 F, VL, DQ, BW: masked memory access, and instructions that the vector extensions of GCC 12 do not
// reach. By way of builtins: <immintrin.h> alone takes six times as long to compile as all of NTT. Where
// Clang lacks a builtin of GCC, it compiles the portable form of register.h well.

namespace tessera::ntt {

inline constexpr int kRegisterBytes = 64;
inline constexpr bool kHasFma = true;
inline constexpr bool kHasScale = true;  // by powers of two, in one instruction

namespace native {

using F32x16 __attribute__((vector_size(64))) = float;
using I32x16 __attribute__((vector_size(64))) = int32_t;
using U16x16 __attribute__((vector_size(32))) = uint16_t;
using I16x32 __attribute__((vector_size(64))) = short;
using I16x16 __attribute__((vector_size(32))) = short;
using U8x16 __attribute__((vector_size(16))) = uint8_t;
using I8x16 __attribute__((vector_size(16))) = int8_t;

inline constexpr uint16_t kAll = 0xffff;       // a mask of all lanes
inline constexpr int kCurrentRounding = 4;     // _MM_FROUND_CUR_DIRECTION
inline constexpr int kRoundToNearestEven = 0;  // _MM_FROUND_TO_NEAREST_INT

[[gnu::always_inline]] inline F32x16 fma(F32x16 a, F32x16 b, F32x16 c) {
    return __builtin_ia32_vfmaddps512_mask(a, b, c, kAll, kCurrentRounding);
}
#ifndef __clang__
[[gnu::always_inline]] inline F32x16 sqrt(F32x16 a) {
    return __builtin_ia32_sqrtps512_mask(a, a, kAll, kCurrentRounding);
}
[[gnu::always_inline]] inline F32x16 min_or_second(F32x16 a, F32x16 b) {
    return __builtin_ia32_minps512_mask(a, b, a, kAll, kCurrentRounding);
}
[[gnu::always_inline]] inline F32x16 max_or_second(F32x16 a, F32x16 b) {
    return __builtin_ia32_maxps512_mask(a, b, a, kAll, kCurrentRounding);
}
#endif

// a * 2^b for whole b, rounded once.
[[gnu::always_inline]] inline F32x16 scale(F32x16 a, F32x16 b) {
    return __builtin_ia32_scalefps512_mask(a, b, a, kAll, kCurrentRounding);
}
[[gnu::always_inline]] inline F32x8 scale(F32x8 a, F32x8 b) {
    return __builtin_ia32_scalefps256_mask(a, b, a, static_cast<uint8_t>(kAll));
}
[[gnu::always_inline]] inline F32x4 scale(F32x4 a, F32x4 b) {
    return __builtin_ia32_scalefps128_mask(a, b, a, static_cast<uint8_t>(kAll));
}
[[gnu::always_inline]] inline float scale(float a, float b) {
    return scale(F32x4{a, 0, 0, 0}, F32x4{b, 0, 0, 0})[0];
}

// Lanes before n; n is at least 0 and may exceed the register.
[[gnu::always_inline]] inline uint16_t first_lanes(int64_t n) {
    return static_cast<uint16_t>(n >= 16 ? 0xffffu : (1u << n) - 1u);
}
[[gnu::always_inline]] inline uint16_t lanes_between(int64_t first, int64_t end) {
    return static_cast<uint16_t>(first_lanes(end) & ~first_lanes(first));
}

// The address argument of a builtin, which is a pointer to elements for GCC and one to a vector for Clang.
struct Address {
    void* at;
    explicit Address(const void* p) : at(const_cast<void*>(p)) {}
    template <class T>
    operator T*() const {
        return static_cast<T*>(at);
    }
};

[[gnu::always_inline]] inline F32x16 load_between(const float* p, int64_t first, int64_t end, F32x16 rest) {
    return __builtin_ia32_loadups512_mask(Address(p), rest, lanes_between(first, end));
}
[[gnu::always_inline]] inline F32x8 load_between(const float* p, int64_t first, int64_t end, F32x8 rest) {
    return __builtin_ia32_loadups256_mask(Address(p), rest, static_cast<uint8_t>(lanes_between(first, end)));
}
[[gnu::always_inline]] inline F32x4 load_between(const float* p, int64_t first, int64_t end, F32x4 rest) {
    return __builtin_ia32_loadups128_mask(Address(p), rest, static_cast<uint8_t>(lanes_between(first, end)));
}
[[gnu::always_inline]] inline I32x16 load_between(const int32_t* p, int64_t first, int64_t end, I32x16 rest) {
    return __builtin_ia32_loaddqusi512_mask(Address(p), rest, lanes_between(first, end));
}
[[gnu::always_inline]] inline I32x8 load_between(const int32_t* p, int64_t first, int64_t end, I32x8 rest) {
    return __builtin_ia32_loaddqusi256_mask(Address(p), rest,
                                            static_cast<uint8_t>(lanes_between(first, end)));
}

[[gnu::always_inline]] inline void store_first(float* p, F32x16 v, int64_t n) {
    __builtin_ia32_storeups512_mask(Address(p), v, first_lanes(n));
}
[[gnu::always_inline]] inline void store_first(float* p, F32x8 v, int64_t n) {
    __builtin_ia32_storeups256_mask(Address(p), v, static_cast<uint8_t>(first_lanes(n)));
}
[[gnu::always_inline]] inline void store_first(float* p, F32x4 v, int64_t n) {
    __builtin_ia32_storeups128_mask(Address(p), v, static_cast<uint8_t>(first_lanes(n)));
}
[[gnu::always_inline]] inline void store_first(int32_t* p, I32x16 v, int64_t n) {
    __builtin_ia32_storedqusi512_mask(Address(p), v, first_lanes(n));
}
[[gnu::always_inline]] inline void store_first(int32_t* p, I32x8 v, int64_t n) {
    __builtin_ia32_storedqusi256_mask(Address(p), v, static_cast<uint8_t>(first_lanes(n)));
}

// Binary16, which AVX-512 F and VL convert without F16C.
[[gnu::always_inline]] inline F32x16 widen_f16(U16x16 h) {
    return __builtin_ia32_vcvtph2ps512_mask((I16x16)h, F32x16{}, kAll, kCurrentRounding);
}
[[gnu::always_inline]] inline F32x8 widen_f16(U16x8 h) {
    return __builtin_ia32_vcvtph2ps256_mask((I16x8)h, F32x8{}, 0xff);
}
[[gnu::always_inline]] inline float widen_f16(uint16_t h) {
    return __builtin_ia32_vcvtph2ps_mask(I16x8{static_cast<short>(h)}, F32x4{}, 0xff)[0];
}
[[gnu::always_inline]] inline U16x16 narrow_f16(F32x16 v) {
    return (U16x16)__builtin_ia32_vcvtps2ph512_mask(v, kRoundToNearestEven, I16x16{}, kAll);
}
[[gnu::always_inline]] inline U16x8 narrow_f16(F32x8 v) {
    return (U16x8)__builtin_ia32_vcvtps2ph256_mask(v, kRoundToNearestEven, I16x8{}, 0xff);
}
[[gnu::always_inline]] inline uint16_t narrow_f16(float v) {
    return static_cast<uint16_t>(
        __builtin_ia32_vcvtps2ph_mask(F32x4{v, 0, 0, 0}, kRoundToNearestEven, I16x8{}, 0xff)[0]);
}

#ifndef __clang__
// GCC 12 widens vectors of bytes one by one, and shorts in halves.
[[gnu::always_inline]] inline I32x16 widen_integer(I8x16 v) {
    return __builtin_ia32_pmovsxbd512_mask((Char16)v, I32x16{}, kAll);
}
[[gnu::always_inline]] inline I32x16 widen_integer(U8x16 v) {
    return __builtin_ia32_pmovzxbd512_mask((Char16)v, I32x16{}, kAll);
}
[[gnu::always_inline]] inline I32x16 widen_integer(I16x16 v) {
    return __builtin_ia32_pmovsxwd512_mask(v, I32x16{}, kAll);
}
[[gnu::always_inline]] inline I32x16 widen_integer(U16x16 v) {
    return __builtin_ia32_pmovzxwd512_mask((I16x16)v, I32x16{}, kAll);
}

// Lane i is source[index[i]], or anything where index[i] >= 8.
[[gnu::always_inline]] inline I16x32 permute_shorts(I16x8 source, I16x32 index) {
    const auto wide = (I16x32)__builtin_ia32_si512_si((I32x4)source);
    return __builtin_ia32_permvarhi512_mask(wide, index, wide, 0xffffffffu);
}
#endif

[[gnu::always_inline]] inline I32x16 dot_shorts(I16x32 a, I16x32 b) {
#ifdef __clang__
    return __builtin_ia32_pmaddwd512(a, b);
#else
    return __builtin_ia32_pmaddwd512_mask(a, b, I32x16{}, kAll);
#endif
}
[[gnu::always_inline]] inline I32x8 dot_shorts(I16x16 a, I16x16 b) {
    return __builtin_ia32_pmaddwd256(a, b);
}
[[gnu::always_inline]] inline I32x4 dot_shorts(I16x8 a, I16x8 b) {
    return __builtin_ia32_pmaddwd128(a, b);
}

// 64 numbers of 4 bits: a byte becomes a short, whose upper half then is moved into the upper byte.
[[gnu::always_inline]] inline I32x16 spread_quads(const uint8_t* p, std::integral_constant<int, 4>, I32x16) {
    using U8x32 __attribute__((vector_size(32))) = uint8_t;
    using U16x32 __attribute__((vector_size(64))) = uint16_t;
    U8x32 bytes;
    __builtin_memcpy(&bytes, p, sizeof bytes);
#ifdef __clang__
    const auto shorts = __builtin_convertvector(bytes, U16x32);
#else
    using Char32 __attribute__((vector_size(32))) = char;
    const auto shorts = (U16x32)__builtin_ia32_pmovzxbw512_mask((Char32)bytes, I16x32{}, 0xffffffffu);
#endif
    return (I32x16)((shorts | shorts << 4) & 0x0f0f);
}

}  // namespace native
}  // namespace tessera::ntt

#include "tessera/ntt/avx512_dot.h"
