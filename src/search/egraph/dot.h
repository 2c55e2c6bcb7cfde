#pragma once

#include <map>
#include <string>

#include "search/egraph/block_terms.h"

namespace tessera::egraph {

/// Graphviz text: a box for each class with its type, in it the e-nodes, with edges from each operand to its
/// class; the nodes of the selection are filled, a note is a line below the operator. @pre the e-graph is
/// rebuilt
std::string dot(const EGraph& graph, const Selection& selected = {},
                const std::map<TermId, std::string>& notes = {});

}  // namespace tessera::egraph
