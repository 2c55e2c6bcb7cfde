#pragma once

#include "facts/algebra.h"
#include "facts/image.h"
#include "facts/iteration_cases.h"

/// What the executed iterations fold into the elements of a result, case by case.
namespace tessera::facts {

/// What the values of a case are, for every contents of the operands (all of which are finite).
enum class Outcome : uint8_t {
    kIdentity,     ///< what the monoid starts from: nothing is folded
    kNeverFinite,  ///< infinite or no number, perhaps the identity
    kAbsorbing,    ///< infinite or no number, never the identity: so is all that they are folded into
    kUsual,
};

struct Contribution {
    const IterationCase* part;
    Outcome outcome;
    Dependence dependence;      ///< on the tensor
    bool is_zero;               ///< usual values that are all 0
    bool is_nan;                ///< absorbing values that are all no numbers
    std::vector<int> changing;  ///< iterators with which the value may change
};

/// Of one part of the body in every case.
/// @param outside the value of an out-of-range read
/// @param start what the monoid starts from
std::vector<Contribution> contributions(const BoundDefinition& bound, const IterationCases& cases,
                                        const ExprPtr& body, int tensor, double outside, double start);

/// Adds the elements of the result that these iterations reach.
void add_reached(ElementSet& elements, const BoundDefinition& bound, const ExecutedIterations& executed,
                 int result);

/// Whether the executed iterations of a case fold one value into each element: all that meet in one element
/// are the same.
bool folds_one_value(const Contribution& contribution, int result);

/// Whether the post-expression of what is infinite or no number is so too, for all contents.
bool stays_infinite(const BoundDefinition& bound, const ExecutedIterations& iterations);

}  // namespace tessera::facts
