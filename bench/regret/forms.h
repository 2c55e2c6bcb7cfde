#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/planner_options.h"
#include "ir/graph.h"
#include "movement/program.h"

namespace tessera {

/// A graph compiled with its weight stored in one way.
struct WeightForm {
    std::string layout;            ///< of the weight
    std::string why_refused;       ///< by the planner, the verifier or lowering; else empty
    std::string plan;              ///< as `tessera compile --plan` would read it
    std::string kernels;           ///< its nests
    double estimated_seconds = 0;  ///< of the step
    Program program = {};          ///< what that plan lowers to
    int64_t constants_bytes = 0, arena_bytes = 0;
};

/// Of a matrix: row-major and column-major, with the lanes of the machine's units along either axis, and with
/// fewer lanes of one axis.
std::vector<Layout> layouts_of_a_weight(const Machine& machine);

/// With the weight stored so, everything else as the planner completes it.
/// `number`: tells the program's name from others.
WeightForm forced_form(const Graph& graph, const Layout& layout, const PlannerOptions& options,
                       size_t number);
/// As the search for layouts has it.
WeightForm chosen_form(const Graph& graph, const PlannerOptions& options, size_t number);

}  // namespace tessera
