#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "search/egraph/extraction.h"
#include "search/egraph/saturate.h"
#include "search/extraction/extract.h"
#include "search/layouts/form_cost.h"
#include "search/layouts/search_graph.h"
#include "search/rules/vectorize/pack_rules.h"

/// The search for layouts (paper 000, 3.1.1 and 3.1.2): which form of every operator of every specialisation,
/// and which one stored form of every constant, together take least time (docs/layouts.md).
namespace tessera::layouts {

struct SearchOptions {
    std::vector<machine::ComputeUnit> units;  ///< they determine the packings
    std::vector<FormCosts> costs;             ///< by specialisation
    std::vector<double> copy_seconds = {};    ///< by specialisation: of a kernel more, by the weights
    /// Factor on the cost of forms that the default planner would not choose: measured times vary by as much.
    double margin = 1.03;
    /// Offered beside the forms that the units ask for; may be null.
    std::function<std::vector<rules::Form>(const egraph::Operator&)> more_forms = {};
    /// Operators that share a kernel with others; how their values lie is not searched.
    std::set<const Node*> fused = {};
    egraph::SaturationOptions saturation = {};
    extraction::Options extraction = {};
};

/// The search with all its data, for explanations.
struct Search {
    SearchGraph graph;
    egraph::SaturationReport saturation;
    egraph::ExtractionProblem problem;
    std::vector<FormCost> costs;  ///< of each node of the problem, times the block's repetitions
    std::vector<std::pair<egraph::TermId, FormCost>> impossible;  ///< forms that nothing computes
    extraction::Result result;
    std::string why_none;  ///< why no layouts were found; empty if there are
};

/// Nothing is chosen if some operator has no form that anything computes, or the budget ends before that.
Search find_layouts(const Graph& graph, const plan::Plan& initial, const SearchOptions& options);
/// The same where layouts are needed. @throws Error if some operator has no form that anything computes.
Search search_layouts(const Graph& graph, const plan::Plan& initial, const SearchOptions& options);

/// "312 e-nodes, saturated, optimal": for a report.
std::string summary(const Search& search);
/// The limit that has cut the search short; empty if none has.
std::string cut_short(const Search& search);
/// The sizes and end of saturation and extraction, then every operator and constant in its form with its
/// seconds, dearest first, and below it the other forms.
std::string print(const Search& search);

/// The initial plan with the layouts chosen, and the copies that repack values; default planning completes it
/// (search/planner/default_planner.h). A copy that a specialisation does not need is a view in it.
plan::Plan decision_of(const Graph& graph, const plan::Plan& initial, const Search& search);

}  // namespace tessera::layouts
