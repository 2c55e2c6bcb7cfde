#pragma once

#include "tessera/ntt/arithmetic.h"
#include "tessera/ntt/fold.h"

// Several vectors folded together, each by the tree of fold.h, so each sum has the bits that fold_sum gives.
// Folding one vector wastes more of the register at every level; here the halves of two vectors share one
// register instead:
//
//     a0 a1 a2 a3        a0 a1 b0 b1
//     b0 b1 b2 b3   ->   a2 a3 b2 b3   ->   their sum, and so on
//
// Four vectors of 16 lanes take 15 operations instead of 32.

namespace tessera::ntt {

namespace detail {

// x and y are `Segments` pieces of R/Segments lanes each; every piece of x, then of y, is folded once: lane t
// of a piece meets the lane half a piece further.
template <class T, int R, int Segments, int Out, int... I>
[[gnu::always_inline]] inline native::Register<T, Out> fold_pieces(native::Register<T, R> x,
                                                                   native::Register<T, R> y, Indices<I...>) {
    constexpr int kPiece = R / Segments, kHalf = kPiece / 2;
    return __builtin_shufflevector(x, y, (I / kHalf * kPiece + I % kHalf)...) +
           __builtin_shufflevector(x, y, (I / kHalf * kPiece + I % kHalf + kHalf)...);
}

// N registers of `Segments` pieces each, of which two become one until one is left, which then shrinks.
template <class T, int R, int Segments, int N>
struct FoldRegisters {
    [[gnu::always_inline]] static auto run(const Vector<T, R> (&v)[N]) {
        Vector<T, R> halved[N / 2];
#pragma GCC unroll 16
        for (int j = 0; j < N / 2; ++j) {
            halved[j] = {fold_pieces<T, R, Segments, R>(v[2 * j].bits, v[2 * j + 1].bits,
                                                        typename CountTo<R>::Type{})};
        }
        return FoldRegisters<T, R, 2 * Segments, N / 2>::run(halved);
    }
};
template <class T, int R, int Segments>
struct FoldRegisters<T, R, Segments, 1> {
    [[gnu::always_inline]] static Vector<T, Segments> run(const Vector<T, R> (&v)[1]) {
        if constexpr (R == Segments) {
            return v[0];
        } else {
            const Vector<T, R / 2> half[1] = {
                {fold_pieces<T, R, Segments, R / 2>(v[0].bits, v[0].bits, typename CountTo<R / 2>::Type{})}};
            return FoldRegisters<T, R / 2, Segments, 1>::run(half);
        }
    }
};

}  // namespace detail

/// Lane j is fold_sum(v[j]). N is a power of two.
template <class T, int L, int N>
[[gnu::always_inline]] inline Vector<T, N> fold_sums(const Vector<T, L> (&v)[N]) {
    static_assert((N & (N - 1)) == 0);
    if constexpr (Vector<T, L>::kIsPair) {
        Vector<T, L / 2> half[N];
#pragma GCC unroll 64
        for (int j = 0; j < N; ++j) half[j] = v[j].low + v[j].high;
        return fold_sums(half);
    } else if constexpr (N <= L) {
        return detail::FoldRegisters<T, L, 1, N>::run(v);
    } else {
        Vector<T, N> sums;
#pragma GCC unroll 64
        for (int j = 0; j < N; ++j) sums.set(j, fold_sum(v[j]));
        return sums;
    }
}

}  // namespace tessera::ntt
