#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "ir/definition.h"

namespace tessera {

/// The values of the names in an integer expression; names that an expression does not use may be left out.
struct IntegerScope {
    std::span<const int64_t> dims;
    std::span<const int64_t> iterators;
    int64_t fill_position = 0;
    std::function<int64_t(const Read&)> read;  ///< the value of an index operand
};

/// Extents, shapes, fills and components of maps, in 64-bit integers.
/// @throws Error on overflow, division by zero, and for an operation that does not give integers.
int64_t integer_value(const Expr& expr, const IntegerScope& scope, const std::string& where);

}  // namespace tessera
