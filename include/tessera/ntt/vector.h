#pragma once

#include "tessera/ntt/extent.h"
#include "tessera/ntt/register.h"

namespace tessera::ntt {

/// L lanes of T (float or int32_t), L a power of two. A vector wider than a machine register is a pair of
/// half vectors, so its operations are trees whose leaves are registers, and the same program runs on every
/// machine.
template <class T, int L>
struct Vector;
/// The result of comparing vectors: all bits set, or none, in each lane.
template <int L>
struct Mask;

template <class T>
concept Scalar = std::same_as<T, float> || std::integral<T>;

namespace detail {

/// 0, 1, ... as arguments of a template: CountTo<3>::Type is Indices<0, 1, 2>.
template <int... I>
struct Indices {};
template <int N, int... I>
struct CountTo : CountTo<N - 1, N - 1, I...> {};
template <int... I>
struct CountTo<0, I...> {
    using Type = Indices<I...>;
};

template <int L>
concept FitsRegister = (L <= kRegisterLanes);

template <class T>
struct VectorTraits {
    static constexpr bool kIsVector = false;
    static constexpr int kLanes = 1;
    using Element = T;
    using Mask = bool;
    template <class U>
    using With = U;
};
template <class T, int L>
struct VectorTraits<Vector<T, L>> {
    static constexpr bool kIsVector = true;
    static constexpr int kLanes = L;
    using Element = T;
    using Mask = ntt::Mask<L>;
    template <class U>
    using With = Vector<U, L>;
};

}  // namespace detail

template <class V>
concept AnyVector = detail::VectorTraits<V>::kIsVector;
/// A scalar or a vector, the arguments of NTT's functions, so that one text serves both.
template <class V>
concept Lanewise = Scalar<V> || AnyVector<V>;

/// F32, scalar or vector.
template <class V>
concept FloatLanes = Lanewise<V> && std::same_as < typename detail::VectorTraits<V>::Element,
float > ;

template <Lanewise V>
inline constexpr int lanes_v = detail::VectorTraits<V>::kLanes;
template <Lanewise V>
using Element = typename detail::VectorTraits<V>::Element;
/// `Mask<L>` for vectors, `bool` for scalars.
template <Lanewise V>
using MaskOf = typename detail::VectorTraits<V>::Mask;
/// The type with the lanes of V and elements of type T.
template <Lanewise V, Scalar T>
using WithElement = typename detail::VectorTraits<V>::template With<T>;

template <class T, int L>
struct Vector {
    using Half = Vector<T, L / 2>;
    static constexpr bool kIsPair = true;
    Half low, high;

    T operator[](int lane) const { return lane < L / 2 ? low[lane] : high[lane - L / 2]; }
    void set(int lane, T x) { lane < L / 2 ? low.set(lane, x) : high.set(lane - L / 2, x); }
};

template <class T, int L>
requires detail::FitsRegister<L>
struct Vector<T, L> {
    static_assert(sizeof(T) == 4 && L >= 1 && (L & (L - 1)) == 0, "NTT has vectors of 2^n lanes of 32 bits");
    static constexpr bool kIsPair = false;
    native::Register<T, L> bits;

    /// By way of memory: GCC 12 at -O2 takes bits[lane] for a read of another type's lanes where a register
    /// was reinterpreted.
    T operator[](int lane) const {
        T lanes[L];
        __builtin_memcpy(lanes, &bits, sizeof lanes);
        return lanes[lane];
    }
    void set(int lane, T x) { bits[lane] = x; }
};

template <int L>
struct Mask {
    using Half = Mask<L / 2>;
    static constexpr bool kIsPair = true;
    Half low, high;

    bool operator[](int lane) const { return lane < L / 2 ? low[lane] : high[lane - L / 2]; }
};

template <int L>
requires detail::FitsRegister<L>
struct Mask<L> {
    static constexpr bool kIsPair = false;
    native::Register<int32_t, L> bits;

    bool operator[](int lane) const { return bits[lane] != 0; }
};

namespace detail {

/// f on scalars, or on each register of the operands, which all have the shape of Out.
template <class Out, class F, class... V>
[[gnu::always_inline]] inline Out map(F f, V... v) {
    if constexpr (Scalar<Out>) {
        return static_cast<Out>(f(v...));
    } else if constexpr (Out::kIsPair) {
        return Out{map<typename Out::Half>(f, v.low...), map<typename Out::Half>(f, v.high...)};
    } else
        return Out{f(v.bits...)};
}

/// The type in which a and b meet: a vector and a scalar meet in the vector.
template <class A, class B>
struct Joined {};
template <Scalar A, Scalar B>
struct Joined<A, B> {
    using Type = std::common_type_t<A, B>;
};
template <class T, int L>
struct Joined<Vector<T, L>, Vector<T, L>> {
    using Type = Vector<T, L>;
};
template <class T, int L, class S>
requires std::is_arithmetic_v<S>
struct Joined<Vector<T, L>, S> {
    using Type = Vector<T, L>;
};
template <class T, int L, class S>
requires std::is_arithmetic_v<S>
struct Joined<S, Vector<T, L>> {
    using Type = Vector<T, L>;
};

}  // namespace detail

template <class A, class B>
using Join = typename detail::Joined<A, B>::Type;

template <class A, class B>
concept Joinable = requires {
    typename Join<A, B>;
};
/// At least one is a vector: the operators of scalars are the language's.
template <class A, class B>
concept VectorOperands = Joinable<A, B> &&(AnyVector<A> || AnyVector<B>);

/// The same number in every lane.
template <Lanewise V>
[[gnu::always_inline]] inline V broadcast(Element<V> x) {
    if constexpr (Scalar<V>) {
        return x;
    } else if constexpr (V::kIsPair) {
        const auto half = broadcast<typename V::Half>(x);
        return V{half, half};
    } else
        return V{x - native::Register<Element<V>, lanes_v<V>>{}};
}

namespace detail {

/// x as a V: itself, or in every lane.
template <class V, class X>
[[gnu::always_inline]] inline V as(X x) {
    if constexpr (std::same_as<V, X>) {
        return x;
    } else {
        return broadcast<V>(static_cast<Element<V>>(x));
    }
}

}  // namespace detail

namespace detail {

template <class T, int... I>
[[gnu::always_inline]] inline native::Register<T, sizeof...(I)> count_lanes(Indices<I...>) {
    return native::Register<T, sizeof...(I)>{static_cast<T>(I)...};
}

}  // namespace detail

/// first, first + 1, ..., one number for each lane.
template <Lanewise V>
[[gnu::always_inline]] inline V iota(Element<V> first = 0) {
    if constexpr (Scalar<V>) {
        return first;
    } else if constexpr (V::kIsPair) {
        using Half = typename V::Half;
        return V{iota<Half>(first), iota<Half>(first + static_cast<Element<V>>(lanes_v<Half>))};
    } else {
        return V{detail::count_lanes<Element<V>>(typename detail::CountTo<lanes_v<V>>::Type{}) + first};
    }
}

}  // namespace tessera::ntt
