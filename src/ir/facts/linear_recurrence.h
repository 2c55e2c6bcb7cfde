#pragma once

#include <optional>
#include <vector>

#include "ir/definition.h"

namespace tessera::facts {

/// A recurrence whose state is linear in the state before. Factors are multiplied; n is the iterator that its
/// lines fold, x a parallel one of the state's map:
///
///     lines before:  R = f(sum over n of S Q)            S of the value before
///     carry          S = decay S + key value             value may be made of these R
///     lines behind:  R = f(sum over n of S Q)            S as it is now
///
/// Neither decay nor `fresh` uses n or x, neither key nor Q uses x, and value does not use n. So several
/// values of the ordered iterator need the state once: with D(i, j) the product of the decays behind j up to
/// i,
///
///     sum of S_i Q_i = D(i, -1) sum of S Q_i + sum over j <= i of D(i, j) (sum of key_j Q_i) value_j
///
/// the matrix form of a state space layer, and the triangular system of a delta rule. Sources: Dao and Gu,
/// "Transformers are SSMs" (2024), 6; Yang et al., "Parallelizing Linear Transformers with the Delta Rule
/// over Sequence Length" (2024), 3.
struct LinearRecurrence {
    int n = -1, x = -1;
    size_t carry = 0;  ///< number of its line
    ExprPtr fresh;     ///< where the state before counts as 0; null: nowhere
    std::vector<ExprPtr> decay, key, value;
    std::vector<std::vector<ExprPtr>> queries;  ///< Q, by line; that of `carry` is empty
};

/// Nothing if the definition has another form, or its predicate is more than an end of the ordered iterator.
std::optional<LinearRecurrence> linear_recurrence(const Definition& definition, int x);

}  // namespace tessera::facts
