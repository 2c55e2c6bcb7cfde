#pragma once

#include <memory>
#include <vector>

#include "ir/facts/executed.h"

/// The executed iterations, divided by what decides whether a value is there at all.
namespace tessera::facts {

/// A part of the executed iterations in which each read of some expressions either always reaches an element
/// or never does, and each iterator that stands in them as a number is always 0 or never.
struct IterationCase {
    explicit IterationCase(BoundDefinition part)
        : bound(std::move(part)), executed(bound, whole_box(bound)) {}
    IterationCase(const IterationCase&) = delete;
    IterationCase& operator=(const IterationCase&) = delete;

    BoundDefinition bound;  ///< its predicate holds in this part alone
    ExecutedIterations executed;
};

using IterationCases = std::vector<std::unique_ptr<IterationCase>>;

/// Disjoint cases, none of them empty, that together are the executed iterations. A read whose coordinates
/// have too many combinations, or take contents that are not known, divides nothing.
IterationCases iteration_cases(const BoundDefinition& bound, const std::vector<ExprPtr>& expressions);

}  // namespace tessera::facts
