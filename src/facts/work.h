#pragma once

#include "facts/bound_definition.h"

namespace tessera::facts {

struct OperationCount {
    int64_t flops = 0;    ///< + - * / div mod, unary -, min max abs round
    int64_t special = 0;  ///< exp log sqrt rsqrt tanh erf sigmoid
    bool operator==(const OperationCount&) const = default;
};

struct Work {
    int64_t points = 0;  ///< executed iterations
    int64_t flops = 0;
    int64_t special = 0;
    bool operator==(const Work&) const = default;
};

/// Operations of one evaluation; subexpressions that read no tensor are free, and so is the arithmetic of
/// maps. Null counts nothing.
OperationCount count_operations(const ExprPtr& expr);

/// Operations of the whole definition (zoo notation, work). Where the predicate reads contents that are not
/// known, every iteration counts: an upper bound. @throws Error on overflow.
Work derive_work(const BoundDefinition& bound);

}  // namespace tessera::facts
