#pragma once

#include <string>

#include "lowering/kernels/micro_kernels.h"
#include "lowering/plan/nest.h"

namespace tessera::testing {

/// "y[contract k=k m=t n=n]", as in a plan.
inline plan::Leaf leaf_of(const std::string& text) {
    return plan::parse_nest(text, "test", kernels::micro_kernels()).root();
}

}  // namespace tessera::testing
