#pragma once

#include <cstdint>
#include <type_traits>

// One machine register and the few things that vector extensions cannot say about it. The compile flags
// choose the file; each may give overloads of the functions below in tessera::ntt::native, and everything
// works without any of them.
#if defined(__AVX512F__) && defined(__AVX512VL__) && defined(__AVX512DQ__) && defined(__AVX512BW__) && \
    defined(__FMA__)
#include "tessera/ntt/avx512.h"
#elif defined(__AVX2__) && defined(__FMA__)
#include "tessera/ntt/avx2.h"
#elif defined(__SSE2__)
#include "tessera/ntt/sse2.h"
#elif defined(__ARM_NEON) && defined(__aarch64__)
#include "tessera/ntt/neon.h"
#else
namespace tessera::ntt {
inline constexpr int kRegisterBytes = 16;
inline constexpr bool kHasFma = false;
inline constexpr bool kHasScale = false;
}  // namespace tessera::ntt
#endif

namespace tessera::ntt {

/// Lanes of 32 bits in one machine register.
inline constexpr int kRegisterLanes = kRegisterBytes / 4;

namespace native {

template <class T, int L>
struct RegisterOf {
    using Type __attribute__((vector_size(sizeof(T) * L))) = T;
};
/// `L` lanes of T as GCC and Clang spell them.
template <class T, int L>
using Register = typename RegisterOf<T, L>::Type;

// The functions below are chosen where no overload of the included file fits better.

/// a * b + c, rounded once where kHasFma, else twice. For scalars and registers.
template <class R>
[[gnu::always_inline]] inline R fma(R a, R b, R c) {
    if constexpr (!kHasFma) {
        return a * b + c;
    } else if constexpr (std::is_same_v<R, float>) {
        return __builtin_fmaf(a, b, c);
    } else {
        R r = c;
        for (unsigned i = 0; i < sizeof(R) / sizeof(float); ++i) r[i] = __builtin_fmaf(a[i], b[i], c[i]);
        return r;
    }
}

/// a * 2^b for whole b, rounded once. For registers, where kHasScale.
template <class R>
[[gnu::always_inline]] inline R scale(R a, R b) {
    for (unsigned i = 0; i < sizeof(R) / sizeof(float); ++i) a[i] = scale(a[i], b[i]);
    return a;
}

/// The square root, correctly rounded.
template <class R>
[[gnu::always_inline]] inline R sqrt(R a) {
    if constexpr (std::is_same_v<R, float>) {
        return __builtin_sqrtf(a);
    } else {
        R r = a;
        for (unsigned i = 0; i < sizeof(R) / sizeof(float); ++i) r[i] = sqrt(float(a[i]));
        return r;
    }
}

/// a < b ? a : b: the second operand if one is NaN or both are equal. One instruction on x86.
template <class R>
[[gnu::always_inline]] inline R min_or_second(R a, R b) {
    return a < b ? a : b;
}

/// a > b ? a : b: the second operand if one is NaN or both are equal.
template <class R>
[[gnu::always_inline]] inline R max_or_second(R a, R b) {
    return a > b ? a : b;
}

/// The smaller number, the first of equal ones (zeros of both signs), NaN if one is NaN.
template <class R>
[[gnu::always_inline]] inline R min(R a, R b) {
    const R smaller = min_or_second(b, a);  // a where one is NaN
    return b == b ? smaller : b;
}

/// The larger number, the first of equal ones, NaN if one is NaN.
template <class R>
[[gnu::always_inline]] inline R max(R a, R b) {
    const R larger = max_or_second(b, a);
    return b == b ? larger : b;
}

/// The lanes from `first` to before `end` from memory, the others from `rest`; reads nothing else. Both are
/// at least 0, and `end` may exceed the lanes.
template <class T, class R>
[[gnu::always_inline]] inline R load_between(const T* p, int64_t first, int64_t end, R rest) {
    constexpr int kLanes = sizeof(R) / sizeof(T);
#pragma GCC unroll 16
    for (int i = 0; i < kLanes; ++i) {
        if (i >= first && i < end) rest[i] = p[i];
    }
    return rest;
}

/// Writes the lanes before `n`, and nothing beyond p[n - 1]. 0 <= n.
template <class T, class R>
[[gnu::always_inline]] inline void store_first(T* p, R v, int64_t n) {
    constexpr int kLanes = sizeof(R) / sizeof(T);
#pragma GCC unroll 16
    for (int i = 0; i < kLanes; ++i) {
        if (i < n) p[i] = v[i];
    }
}

/// Lane i of 32 is lane index[i] of eight. Declared only: there is no portable form.
template <class Source, class Index>
void permute_shorts(Source source, Index index);

/// Lane i of 32 bits is a[2i] * b[2i] + a[2i + 1] * b[2i + 1]. Declared only.
template <class Shorts>
void dot_shorts(Shorts a, Shorts b);

/// The same added to `sum` by one operation. Declared only.
template <class I, class Shorts>
void add_dot_shorts(I sum, Shorts a, Shorts b);

/// Lane i of 32 bits is that of `sum` plus the products of the unsigned bytes of a with the signed ones of b.
/// Declared only.
template <class I, class Quads>
void dot_quads(I sum, Quads a, Quads b);

/// Short i is the product of the unsigned byte 2i of a with the signed one of b plus that of bytes 2i + 1, or
/// the nearest short. Declared only.
template <class Quads>
void dot_byte_pairs(Quads a, Quads b);

/// The unsigned numbers of B bits from p on, one in each byte of an R. Reads as many bits as they have.
/// Declared only.
template <class R, class B>
void spread_quads(const uint8_t* p, B bits, R like);

/// The same numbers as shorts: those of even places, and in `odd` the others. Declared only.
template <class R, class B>
void load_split(const uint8_t* p, B bits, R& odd);

}  // namespace native
}  // namespace tessera::ntt
