#pragma once

#include "tessera/ntt/split_rows.h"

namespace tessera::ntt {

/// A coefficient of blocks of k that is an integer for each block times one number for every `Fold` of k:
///
///     whole(n, k) == scale(n, k) * rest(n, k)
///
/// The integer may be multiplied into the numbers of the block, so that sums of products are those of
/// integers over all of these k. `Fold` is a multiple of the blocks' size; the numbers times their integers,
/// |scale| at most 128 or from 0 to 255, are shorts, and their sums with A's numbers are int32_t.
template <int Fold, class Whole, class Scale, class Rest>
struct Foldable {
    static constexpr int kFold = Fold;

    Whole whole;
    Scale scale;
    Rest rest;

    template <AnyVector V, Extent Count>
    [[gnu::always_inline]] V load(int64_t group, int64_t k, Count count) const {
        return whole.template load<V>(group, k, count);
    }
};

template <class Whole, class Scale, class Rest, int64_t Fold>
constexpr Foldable<int{Fold}, Whole, Scale, Rest> foldable(Whole whole, Scale scale, Rest rest, Int<Fold>) {
    return {whole, scale, rest};
}

/// No integers: each `Fold` of k adds one number.
struct NoScale {};
template <class Whole, int64_t Fold>
constexpr Foldable<int{Fold}, Whole, NoScale, Whole> foldable(Whole whole, Int<Fold>) {
    return {whole, {}, whole};
}

namespace detail {

template <class Coefficient>
concept IsFoldable = requires {
    {std::integral_constant<int, Coefficient::kFold>{}};
};

/// True if the integers of a coefficient are multiplied into B's numbers, when those go by panels: the
/// machine multiplies shorts, and A's numbers of two bytes fit them.
template <class V, class A, class Coefficient>
inline constexpr bool kFolds = false;
template <class V, class A, class Coefficient>
requires HasTerms<A> && IsFoldable<Coefficient>
inline constexpr bool kFolds<V, A, Coefficient> =
    native::DotsShorts<ShortsIn<RegisterIn<QuadsOf<V>>>, RegisterIn<QuadsOf<V>>> && kTermsAreShorts<A>;

}  // namespace detail

}  // namespace tessera::ntt
