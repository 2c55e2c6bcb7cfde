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

/// What a definition computes, by what it is repeated for (zoo notation, work).
struct WorkRates {
    OperationCount point;  ///< each iteration, with its fold
    OperationCount
        held;  ///< of a streaming softmax: score and weight, each iteration of those that it `holds`
    OperationCount element;  ///< each element of the result, once its reduction has ended
};
WorkRates work_rates(const Definition& definition);
/// Whether score and weight of a streaming softmax are computed for each value of the iterator: not for those
/// of parallel iterators that L does not use.
bool holds(const Definition& definition, int iterator);

/// Operations of the whole definition (zoo notation, work). Where the predicate reads contents that are not
/// known, every iteration counts: an upper bound. @throws Error on overflow.
Work derive_work(const BoundDefinition& bound);

}  // namespace tessera::facts
