#pragma once

#include <string>
#include <vector>

#include "planner/leaf_choice.h"

namespace tessera::planner {

struct TimedLeaf {
    plan::Leaf leaf;
    double seconds = 0;             ///< the sum over the points, by their weights
    std::vector<double> at_points;  ///< the seconds at each
    std::vector<double> near;       ///< with everything near, without waiting for the memory
    std::vector<double> alone;      ///< with the waits of one worker, if the memory did not limit all
                                    ///< together
    std::string why_infinite;       ///< empty where there is a time
};

/// The innermost level that holds all constants, in which constants and states are found.
/// @pre options.costs
size_t level_of_constants(const PlannerOptions& options);

/// The candidates of an operator that is a kernel of its own, in the order of preference, with their time by
/// the machine's measurements (cost/cost_model.h): the sum over the points within the specialisation's
/// bounds, by their weights, or at the largest sizes where there is none. Constants and states come from the
/// innermost level that holds all constants, everything else from the innermost that holds it. Tensors lie as
/// the plan says.
/// @pre options.costs
std::vector<TimedLeaf> timed_leaves(const Graph& graph, const plan::Plan& plan, const Node& node,
                                    const plan::SpecialisationPlan& specialisation,
                                    const PlannerOptions& options);

}  // namespace tessera::planner
