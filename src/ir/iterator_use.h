#pragma once

#include <algorithm>
#include <vector>

#include "ir/definition.h"

namespace tessera {

/// True if iterator `x` is one of them.
inline bool contains(const std::vector<int>& iterators, int x) {
    return std::ranges::find(iterators, x) != iterators.end();
}

/// True if iterator `x` occurs below the expression, as in iterators_in.
inline bool uses(const ExprPtr& expr, int x) {
    return contains(iterators_in(expr), x);
}
inline bool uses(const std::vector<ExprPtr>& exprs, int x) {
    return contains(iterators_in(exprs), x);
}

}  // namespace tessera
