#pragma once

#include <functional>
#include <span>
#include <vector>

#include "search/egraph/block_terms.h"
#include "search/egraph/e_graph.h"
#include "search/extraction/problem.h"

namespace tessera::egraph {

/// An e-graph as an extraction problem, and the way back.
struct ExtractionProblem {
    extraction::Problem problem;
    std::vector<TermId> nodes;     ///< of each node of the problem
    std::vector<ClassId> classes;  ///< of each class of the problem
};

/// The classes that the roots reach, each node with its cost; an infinite cost leaves the node out. Classes
/// and nodes are in the order of the e-graph.
ExtractionProblem extraction_problem(const EGraph& graph, std::span<const TermId> roots,
                                     const std::function<double(TermId)>& cost);
Selection selection_of(const ExtractionProblem& problem, const extraction::Choice& choice);

}  // namespace tessera::egraph
