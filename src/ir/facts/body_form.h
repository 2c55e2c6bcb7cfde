#pragma once

#include "ir/facts/algebra.h"
#include "ir/facts/executed.h"

namespace tessera::facts {

/// The settings for the form of a part of the body.
struct BodyFormOptions {
    int real_tensor = -1;  ///< as in AlgebraOptions
    std::optional<ValueRange> folded;
    double outside = 0;              ///< the value of an out-of-range read
    bool outside_in_ranges = false;  ///< ranges of reads that may leave their tensor hold `outside`
    bool finite_reads = false;       ///< as in AlgebraOptions
};

/// The normal form of an expression over these iterations: reads that never reach an element have the value
/// of out-of-range reads, iterators have their executed values, and, where that is 0, products of reads that
/// never reach their elements together have vanished.
struct BodyForm {
    Algebra algebra;
    Polynomial value;

    BodyForm(const BoundDefinition& bound, const ExprPtr& expr, const ExecutedIterations& iterations,
             const BodyFormOptions& options);
};

}  // namespace tessera::facts
