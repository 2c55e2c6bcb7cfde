#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>

namespace tessera {

/// Integers of sizes and offsets, which a hostile file may choose so that plain arithmetic wraps.
template <class T>
concept SizeInteger = std::same_as<T, int64_t> || std::same_as<T, uint64_t>;

/// a + b; empty where the sum does not fit.
template <SizeInteger T>
constexpr std::optional<T> checked_add(T a, T b) {
    T sum = 0;
    if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
    return sum;
}

/// a * b; empty where the product does not fit.
template <SizeInteger T>
constexpr std::optional<T> checked_mul(T a, T b) {
    T product = 0;
    if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
    return product;
}

/// The product of the extents, 1 without any; empty where it does not fit. A zero makes it zero, also beside
/// factors whose product would not fit.
template <SizeInteger T>
constexpr std::optional<T> checked_product(std::span<const T> extents) {
    std::optional<T> product = T{1};
    bool has_zero = false;
    for (const T extent : extents) {
        has_zero = has_zero || extent == 0;
        if (product) product = checked_mul(*product, extent);
    }
    return has_zero ? T{0} : product;
}

}  // namespace tessera
