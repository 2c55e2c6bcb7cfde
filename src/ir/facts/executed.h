#pragma once

#include <span>
#include <vector>

#include "ir/facts/bound_definition.h"

/// The executed iterations: those for which the predicate holds. Only iterators that the predicate names are
/// enumerated.
namespace tessera::facts {

class ExecutedIterations {
public:
    /// Iterations within the box. Without a predicate, or where it reads contents that are not known, every
    /// iteration counts as executed. @throws Error if the predicate's iterators have more combinations than
    /// kPredicateLimit.
    ExecutedIterations(const BoundDefinition& bound, IterationBox box);

    /// True if the predicate could be evaluated; if not, these are a superset of the executed iterations.
    bool is_exact() const { return is_exact_; }
    int64_t count() const;
    bool none() const { return count() == 0; }
    const IterationBox& box() const { return box_; }

    /// The values of these iterators for which some executed iteration exists, as disjoint boxes; the ranges
    /// of the other iterators are meaningless and taken as whole.
    std::vector<IterationBox> project(std::span<const int> iterators) const;

    /// The smallest range of each iterator that holds its executed values; whole if nothing is executed.
    std::vector<Range> ranges() const;

    /// The same with each of these iterators held at its first value in an executed iteration.
    ExecutedIterations held(std::span<const int> iterators) const;

private:
    std::vector<IterationBox> boxes_along(const std::vector<int>& iterators,
                                          const std::vector<bool>& bits) const;

    const BoundDefinition* bound_;
    IterationBox box_;
    bool is_exact_ = true;
    std::vector<int> deciding_;  ///< iterators of the predicate, ascending
    std::vector<bool> holds_;    ///< row-major over the deciding iterators
};

/// 2^28 iterations: 32 MiB of bits, some seconds.
inline constexpr int64_t kPredicateLimit = int64_t{1} << 28;

}  // namespace tessera::facts
