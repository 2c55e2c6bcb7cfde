#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "movement/program.h"
#include "planner/default_planner.h"

namespace tessera {

/// How the tensors of a graph lie; those that are not here are row-major.
using TensorLayouts = std::map<ValueId, Layout>;

/// A graph compiled with its tensors lying in one way.
struct Form {
    std::string layouts;             ///< of all tensors that are not row-major
    std::string why_refused;         ///< by the planner, the verifier or lowering; else empty
    std::string plan;                ///< as `tessera compile --plan` would read it
    std::string kernels;             ///< its nests
    double estimated_seconds = 0;    ///< of the step
    movement::Program program = {};  ///< what that plan lowers to
    int64_t constants_bytes = 0, arena_bytes = 0;
};

/// Of a tensor of this shape, each once: every axis innermost, with the lanes of the machine's units along
/// every axis or pair of axes, and with fewer lanes of one axis.
std::vector<Layout> layouts_of_a_tensor(const std::vector<Dim>& shape, const machine::Machine& machine);

/// The ways to be tried, each once: from all row-major, and from constants as the default planner stores
/// them, every tensor in every layout; all constants alike in every layout; and every operator packed by
/// every packing of its iterators that a unit takes (rules/vectorize/packing.h), wholly, its constants alone,
/// and all but its result. Indices lie as they are.
std::vector<TensorLayouts> layouts_of_a_graph(const Graph& graph, const machine::Machine& machine,
                                              const planner::PlannerOptions& options);

/// What is given to the graph or asked of it is row-major: where it lies otherwise it is copied. All that
/// `layouts` leaves open the default planner completes. `number`: tells the program's name from others.
Form forced_form(const Graph& graph, const TensorLayouts& layouts, const planner::PlannerOptions& options,
                 size_t number);
/// As the search for layouts has it.
Form chosen_form(const Graph& graph, const planner::PlannerOptions& options, size_t number);

}  // namespace tessera
