#pragma once

#include "ir/facts/algebra.h"
#include "ir/facts/image.h"
#include "ir/facts/iteration_cases.h"

/// The values that the executed iterations fold into the elements of a result, case by case.
namespace tessera::facts {

/// The kind of a case's values, for all contents of the operands (which are finite).
enum class Outcome : uint8_t {
    kIdentity,     ///< the value from which the monoid starts: nothing is folded
    kNeverFinite,  ///< infinite or NaN, perhaps the identity
    kAbsorbing,    ///< infinite or NaN, never the identity: so is all that they are folded into
    kUsual,
};

struct Contribution {
    const IterationCase* part;
    Outcome outcome;
    Dependence dependence;      ///< on the tensor
    bool is_zero;               ///< usual values that are all 0
    bool is_nan;                ///< absorbing values that are all NaN
    std::vector<int> changing;  ///< iterators with which the value may change
};

/// The contributions of one part of the body in every case.
/// @param outside the value of an out-of-range read
/// @param start the value from which the monoid starts
std::vector<Contribution> contributions(const BoundDefinition& bound, const IterationCases& cases,
                                        const ExprPtr& body, int tensor, double outside, double start);

/// Adds the elements of the result that these iterations reach.
void add_reached(ElementSet& elements, const BoundDefinition& bound, const ExecutedIterations& executed,
                 int result);

/// True if the executed iterations of a case fold one value into each element: all that meet in one element
/// are the same.
bool folds_one_value(const Contribution& contribution, int result);

/// True if the post-expression of an infinity or NaN is infinite or NaN too, for all contents.
bool stays_infinite(const BoundDefinition& bound, const ExecutedIterations& iterations);

}  // namespace tessera::facts
