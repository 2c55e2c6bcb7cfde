#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/measure/program_calls.h"
#include "ir/graph.h"
#include "search/planner/default_planner.h"

namespace tessera {

/// How the tensors of a graph lie; those that are not here are row-major.
using TensorLayouts = std::map<ValueId, Layout>;

/// A graph compiled with its tensors lying in one way.
struct Form {
    std::string layouts;           ///< of all tensors that are not row-major
    std::string why_refused;       ///< by the planner, the verifier or lowering; else empty
    std::string plan;              ///< as `tessera compile --plan` would read it
    std::string kernels;           ///< its nests
    double estimated_seconds = 0;  ///< of the step
    measure::LoweredForm lowered = {};
};

/// The layouts to try for a tensor of this shape, without repeats: every axis innermost, with the lanes of
/// the machine's units along every axis or pair of axes, and with fewer lanes of one axis.
std::vector<Layout> layouts_of_a_tensor(const std::vector<Dim>& shape, const machine::Machine& machine);

/// The ways to be tried, each once: from all row-major, and from constants as the default planner stores
/// them, every tensor in every layout; all constants alike in every layout; and every operator packed by
/// every packing of its iterators that a unit takes (search/rules/vectorize/packing.h), wholly, its constants
/// alone, and all but its result. Indices lie as they are.
std::vector<TensorLayouts> layouts_of_a_graph(const Graph& graph, const machine::Machine& machine,
                                              const planner::PlannerOptions& options);

/// Inputs and outputs of the graph are row-major: a value that lies otherwise is copied. The default planner
/// completes everything that `layouts` leaves open. `number` makes the program's name unique.
Form forced_form(const Graph& graph, const TensorLayouts& layouts, const planner::PlannerOptions& options,
                 size_t number);
/// The form that the search for layouts chooses.
Form chosen_form(const Graph& graph, const planner::PlannerOptions& options, size_t number);

}  // namespace tessera
