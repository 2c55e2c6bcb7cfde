#pragma once

#include <string>
#include <vector>

#include "planner/leaf_choice.h"
#include "planner/priced.h"

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

/// The candidates of an operator that is a kernel of its own, in the order of preference, with their time,
/// each worker doing an equal part.
std::vector<TimedLeaf> timed_leaves(cost::PricedBlock& block, const Node& node,
                                    const plan::SpecialisationPlan& specialisation,
                                    const PlannerOptions& options);

}  // namespace tessera::planner
