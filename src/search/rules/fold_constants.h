#pragma once

#include <optional>
#include <set>
#include <string>

#include "ir/graph.h"
#include "search/egraph/e_graph.h"
#include "search/egraph/family.h"

namespace tessera::rules {

/// Concatenations of constants are constants themselves: their parts are joined when the weights are packed,
/// before run time. A joined constant must not be stored once more by itself.
class ConstantFolding {
public:
    /// For a block of the graph. A constant with other readers is not joined.
    ConstantFolding(const Graph& graph, size_t block);

    /// True if the e-node is such a concatenation, and takes no time in a step.
    bool folds(const egraph::EGraph& egraph, egraph::TermId node);

    /// The graph with the block's concatenations as constants. Empty if one of them cannot be, or a constant
    /// would be stored twice.
    std::optional<Graph> fold(Graph graph) const;

private:
    bool can_join(const egraph::EGraph& egraph, egraph::ClassId e_class);

    size_t block_;
    egraph::FamilyPtr concat_;
    std::set<std::string> joinable_;  ///< names of constants
};

}  // namespace tessera::rules
