#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "lowering/plan/plan.h"
#include "search/egraph/e_graph.h"

/// All operators of a graph in all its specialisations as terms of one e-graph.
namespace tessera::layouts {

/// A block of the graph in one specialisation.
struct Instance {
    size_t specialisation = 0;
    size_t block = 0;
    bool operator==(const Instance&) const = default;
};

struct SearchGraph {
    egraph::EGraph egraph;
    /// By specialisation: the values that operators read and make, row-major unless their layout is given.
    std::vector<std::map<ValueId, egraph::TermId>> values;
    std::vector<egraph::TermId> roots;              ///< terms that must exist in their own layout
    std::map<egraph::OperatorId, Instance> leaves;  ///< in whose instance an input, state or carried value is
    std::map<ValueId, egraph::TermId> constants;    ///< shared by all specialisations
};

/// Constants are one leaf for all specialisations, everything else one for each. Operators that the layout
/// search leaves alone are opaque: views, updates, operators with several results or of constants alone,
/// `fused` operators, whose values may never exist whole, and operators through which the carried value of a
/// repeated block passes in place. States, and constants that such an operator reads, lie as `initial.stored`
/// says.
SearchGraph search_graph(const Graph& graph, const plan::Plan& initial, const std::set<const Node*>& fused);

/// Why the search does not choose how the value of one of its original terms lies; empty where it does, and
/// for values that no operator makes.
std::string why_left_alone(const egraph::EGraph& graph, egraph::TermId term);

}  // namespace tessera::layouts
