#pragma once

#include "tessera/ntt/group.h"
#include "tessera/ntt/pairs.h"
#include "tessera/ntt/split_quads.h"

// Operands of contractions: a pointer and strides, each an Int<> or an int64_t, in elements.

namespace tessera::ntt {

namespace detail {

/// Bytes of one prefetch. If lines are longer, some are requested twice.
inline constexpr int kLineBytes = 64;

/// From this prefetch distance on, a line would be evicted from the nearest cache before its use, and would
/// hold one of the few slots for lines in flight: it is fetched to the second cache, and from there to the
/// nearest one shortly before its use.
inline constexpr int64_t kFarAhead = 16384;
inline constexpr int64_t kNearAhead = 2048;

/// The byte in which the target of p begins.
template <class P>
[[gnu::always_inline]] inline const char* byte_at(P p) {
    if constexpr (BitPointer<P>) {
        return reinterpret_cast<const char*>(p.bytes());
    } else {
        return reinterpret_cast<const char*>(p);
    }
}

/// Requests the line `Ahead` bytes behind `far`; if that goes to the second cache, also the one that is read
/// soon after `near`. They need not exist.
template <int64_t Ahead>
[[gnu::always_inline]] inline void fetch_ahead(const char* far, const char* near) {
    if constexpr (Ahead >= kFarAhead) {
        __builtin_prefetch(far + Ahead, 0, 2);
        __builtin_prefetch(near + kNearAhead);
    } else {
        __builtin_prefetch(far + Ahead);
    }
}
template <int64_t Ahead>
[[gnu::always_inline]] inline void fetch_ahead(const char* at) {
    fetch_ahead<Ahead>(at, at);
}

/// An operand in memory: address(group, k) is the place that it reads.
template <class B>
concept HasAddress = requires(const B& b, int64_t i) {
    b.address(i, i);
};

}  // namespace detail

/// A[m, k] at data + m*stride_m + k*stride_k; its elements are broadcast.
template <NumberPointer P, class StrideM, class StrideK>
struct Rows {
    P data;
    [[no_unique_address]] StrideM stride_m;
    [[no_unique_address]] StrideK stride_k;

    template <AnyVector V>
    [[gnu::always_inline]] V load(int64_t m, int64_t k) const {
        return broadcast<V>(element(data, m * stride_m + k * stride_k));
    }

    /// A[m, k] and A[m, k + 1], of which the first `Count` exist; the others are 0 and not read.
    template <AnyVector V, int64_t Count>
    requires(std::same_as<detail::Pointee<P>, bf16>&& std::same_as<StrideK, Int<1>>)
        [[gnu::always_inline]] PairsOf<V> load_pair(int64_t m, int64_t k, Int<Count>) const {
        int32_t pair = 0;
        __builtin_memcpy(&pair, data + (m * stride_m + k), 2 * Count);
        return broadcast<PairsOf<V>>(pair);
    }

    /// The quads from A[m, k] on along k, as many as V has lanes.
    template <AnyVector V>
    requires(std::same_as<detail::Pointee<P>, int8_t>&& std::same_as<StrideK, Int<1>>)
        [[gnu::always_inline]] QuadsOf<V> load_quads(int64_t m, int64_t k) const {
        return ntt::load_quads<QuadsOf<V>>(reinterpret_cast<const uint8_t*>(data + (m * stride_m + k)));
    }
    /// The quad of A[m, k] to A[m, k + 3].
    template <AnyVector V>
    requires(std::same_as<detail::Pointee<P>, int8_t>&& std::same_as<StrideK, Int<1>>)
        [[gnu::always_inline]] QuadsOf<V> load_quad(int64_t m, int64_t k) const {
        int32_t quad;
        __builtin_memcpy(&quad, data + (m * stride_m + k), sizeof quad);
        return broadcast<QuadsOf<V>>(quad);
    }
};

/// B[n, k] at data + n/L*stride_group + k*stride_k + n%L: L consecutive n are contiguous. Packed
/// `[N/L][K][L]` is (K*L, L), a plain `[K][N]` matrix is (L, N).
template <NumberPointer P, class StrideGroup, class StrideK>
struct Lanes {
    P data;
    [[no_unique_address]] StrideGroup stride_group;
    [[no_unique_address]] StrideK stride_k;

    template <AnyVector V, Extent Count>
    [[gnu::always_inline]] V load(int64_t group, int64_t k, Count count) const {
        return load_group<V>(address(group, k), count);
    }
    [[gnu::always_inline]] auto address(int64_t group, int64_t k) const {
        return data + (group * stride_group + k * stride_k);
    }
};

/// One more sum around that over k: at its i-th value the factors lie i strides further.
template <Extent Count, Extent StrideA, Extent StrideB>
struct OuterSum {
    [[no_unique_address]] Count count;
    [[no_unique_address]] StrideA stride_a;
    [[no_unique_address]] StrideB stride_b;
};
template <Extent Count, Extent StrideA, Extent StrideB>
constexpr OuterSum<StoredExtent<Count>, StoredExtent<StrideA>, StoredExtent<StrideB>> outer_sum(
    Count count, StrideA stride_a, StrideB stride_b) {
    return {count, stride_a, stride_b};
}

namespace detail {

template <NumberPointer P, class StrideM, class StrideK>
[[gnu::always_inline]] inline Rows<P, StrideM, StrideK> moved(Rows<P, StrideM, StrideK> a, int64_t by) {
    a.data += by;
    return a;
}
template <NumberPointer P, class StrideGroup, class StrideK>
[[gnu::always_inline]] inline Lanes<P, StrideGroup, StrideK> moved(Lanes<P, StrideGroup, StrideK> b,
                                                                   int64_t by) {
    b.data += by;
    return b;
}

/// Calls f(a, b) with the factors at every value of the sums, the last of them innermost.
template <class F, class A, class B>
[[gnu::always_inline]] inline void for_outer_sums(F f, const A& a, const B& b) {
    f(a, b);
}
template <class F, class A, class B, class Sum, class... Sums>
[[gnu::always_inline]] inline void for_outer_sums(F f, const A& a, const B& b, Sum sum, Sums... sums) {
    for (int64_t i = 0; i < sum.count; ++i)
        for_outer_sums(f, moved(a, i * sum.stride_a), moved(b, i * sum.stride_b), sums...);
}

}  // namespace detail

/// B[n, k] of bf16 at data + n/L*stride_group + k/2*stride_pair + n%L*2 + k%2: the pairs of L consecutive n
/// are contiguous. Packed `[N/L][K/2][L][2]` is (ceil(K/2)*2*L, 2*L); for an odd K the last pair ends with 0.
template <class StrideGroup, class StridePair>
struct LanePairs {
    const bf16* data;
    [[no_unique_address]] StrideGroup stride_group;
    [[no_unique_address]] StridePair stride_pair;

    template <AnyVector V, Extent Count>
    [[gnu::always_inline]] PairsOf<V> load_pairs(int64_t group, int64_t pair, Count count) const {
        const bf16* p = address(group, pair);
        if constexpr (kIsWhole<V, Count>) {
            return detail::load_pairs<PairsOf<V>>(p);
        } else {
            bf16 valid[2 * lanes_v<V>] = {};
            detail::copy_first<sizeof valid>(valid, p, count * 4);
            return detail::load_pairs<PairsOf<V>>(valid);
        }
    }
    [[gnu::always_inline]] const bf16* address(int64_t group, int64_t pair) const {
        return data + (group * stride_group + pair * stride_pair);
    }
};

/// B[n, k] of bytes or packed bits at data + n/L*stride_group + k/4*stride_quad + n%L*4 + k%4, in numbers:
/// the quads of L consecutive n are contiguous and can be read whole, also those of the last n. Packed
/// `[N/L][K/4][L][4]` is (K*L, 4*L). With packed bits, all of these begin with bytes.
template <QuadPointer P, class StrideGroup, class StrideQuad>
struct LaneQuads {
    static constexpr int kBias = quad_bias<P>;  ///< added to every number by load_quads
    static constexpr int kBits = [] {           ///< of a number
        if constexpr (BitPointer<P>) {
            return P::kBits;
        } else {
            return 8;
        }
    }();

    P data;
    [[no_unique_address]] StrideGroup stride_group;
    [[no_unique_address]] StrideQuad stride_quad;

    template <AnyVector V>
    [[gnu::always_inline]] QuadsOf<V> load_quads(int64_t group, int64_t quad) const {
        return ntt::load_quads<QuadsOf<V>>(address(group, quad));
    }
    template <AnyVector V>
    [[gnu::always_inline]] SplitQuads<QuadsOf<V>> load_split_quads(int64_t group, int64_t quad) const {
        return ntt::load_split_quads<QuadsOf<V>>(address(group, quad));
    }
    [[gnu::always_inline]] auto address(int64_t group, int64_t quad) const {
        if constexpr (BitPointer<P>) {
            constexpr int B = P::kBits;
            const uint8_t* bytes =
                data.bytes() + (group * (stride_group * B / 8) + quad * (stride_quad * B / 8));
            return PackedBits<B, P::kIsSigned, true>(bytes);
        } else {
            return data + (group * stride_group + quad * stride_quad);
        }
    }
};

/// B from a function: f(group, k, count) gives the lanes n = group*L + i as a Vector<float, L>, of which
/// those before `count` (an Int<L> or an int64_t) are valid. It may decode the numbers that it reads.
template <class F>
struct Decoded {
    F function;

    template <AnyVector V, Extent Count>
    [[gnu::always_inline]] V load(int64_t group, int64_t k, Count count) const {
        return function(group, k, count);
    }
};

/// B at any addresses: address(group, k) points to the lanes n = group*L + i, which are contiguous.
template <class F>
struct LanesAt {
    F address;

    template <AnyVector V, Extent Count>
    [[gnu::always_inline]] V load(int64_t group, int64_t k, Count count) const {
        return load_group<V>(address(group, k), count);
    }
};

/// C[m, n] at data + m*stride_m + n/L*stride_group + n%L. Row-major is (N, L), packed `[N/L][M][L]` is (L,
/// M*L).
template <class StrideM, class StrideGroup>
struct Result {
    float* data;
    [[no_unique_address]] StrideM stride_m;
    [[no_unique_address]] StrideGroup stride_group;

    template <AnyVector V, Extent Count>
    [[gnu::always_inline]] V start(int64_t m, int64_t group, Count count) const {
        return load_group<V>(data + m * stride_m + group * stride_group, count);
    }
    template <AnyVector V, Extent Count>
    [[gnu::always_inline]] V resume(int64_t m, int64_t group, Count count) const {
        return start<V>(m, group, count);
    }
    template <AnyVector V, Extent Count>
    [[gnu::always_inline]] void finish(int64_t m, int64_t group, V v, Count count) const {
        store_group(data + m * stride_m + group * stride_group, v, count);
    }
};

/// An operand A of a contraction with lanes along n: gives A[m, k] in all lanes.
template <class A, class V>
concept RowsOperand = requires(const A& a, int64_t i) {
    { a.template load<V>(i, i) } -> std::same_as<V>;
};

/// An operand B: gives the lanes of one group at one k. `count` is the number of valid lanes: an Int<L> in
/// whole groups, an int64_t in the last one.
template <class B, class V>
concept LanesOperand = requires(const B& b, int64_t i, Int<lanes_v<V>> count) {
    { b.template load<V>(i, i, count) } -> std::same_as<V>;
};

/// As above, for two k at a time.
template <class B, class V>
concept LanePairsOperand = requires(const B& b, int64_t i, Int<lanes_v<V>> count) {
    { b.template load_pairs<V>(i, i, count) } -> std::same_as<PairsOf<V>>;
};
/// An A that also gives two k at a time.
template <class A, class V>
concept RowPairsOperand = requires(const A& a, int64_t i) {
    { a.template load_pair<V>(i, i, Int<2>{}) } -> std::same_as<PairsOf<V>>;
};

/// Operand B of a contraction of quads: gives those of one group, with kBias added to every kBits number.
template <class B, class V>
concept LaneQuadsOperand = requires(const B& b, int64_t i) {
    { b.template load_quads<V>(i, i) } -> std::same_as<QuadsOf<V>>;
    {std::integral_constant<int, B::kBias>{}};
    {std::integral_constant<int, B::kBits>{}};
};
/// An A of signed bytes: gives one quad in all lanes, or one after the other.
template <class A, class V>
concept RowQuadsOperand = requires(const A& a, int64_t i) {
    { a.template load_quad<V>(i, i) } -> std::same_as<QuadsOf<V>>;
    { a.template load_quads<V>(i, i) } -> std::same_as<QuadsOf<V>>;
};

/// The same numbers with two bytes: A[m, k] = Radix * high[m, k] + low[m, k], both signed.
template <int Radix, class R>
struct RowTerms {
    static constexpr int kRadix = Radix;
    R high, low;
};
namespace detail {
template <class A>
concept HasTerms = requires {
    {std::integral_constant<int, A::kRadix>{}};
};
}  // namespace detail

/// An A of signed bytes, or of terms of them.
template <class A, class V>
concept RowTermsOperand = RowQuadsOperand<A, V> ||
    (detail::HasTerms<A>&& RowQuadsOperand<decltype(A::low), V>);

/// The result of a contraction: `start` gives the start of accumulation, `finish` takes the sums of the lanes
/// of one group in one row. `count` as in LanesOperand.
template <class C, class V>
concept ResultOperand = requires(const C& c, int64_t i, V v) {
    { c.template start<V>(i, i, i) } -> std::same_as<V>;
    c.template finish<V>(i, i, v, i);
};

/// A result whose sums may be formed in parts: `resume` gives the sums that `finish` took.
template <class C, class V>
concept ResumableResultOperand = ResultOperand<C, V> && requires(const C& c, int64_t i) {
    { c.template resume<V>(i, i, i) } -> std::same_as<V>;
};

template <NumberPointer P, Extent SM, Extent SK>
constexpr Rows<P, StoredExtent<SM>, StoredExtent<SK>> rows(P data, SM stride_m, SK stride_k) {
    return {data, StoredExtent<SM>(stride_m), StoredExtent<SK>(stride_k)};
}
template <int Radix, Extent SM>
constexpr auto row_terms(const int8_t* high, const int8_t* low, SM stride_m) {
    using R = Rows<const int8_t*, StoredExtent<SM>, Int<1>>;
    return RowTerms<Radix, R>{rows(high, stride_m, Int<1>{}), rows(low, stride_m, Int<1>{})};
}
template <NumberPointer P, Extent SG, Extent SK>
constexpr Lanes<P, StoredExtent<SG>, StoredExtent<SK>> lanes(P data, SG stride_group, SK stride_k) {
    return {data, StoredExtent<SG>(stride_group), StoredExtent<SK>(stride_k)};
}
template <Extent SG, Extent SP>
constexpr LanePairs<StoredExtent<SG>, StoredExtent<SP>> lane_pairs(const bf16* data, SG stride_group,
                                                                   SP stride_pair) {
    return {data, StoredExtent<SG>(stride_group), StoredExtent<SP>(stride_pair)};
}
template <QuadPointer P, Extent SG, Extent SQ>
constexpr LaneQuads<P, StoredExtent<SG>, StoredExtent<SQ>> lane_quads(P data, SG stride_group,
                                                                      SQ stride_quad) {
    return {data, StoredExtent<SG>(stride_group), StoredExtent<SQ>(stride_quad)};
}
template <class F>
constexpr Decoded<F> decoded(F function) {
    return {function};
}
template <class F>
constexpr LanesAt<F> lanes_at(F address) {
    return {address};
}
template <Extent SM, Extent SG>
constexpr Result<StoredExtent<SM>, StoredExtent<SG>> result(float* data, SM stride_m, SG stride_group) {
    return {data, StoredExtent<SM>(stride_m), StoredExtent<SG>(stride_group)};
}

}  // namespace tessera::ntt
