#pragma once

#include "lowering/movement/value_expr.h"

/// The kind of numbers in which a value of a lowered program is computed.
namespace tessera::movement {

/// Floats of 32 bits, each operation rounded; integers, exact; truths. Sums, differences, products, quotients
/// and so on of integers alone are integers, and a whole number beside an integer is one. An integer beside a
/// float becomes one. `div` and `mod` by an integer that may be 0 give floats: infinite ones and NaN.
enum class NumberKind : uint8_t { kFloat, kInteger, kMask };
NumberKind number_kind(const ValueExpr& value);

/// True if the arguments of the call are computed as integers.
bool has_integer_arguments(const ApplyValue& call);

/// The range of an integer or a whole number, over all lanes.
Bounds integer_bounds(const ValueExpr& value);

/// True if this integer and all integers on the way fit 32 bits.
bool fits_32_bits(const ValueExpr& value);

/// True if this integer or one on the way may come near the ends of 64 bits, where bounds saturate.
bool may_exceed_64_bits(const ValueExpr& value);
bool may_exceed_64_bits(const Index& index);

}  // namespace tessera::movement
