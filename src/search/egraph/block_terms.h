#pragma once

#include <map>
#include <vector>

#include "search/egraph/e_graph.h"

namespace tessera::egraph {

/// The values of one block of a graph as terms.
struct BlockTerms {
    std::map<ValueId, TermId> values;  ///< the values that the block reads and makes
};

/// Adds the nodes of a block. Values that it reads become leaves: inputs, constants, states, the value that
/// it carries in and results of earlier blocks. A node with several results becomes a term of all of them and
/// a projection for each. Several blocks may share an e-graph: equal values then share classes. Values that
/// are in `terms` already have their terms.
BlockTerms add_block(EGraph& egraph, const Graph& graph, const Block& block, BlockTerms terms = {});

/// The values that a block must make whatever becomes of its nodes, ascending: the value carried out, updated
/// states, outputs, and values that other blocks read.
std::vector<ValueId> needed_values(const Graph& graph, size_t block);

/// The values whose names others know: updated states, the value carried out, outputs; in this order.
std::vector<ValueId> kept_values(const Graph& graph, size_t block);

/// A value whose name is known and whose class is that of another such value, which it becomes a copy of.
struct CopiedValue {
    ValueId value, of;
};
std::vector<CopiedValue> copied_values(const Graph& graph, size_t block, const EGraph& egraph,
                                       const BlockTerms& terms);

/// For each class (by its number) the e-node that computes it.
using Selection = std::map<ClassId, TermId>;

/// The graph with the nodes of one block replaced by the selected terms of its needed values. Terms that the
/// block had keep their names and order. With the terms of the block itself selected, the result equals the
/// graph if no two of its values are equal.
/// @pre the selection is acyclic and holds a node, no leaf, for the class of each of those values, and a node
/// for each class that these need
Graph with_block(const Graph& graph, size_t block, const EGraph& egraph, const BlockTerms& terms,
                 const Selection& selection);

}  // namespace tessera::egraph
