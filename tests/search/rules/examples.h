#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ir/graph_interpreter.h"
#include "search/egraph/block_terms.h"
#include "search/rules/rule_entry.h"

/// Graphs of examples, interpreted on random operands.
namespace tessera::rules::testing {

/// The example as a graph with one block. `symbols`: those of filled left sides.
Graph graph_of(const RuleEntry& entry, const std::vector<DimSymbol>& symbols);

/// The block computes these terms.
Graph graph_of(const egraph::EGraph& egraph, egraph::TermId term, const std::vector<DimSymbol>& symbols);

/// The graph in which the class of `made` is computed by the term `made`, everything else as it was before or
/// as it had to be made for it.
Graph with_term(const Graph& graph, const egraph::EGraph& egraph, const egraph::BlockTerms& terms,
                egraph::TermId made);

/// Values of the symbols within their bounds and contents of inputs and constants, by the seed. Index
/// operands hold 0 and 1. `has_special_numbers`: among the others are zeros of both signs, infinities and
/// NaN.
GraphCall random_call(const Graph& graph, unsigned seed, bool has_special_numbers);

/// A description of the first element that differs by more than `tolerance` times its magnitude (0: in any
/// bit, except that of NaN); empty if none does.
std::string difference(const GraphResult& found, const GraphResult& expected, double tolerance);

}  // namespace tessera::rules::testing
