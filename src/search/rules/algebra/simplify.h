#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "ir/definition.h"

namespace tessera::rules {

/// The body, or post-expression, without operations that change no number of its type, NaN and signed zero
/// included:
///
///     x * 1 = 1 * x = x / 1 = x     x - 0 = x + -0.0 = x      x + 0 = 0 + x = x where x is an integer
///     --x = x    abs(-x) = abs(abs(x)) = abs(x)    min(x, x) = max(x, x) = x
///
/// x + 0 stays for floats: it turns -0 into 0. Nothing is said of x * 0 and x - x, which NaN and infinity
/// forbid, nor of sums and products of three, whose order decides how they round. Null stays null; where
/// nothing can be simplified, the same tree is returned.
ExprPtr simplified(const ExprPtr& expr, const Definition& definition);

/// The rest and the factor c of a product x * c, c * x or x / c^-1 whose literal c is a power of two: only
/// the exponent changes, so scaling comes before or after a sum as one likes. Between 2^-64 and 2^64.
std::optional<std::pair<ExprPtr, double>> taken_scale(const ExprPtr& body);

}  // namespace tessera::rules
