#pragma once

#include <string>
#include <variant>
#include <vector>

#include "cost/evaluate.h"
#include "search/planner/stated.h"

namespace tessera::planner {

/// A stated nest by itself, all other operators of its block being kernels of their own.
struct StatedPrice {
    plan::Nest nest;  ///< with what it left open, without loops of one trip
    /// As the search for kernels counts it (search/schedule/solve_tiles.h): the mean over the points at which
    /// the specialisation runs, divided between the workers in the best way.
    cost::Evaluation cost;
    std::vector<cost::Evaluator::Buffer> buffers;  ///< what exists in tiles only
    double barrier_seconds = 0;                    ///< of one meeting of the workers, which `cost` lacks
};

struct StatedVerdict {
    size_t kernel = 0;           ///< of those that were asked for
    std::string specialisation;  ///< in which it runs
    std::variant<StatedPrice, StatedRefusal> verdict;
};

}  // namespace tessera::planner
