#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "lowering/kernels/kernel_target.h"
#include "lowering/plan/leaf.h"
#include "lowering/plan/plan.h"

namespace tessera::kernels {

/// An operator under the bounds of a specialisation.
struct CandidateScope {
    const Node& node;
    const plan::SpecialisationPlan& specialisation;
    const KernelTarget& target;
    const plan::MicroKernel& kernel;  ///< of which candidates are wanted

    const Definition& definition() const { return *node.definition(); }
    plan::Leaf leaf() const { return {node.name, kernel}; }
    /// The largest extent of an iterator, for any values of the symbols.
    int64_t extent(int x) const;
    const std::string& name(int x) const;
    ElementType type(const Read& read) const;
};

/// Each micro-kernel offers its candidates for an operator. They are tried in the order of preference: more
/// lanes first, then by `turn`, then by `reading`, then in the order of the list of micro-kernels, then as
/// they were offered.
struct Candidate {
    plan::Leaf leaf;
    int64_t lanes = 0;  ///< 0: where nothing else is possible
    int turn = 0;       ///< of the micro-kernels for one kind of operator: those for another unit share one
    int reading = 0;    ///< of the operator as a product: which one, where there are several
};

/// The leaves of all listed micro-kernels except those that combine parts: sorted, without repeats.
std::vector<plan::Leaf> candidates(plan::MicroKernels kernels, const Node& node,
                                   const plan::SpecialisationPlan& specialisation,
                                   const KernelTarget& target);

/// The largest extent of an iterator, for any values of the symbols.
int64_t largest_extent(const Definition& definition, int x, const plan::SpecialisationPlan& specialisation);

}  // namespace tessera::kernels
