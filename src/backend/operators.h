#pragma once

#include "ir/expr.h"

namespace tessera::backend {

/// The operator between two numbers of C and C++ that computes the function; null if there is none.
const char* infix(Function function);

}  // namespace tessera::backend
