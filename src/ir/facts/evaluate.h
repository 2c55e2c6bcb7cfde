#pragma once

#include <functional>
#include <vector>

#include "ir/expr.h"

/// Values of an expression at many points at once.
namespace tessera::facts {

using Column = std::vector<double>;

/// The values of iterators, the fill position, reads and what was folded; a column of one entry stands for
/// all rows.
using LeafColumn = std::function<Column(const Expr& leaf)>;

/// One entry for each row, in float64 as the notation's interpreter computes (integers are exact).
Column evaluate_column(const ExprPtr& expr, size_t rows, const std::vector<int64_t>& dims,
                       const LeafColumn& leaf);

}  // namespace tessera::facts
