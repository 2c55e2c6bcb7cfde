#pragma once

#include <limits>
#include <optional>
#include <span>

#include "ir/expr.h"

/// Interval arithmetic on the values of expressions.
namespace tessera::facts {

inline constexpr double kInf = std::numeric_limits<double>::infinity();

/// An enclosure; bounds are inclusive and may be infinite.
struct ValueRange {
    double low;
    double high;
    bool is_integer;
};

ValueRange type_range(ElementType type);
ValueRange product(const ValueRange& a, const ValueRange& b);
ValueRange inverse_range(const ValueRange& a);
ValueRange power_range(const ValueRange& base, int exponent);  ///< exponent not 0
ValueRange negated(const ValueRange& a);

/// The range of a call, from the ranges of its arguments.
ValueRange call_range(Function function, std::span<const ValueRange> arguments);

/// The comparison of two values with this difference, if its range decides it.
std::optional<bool> decided(Function comparison, const ValueRange& difference);

}  // namespace tessera::facts
