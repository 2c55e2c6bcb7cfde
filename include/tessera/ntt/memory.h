#pragma once

#include "tessera/ntt/arithmetic.h"
#include "tessera/ntt/load_bits.h"
#include "tessera/ntt/storage.h"

// Between memory and vectors. No alignment is asked for. A partial access touches the first n elements and
// nothing else. Vectors of float are loaded from pointers to any type of number (concept NumberPointer), and
// stored to those that are not packed bits.

namespace tessera::ntt {

namespace detail {

/// Copies the first n of `Bytes` bytes, 0 <= n <= Bytes, in steps of powers of two.
template <int Bytes>
[[gnu::always_inline]] inline void copy_first(void* to, const void* from, int64_t n) {
    auto* out = static_cast<unsigned char*>(to);
    const auto* in = static_cast<const unsigned char*>(from);
    if (n >= Bytes) {
        __builtin_memcpy(out, in, Bytes);
    } else if constexpr (Bytes > 1) {
        constexpr int kHalf = Bytes / 2;
        const bool upper = n >= kHalf;
        if (upper) __builtin_memcpy(out, in, kHalf);
        const int64_t done = upper ? kHalf : 0;
        copy_first<kHalf>(out + done, in + done, n - done);
    }
}

/// Elements of memory, as many as V has, as a V of float.
template <class V, class T, class R>
[[gnu::always_inline]] inline V widen_register(R raw) {
    if constexpr (std::same_as<T, f16>) {
        return V{native::widen_f16(raw)};
    } else if constexpr (std::same_as<T, bf16>) {
        return V{native::widen_bf16(raw)};
    } else {
        return V{__builtin_convertvector(native::widen_integer(raw), native::Register<float, lanes_v<V>>)};
    }
}

/// v in the lanes before n, `identity` in the others.
template <class V>
[[gnu::always_inline]] inline V keep_first(V v, int64_t n, Element<V> identity) {
    const auto count = static_cast<int32_t>(n < lanes_v<V> ? n : lanes_v<V>);
    return select(iota<WithElement<V, int32_t>>() < count, v, identity);
}

/// v in the lanes first <= i < end, `identity` in the others. 0 <= first
template <class V>
[[gnu::always_inline]] inline V keep_between(V v, int64_t first, int64_t end, Element<V> identity) {
    const auto before = static_cast<int32_t>(first < lanes_v<V> ? first : lanes_v<V>);
    return select(iota<WithElement<V, int32_t>>() < before, broadcast<V>(identity),
                  keep_first(v, end, identity));
}

/// p[i]; packed bits give a float.
template <class P>
[[gnu::always_inline]] inline auto lane_of(P p, int64_t i) {
    if constexpr (BitPointer<P>) {
        return element(p, i);
    } else {
        return p[i];
    }
}

/// How a type of number lies in registers.
template <class T>
using RawOf = std::conditional_t<std::is_class_v<T>, uint16_t, T>;

/// Lanes of float as elements of memory.
template <class T, class V>
[[gnu::always_inline]] inline auto narrow_register(V v) {
    if constexpr (std::same_as<T, f16>) {
        return native::narrow_f16(v.bits);
    } else if constexpr (std::same_as<T, bf16>) {
        return native::narrow_bf16(v.bits);
    } else {
        return __builtin_convertvector(native::narrow_integer<T>(v.bits), native::Register<T, lanes_v<V>>);
    }
}

}  // namespace detail

/// The nearest numbers of type T, f16 or bf16, as floats.
template <class T, Lanewise V>
requires(std::same_as<Element<V>, float>&& detail::kIsOneOf<T, f16, bf16>) [[gnu::always_inline]] inline V
    rounded(V v) {
    return detail::map<V>(
        [](auto x) {
            if constexpr (std::same_as<T, f16>) {
                return native::widen_f16(native::narrow_f16(x));
            } else {
                return native::widen_bf16(native::narrow_bf16(x));
            }
        },
        v);
}

template <Lanewise V, SourceOf<V> P>
[[gnu::always_inline]] inline V load(P p) {
    using T = detail::Pointee<P>;
    if constexpr (Scalar<V>) {
        if constexpr (std::same_as<T, V>) {
            return *p;
        } else {
            return element(p, 0);
        }
    } else if constexpr (BitPointer<P>) {
        return detail::load_bits<V>(p);
    } else if constexpr (V::kIsPair) {
        using Half = typename V::Half;
        return V{load<Half>(p), load<Half>(p + lanes_v<Half>)};
    } else if constexpr (std::same_as<T, Element<V>>) {
        V v;
        __builtin_memcpy(&v.bits, p, sizeof(v.bits));
        return v;
    } else {
        native::Register<detail::RawOf<T>, lanes_v<V>> raw;
        __builtin_memcpy(&raw, p, sizeof raw);
        return detail::widen_register<V, T>(raw);
    }
}

template <Lanewise V, TargetOf<V> P>
[[gnu::always_inline]] inline void store(P p, V v) {
    using T = detail::Pointee<P>;
    if constexpr (Scalar<V>) {
        if constexpr (std::same_as<T, V>) {
            *p = v;
        } else {
            set_element(p, 0, v);
        }
    } else if constexpr (V::kIsPair) {
        store(p, v.low);
        store(p + lanes_v<typename V::Half>, v.high);
    } else if constexpr (std::same_as<T, Element<V>>) {
        __builtin_memcpy(p, &v.bits, sizeof(v.bits));
    } else {
        const auto raw = detail::narrow_register<T>(v);
        __builtin_memcpy(p, &raw, sizeof raw);
    }
}

/// The first n lanes from memory, the others hold `identity`. n <= 0 reads nothing, n >= L everything.
template <Lanewise V, SourceOf<V> P>
[[gnu::always_inline]] inline V load_first(P p, int64_t n, Element<V> identity = 0) {
    using T = detail::Pointee<P>;
    if constexpr (Scalar<V>) {
        return n > 0 ? load<V>(p) : identity;
    } else if constexpr (BitPointer<P>) {
        return detail::keep_first(detail::load_bits_first<V>(p, n), n, identity);
    } else if constexpr (V::kIsPair) {
        using Half = typename V::Half;
        return V{load_first<Half>(p, n, identity),
                 load_first<Half>(p + lanes_v<Half>, n - lanes_v<Half>, identity)};
    } else if constexpr (std::same_as<T, Element<V>>) {
        return V{native::load_between(p, 0, n > 0 ? n : 0, broadcast<V>(identity).bits)};
    } else {
        T raw[lanes_v<V>] = {};
        detail::copy_first<sizeof raw>(raw, p, (n > 0 ? n : 0) * static_cast<int64_t>(sizeof(T)));
        return detail::keep_first(load<V>(raw), n, identity);
    }
}

/// Stores the first n lanes. n <= 0 writes nothing, n >= L everything.
template <Lanewise V, TargetOf<V> P>
[[gnu::always_inline]] inline void store_first(P p, V v, int64_t n) {
    using T = detail::Pointee<P>;
    if constexpr (Scalar<V>) {
        if (n > 0) store(p, v);
    } else if constexpr (V::kIsPair) {
        store_first(p, v.low, n);
        store_first(p + lanes_v<typename V::Half>, v.high, n - lanes_v<typename V::Half>);
    } else if constexpr (std::same_as<T, Element<V>>) {
        native::store_first(p, v.bits, n > 0 ? n : 0);
    } else {
        const auto raw = detail::narrow_register<T>(v);
        detail::copy_first<sizeof raw>(p, &raw, (n > 0 ? n : 0) * static_cast<int64_t>(sizeof(T)));
    }
}

namespace detail {

/// The lanes first <= i < end from `lane(i)`, by way of memory.
template <class V, class F>
[[gnu::always_inline]] inline V collect(int64_t first, int64_t end, Element<V> identity, F lane) {
    using T = std::remove_cvref_t<decltype(lane(0))>;
    if constexpr (std::same_as<T, Element<V>>) {
        V v = broadcast<V>(identity);
#pragma GCC unroll 64
        for (int i = 0; i < lanes_v<V>; ++i) {
            if (i >= first && i < end) v.set(i, lane(i));
        }
        return v;
    } else {
        // Widened together.
        T raw[lanes_v<V>] = {};
#pragma GCC unroll 64
        for (int i = 0; i < lanes_v<V>; ++i) {
            if (i >= first && i < end) raw[i] = lane(i);
        }
        return keep_between(load<V>(raw), first, end, identity);
    }
}

/// True if a stride of 2 is read by whole registers.
template <class V, class P, class S>
inline constexpr bool kLoadsEveryOther = false;
template <Lanewise V, SourceOf<V> P>
requires(!Scalar<V> && !BitPointer<P>) inline constexpr bool kLoadsEveryOther<V, P, Int<2>> =
    !V::kIsPair && std::same_as<Pointee<P>, Element<V>>;

/// Lane i is lane 2 i of both, one behind the other.
template <class V, int... I>
[[gnu::always_inline]] inline V even_lanes(V low, V high, Indices<I...>) {
    return V{__builtin_shufflevector(low.bits, high.bits, (2 * I)...)};
}

/// lane(i, x) for the lanes i < n, x narrowed to T.
template <class T, class V, class F>
[[gnu::always_inline]] inline void spread(V v, int64_t n, F lane) {
    if constexpr (std::same_as<T, Element<V>>) {
#pragma GCC unroll 64
        for (int i = 0; i < lanes_v<V>; ++i) {
            if (i < n) lane(i, v[i]);
        }
    } else {
        T raw[lanes_v<V>];
        store(raw, v);
#pragma GCC unroll 64
        for (int i = 0; i < lanes_v<V>; ++i) {
            if (i < n) lane(i, raw[i]);
        }
    }
}

}  // namespace detail

/// Lane i < n from p[i * stride], the others hold `identity`. Reads nothing before p or behind the last lane.
template <Lanewise V, SourceOf<V> P, Extent S>
[[gnu::always_inline]] inline V load_strided_first(P p, S stride, int64_t n, Element<V> identity = 0) {
    if constexpr (Scalar<V>) {
        return n > 0 ? load<V>(p) : identity;
    } else if constexpr (detail::kLoadsEveryOther<V, P, S>) {
        // Whole registers, of which a permutation takes the even lanes, in place of a load for each lane.
        constexpr int64_t kLanes = lanes_v<V>;
        const V low = n > kLanes / 2 ? load<V>(p) : load_first<V>(p, 2 * n - 1, identity);
        return detail::even_lanes(low, load_first<V>(p + kLanes, 2 * n - 1 - kLanes, identity),
                                  typename detail::CountTo<kLanes>::Type{});
    } else {
        return detail::collect<V>(0, n, identity, [&](int i) { return detail::lane_of(p, i * stride); });
    }
}

/// Lane i from p[i * stride] where first <= i < end, the others hold `identity`. Reads nothing else: p itself
/// may lie before what may be read. 0 <= first
template <Lanewise V, SourceOf<V> P, Extent S>
[[gnu::always_inline]] inline V load_between(P p, S stride, int64_t first, int64_t end,
                                             Element<V> identity = 0) {
    constexpr bool kIsContiguous = std::same_as<S, Int<1>>;
    if constexpr (Scalar<V>) {
        return first <= 0 && end > 0 ? load<V>(p) : identity;
    } else if constexpr (kIsContiguous && !BitPointer<P> && V::kIsPair) {
        using Half = typename V::Half;
        constexpr int64_t kHalf = lanes_v<Half>;
        return V{
            load_between<Half>(p, stride, first, end, identity),
            load_between<Half>(p + kHalf, stride, first > kHalf ? first - kHalf : 0, end - kHalf, identity)};
    } else if constexpr (kIsContiguous && std::same_as<detail::Pointee<P>, Element<V>>) {
        return V{native::load_between(p, first, end > 0 ? end : 0, broadcast<V>(identity).bits)};
    } else {
        return detail::collect<V>(first, end, identity,
                                  [&](int i) { return detail::lane_of(p, i * stride); });
    }
}

/// Lane i from p[i * stride].
template <Lanewise V, SourceOf<V> P, Extent S>
[[gnu::always_inline]] inline V load_strided(P p, S stride) {
    return load_strided_first<V>(p, stride, lanes_v<V>);
}

/// Lane i < n to p[i * stride].
template <Lanewise V, TargetOf<V> P, Extent S>
[[gnu::always_inline]] inline void store_strided_first(P p, S stride, V v, int64_t n) {
    if constexpr (Scalar<V>) {
        if (n > 0) store(p, v);
    } else {
        detail::spread<detail::Pointee<P>>(v, n, [&](int i, auto x) { p[i * stride] = x; });
    }
}

/// Lane i to p[i * stride].
template <Lanewise V, TargetOf<V> P, Extent S>
[[gnu::always_inline]] inline void store_strided(P p, S stride, V v) {
    store_strided_first(p, stride, v, lanes_v<V>);
}

/// Lane i from p[index[i]]: a read through an indirect component of an access map.
template <Lanewise V, SourceOf<V> P>
[[gnu::always_inline]] inline V gather(P p, WithElement<V, int32_t> index) {
    if constexpr (Scalar<V>) {
        return load<V>(p + index);
    } else {
        return detail::collect<V>(0, lanes_v<V>, 0, [&](int i) { return detail::lane_of(p, index[i]); });
    }
}

}  // namespace tessera::ntt
