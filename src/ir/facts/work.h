#pragma once

#include "ir/facts/bound_definition.h"

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

/// Operations of a definition for one repetition (zoo notation, work).
struct WorkRates {
    OperationCount point;  ///< an iteration, with its fold
    OperationCount held;   ///< score and weight of a streaming softmax: an iteration of those that it `holds`
    OperationCount element;  ///< an element of the result, once its reduction has ended
};
WorkRates work_rates(const Definition& definition);
/// A streaming softmax computes score and weight for each value of its reductions and of the iterators that L
/// uses; its other iterators are not held.
bool holds(const Definition& definition, int iterator);

/// Operations of the whole definition (zoo notation, work). If the predicate reads contents that are not
/// known, every iteration counts: an upper bound. @throws Error on overflow.
Work derive_work(const BoundDefinition& bound);

}  // namespace tessera::facts
