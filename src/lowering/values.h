#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lowering/movement/value_expr.h"
#include "lowering/ranges.h"

/// Bodies and predicates as values of the lowered program.
namespace tessera::lowering {

/// The name of the variable that counts lanes inside a VectorFor; it never reaches the program.
inline constexpr const char* kLane = "#lane";

/// The scope of the bodies of one operator.
struct ValueScope {
    const Node& node;
    Storage& storage;
    std::vector<movement::Index> iterators;  ///< values; the vectorised one is `start + lane`
    double outside = 0;                      ///< the value of an out-of-range read
    movement::ValuePtr folded;               ///< the folded value in a post-expression
};

/// @throws Error naming the operator's way of reading if a tensor's lanes do not lie at one stride.
movement::ValuePtr to_value(const ExprPtr& expr, const ValueScope& scope);
/// The place of result `tensor` at these iterators; `lane_stride` is that of its lanes.
movement::Store store_to(int tensor, movement::ValuePtr value, const ValueScope& scope);
/// The present element of a result.
movement::ValuePtr load_result(int tensor, const ValueScope& scope);

/// An address at lane 0, and the distance of the lanes.
struct LaneAddress {
    movement::Address address;
    int64_t stride;
};
/// @param is_tile only tiles of the value exist, whose sizes are strides
/// @throws Refused naming `what` if the lanes lie irregularly
LaneAddress split_lanes(const movement::Address& address, const Node& node, const std::string& what,
                        bool is_tile);

/// True if the value has lanes.
bool has_lanes(const movement::ValueExpr& value);

}  // namespace tessera::lowering
