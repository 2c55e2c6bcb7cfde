#pragma once

#include <variant>

#include "lowering/movement/value_expr.h"

namespace tessera::movement {

/// The factor B of a product as elements at fixed strides along two positions; the lanes lie side by side.
struct StridedFactor {
    Address start;
    Index outer, inner;  ///< from one position to the next, in elements
    bool operator==(const StridedFactor&) const = default;
};
/// The factor B as a value that is computed where it is needed, such as quants times their scales: a group of
/// lanes at two positions, which are variables of its own.
struct ComputedFactor {
    Variable outer, inner;
    ValuePtr value;
    bool operator==(const ComputedFactor& other) const {
        return outer == other.outer && inner == other.inner && same(value, other.value);
    }
};
using Factor = std::variant<StridedFactor, ComputedFactor>;

}  // namespace tessera::movement
