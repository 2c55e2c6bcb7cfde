#pragma once

#include "ir/definition.h"

namespace tessera::facts {

/// The definition without casts that hold every value: facts sbp and linear count them as doing nothing, and
/// the interpreter's float64 then agrees with real numbers.
Definition without_exact_casts(const Definition& definition);

}  // namespace tessera::facts
