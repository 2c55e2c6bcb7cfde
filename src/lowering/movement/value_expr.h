#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "ir/definition.h"
#include "ir/element_type.h"
#include "lowering/movement/index.h"

/// Values of a lowered program: elements of buffers, integers of its variables, and functions of them.
namespace tessera::movement {

/// Element `offset` of a buffer; see ir/element_type.h for elements of less than a byte.
struct Address {
    std::string buffer;
    Index offset;
    ElementType element = ElementType::kF32;
    bool operator==(const Address&) const = default;
};

struct ValueExpr;
using ValuePtr = std::shared_ptr<const ValueExpr>;
/// Equality of the trees; null equals null.
bool same(const ValuePtr& a, const ValuePtr& b);

/// Inside a VectorFor a load has lanes: consecutive elements (stride 1), `lane_stride` apart, or one for all
/// (0).
/// Elements of every type are widened to f32.
struct Load {
    Address from;
    int64_t lane_stride = 0;
    /// The load happens only where 0 <= coordinate < extent for each; elsewhere the value is `outside`. The
    /// coordinate of each lane is `lane_stride` more than that of the lane before; 0 in all guards but one.
    struct Guard {
        Index coordinate;
        Index extent;
        int64_t lane_stride = 0;
        bool operator==(const Guard&) const = default;
    };
    std::vector<Guard> guards;
    double outside = 0;
    bool operator==(const Load&) const = default;
};
/// An integer of iterators and symbols; `lane_stride` as above.
struct Integer {
    Index value;
    int64_t lane_stride = 0;
    bool operator==(const Integer&) const = default;
};
/// A declared accumulator; `fold_lanes` folds the lanes of a vector one.
struct AccumulatorRef {
    std::string name;
    bool fold_lanes = false;
    bool operator==(const AccumulatorRef&) const = default;
};
struct ApplyValue {
    Function function;
    std::vector<ValuePtr> arguments;
    bool operator==(const ApplyValue& other) const;
};
/// Rounds to the nearest number of type `to`.
struct RoundValue {
    ElementType to;
    ValuePtr argument;
    bool operator==(const RoundValue& other) const;
};
struct ValueExpr {
    std::variant<Number, Infinity, Integer, Load, AccumulatorRef, ApplyValue, RoundValue> node;
};

ValuePtr make_value(ValueExpr value);
ValuePtr number_value(double value);
ValuePtr apply_value(Function function, std::vector<ValuePtr> arguments);
/// The nearest number of this type, f32 being what compiled code computes in.
ValuePtr rounded_value(ElementType type, ValuePtr value);

/// The value with an index in the place of a variable.
ValuePtr substitute(const ValuePtr& value, const std::string& variable, const Index& by);

}  // namespace tessera::movement
