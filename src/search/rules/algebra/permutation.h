#pragma once

#include <cstdint>
#include <vector>

#include "ir/tensor_type.h"

namespace tessera::rules {

/// Axis i of the result is axis perm[i] of the operand.
using Permutation = std::vector<int64_t>;

inline Permutation inverse(const Permutation& perm) {
    Permutation result(perm.size());
    for (size_t i = 0; i < perm.size(); ++i) result[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
    return result;
}

/// `values`, one for each axis of the operand, in the order of the result's axes. If they are a permutation,
/// the result permutes by `values`, then by `perm`.
template <typename T>
std::vector<T> permuted(const std::vector<T>& values, const Permutation& perm) {
    std::vector<T> result;
    for (const int64_t axis : perm) result.push_back(values[static_cast<size_t>(axis)]);
    return result;
}

inline TensorType row_major(ElementType element, std::vector<Dim> shape) {
    return {.element = element, .shape = std::move(shape)};
}

}  // namespace tessera::rules
