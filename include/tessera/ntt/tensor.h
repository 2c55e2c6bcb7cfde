#pragma once

#include "tessera/ntt/shape.h"

namespace tessera::ntt {

/// A view: a pointer, the extents and the strides, each static or not. Owns nothing and checks nothing.
template <class T, class ShapeT, class StridesT>
requires(ShapeT::rank == StridesT::rank) class Tensor {
public:
    static constexpr int rank = ShapeT::rank;

    constexpr Tensor(T* data, ShapeT shape, StridesT strides)
        : data_(data), shape_(shape), strides_(strides) {}

    constexpr T* data() const { return data_; }
    constexpr ShapeT shape() const { return shape_; }
    constexpr StridesT strides() const { return strides_; }

    template <int Axis>
    constexpr auto extent() const {
        return shape_.template get<Axis>();
    }
    template <int Axis>
    constexpr auto stride() const {
        return strides_.template get<Axis>();
    }

    /// The address of one element; one index for each axis.
    template <Extent... I>
    requires(sizeof...(I) == rank) constexpr T* address(I... index) const {
        return data_ + detail::dot<0>(extents(index...), strides_);
    }
    template <Extent... I>
    requires(sizeof...(I) == rank) constexpr T& at(I... index) const { return *address(index...); }
    template <Extent... I>
    requires(sizeof...(I) == rank) constexpr T& operator()(I... index) const { return *address(index...); }

    /// The box of the given extents that begins at the given offset: same strides.
    template <class... O, class... E>
    requires(sizeof...(O) == rank && sizeof...(E) == rank) constexpr auto tile(Offset<O...> begin,
                                                                               Shape<E...> extents) const {
        return Tensor<T, Shape<E...>, StridesT>(data_ + detail::dot<0>(begin, strides_), extents, strides_);
    }

    /// The slice at `index` of one axis, which the result no longer has.
    template <int Axis, Extent I>
    requires(Axis >= 0 && Axis < rank) constexpr auto drop(I index) const {
        const auto rest_shape = without<Axis, 0>(shape_, [](auto... e) { return ntt::shape(e...); });
        const auto rest_strides = without<Axis, 0>(strides_, [](auto... e) { return ntt::strides(e...); });
        T* begin = data_ + StoredExtent<I>(index) * strides_.template get<Axis>();
        return Tensor<T, std::remove_const_t<decltype(rest_shape)>,
                      std::remove_const_t<decltype(rest_strides)>>(begin, rest_shape, rest_strides);
    }

private:
    template <int Axis, int I, class List, class Make, class... Kept>
    static constexpr auto without(List list, Make make, Kept... kept) {
        if constexpr (I == List::rank) {
            return make(kept...);
        } else if constexpr (I == Axis) {
            return without<Axis, I + 1>(list, make, kept...);
        } else {
            return without<Axis, I + 1>(list, make, kept..., list.template get<I>());
        }
    }

    T* data_;
    [[no_unique_address]] ShapeT shape_;
    [[no_unique_address]] StridesT strides_;
};

template <class T, class... E, class... S>
constexpr Tensor<T, Shape<E...>, Strides<S...>> tensor(T* data, Shape<E...> shape, Strides<S...> strides) {
    return {data, shape, strides};
}

/// A dense row-major view.
template <class T, class... E>
constexpr auto tensor(T* data, Shape<E...> shape) {
    return tensor(data, shape, row_major(shape));
}

}  // namespace tessera::ntt
