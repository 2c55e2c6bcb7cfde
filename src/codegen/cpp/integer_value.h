#pragma once

#include "codegen/cpp/value.h"

namespace tessera::codegen::cpp {

/// An integer, or a whole number that counts as one; its lanes have 64 bits if it `is_wide`.
Text integer_text(const movement::ValueExpr& value, const ValueContext& context, bool is_wide);
/// A call whose arguments are integers: an integer, a comparison, or a float where a divisor may be 0.
Text integer_call_text(const movement::ApplyValue& call, const ValueContext& context);
/// An integer as i32 stores it: the nearest one that it holds.
std::string text_of_i32(const movement::ValueExpr& value, const ValueContext& context, bool has_lanes);
/// The C++ operator between two numbers, null if the function has none.
const char* infix(Function function);

}  // namespace tessera::codegen::cpp
