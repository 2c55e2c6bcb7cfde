#pragma once

#include "tessera/ntt/extent.h"

namespace tessera::ntt {

/// A list of numbers, each static or not. Static members take part in address arithmetic as immediates.
template <class... E>
struct Extents;

template <>
struct Extents<> {
    static constexpr int rank = 0;
};

template <class Head, class... Tail>
struct Extents<Head, Tail...> {
    static constexpr int rank = 1 + sizeof...(Tail);

    [[no_unique_address]] Head head;
    [[no_unique_address]] Extents<Tail...> tail;

    template <int I>
    requires(I >= 0 && I < rank) constexpr auto get() const {
        if constexpr (I == 0) {
            return head;
        } else {
            return tail.template get<I - 1>();
        }
    }
};

template <class... E>
constexpr Extents<StoredExtent<E>...> extents(E... values) {
    if constexpr (sizeof...(E) == 0) {
        return {};
    } else {
        return [](auto first, auto... rest) {
            return Extents<StoredExtent<E>...>{StoredExtent<decltype(first)>(first), extents(rest...)};
        }(values...);
    }
}

/// The number of elements along each axis.
template <class... E>
struct Shape : Extents<E...> {
    /// The product of the extents: an Int if all are.
    constexpr auto size() const { return product<0>(); }

private:
    template <int I>
    constexpr auto product() const {
        if constexpr (I == sizeof...(E)) {
            return Int<1>{};
        } else {
            return this->template get<I>() * product<I + 1>();
        }
    }
};

/// The distance, in elements, between neighbours along each axis.
template <class... E>
struct Strides : Extents<E...> {};

/// A position: one number for each axis.
template <class... E>
struct Offset : Extents<E...> {};

template <Extent... E>
constexpr Shape<StoredExtent<E>...> shape(E... values) {
    return {extents(values...)};
}
template <Extent... E>
constexpr Strides<StoredExtent<E>...> strides(E... values) {
    return {extents(values...)};
}
template <Extent... E>
constexpr Offset<StoredExtent<E>...> offset(E... values) {
    return {extents(values...)};
}

namespace detail {

// The strides of the axes from the innermost outwards: the stride of axis I is the product of the extents
// after it.
template <int I, class S, class... Done>
constexpr auto row_major_from(S shape, Done... done) {
    if constexpr (I < 0) {
        return strides(done...);
    } else if constexpr (sizeof...(Done) == 0) {
        return row_major_from<I - 1>(shape, Int<1>{});
    } else {
        return [&](auto nearest, auto... rest) {
            return row_major_from<I - 1>(shape, shape.template get<I + 1>() * nearest, nearest, rest...);
        }(done...);
    }
}

template <int I, class Indices, class S>
constexpr auto dot(Indices indices, S strides) {
    if constexpr (I == Indices::rank) {
        return Int<0>{};
    } else {
        return indices.template get<I>() * strides.template get<I>() + dot<I + 1>(indices, strides);
    }
}

}  // namespace detail

/// Strides of a dense tensor whose last axis is contiguous; a stride is static if all extents inside it are.
template <class... E>
constexpr auto row_major(Shape<E...> shape) {
    return detail::row_major_from<static_cast<int>(sizeof...(E)) - 1>(shape);
}

}  // namespace tessera::ntt
