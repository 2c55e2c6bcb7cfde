#pragma once

#include "backend/cpp/value.h"

namespace tessera::backend::cpp {

/// An integer, or a whole number that counts as one; its lanes have 64 bits if it `is_wide`.
Text integer_text(const movement::ValueExpr& value, const ValueContext& context, bool is_wide);
/// A call whose arguments are integers: an integer, a comparison, or a float where a divisor may be 0.
Text integer_call_text(const movement::ApplyValue& call, const ValueContext& context);
/// An integer as i32 stores it: the nearest one that it holds.
std::string text_of_i32(const movement::ValueExpr& value, const ValueContext& context, bool has_lanes);

}  // namespace tessera::backend::cpp
