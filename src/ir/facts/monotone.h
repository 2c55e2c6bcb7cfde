#pragma once

#include "ir/facts/algebra.h"

namespace tessera::facts {

/// How a value moves when the folded value grows and everything else stays.
enum class Direction { kConstant, kIncreasing, kDecreasing, kUnknown };

/// The direction that the signs of factors and the known functions show; kUnknown where they do not decide.
Direction direction(const Algebra& algebra, const Polynomial& p);

}  // namespace tessera::facts
