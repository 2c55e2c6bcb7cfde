#pragma once

#include <string>
#include <vector>

#include "search/tiles/problem.h"

namespace tessera::tiles {

/// The meaning of an assignment, by the definition of the problem alone: no code is shared with the search.
struct Evaluation {
    std::vector<double> objective;    ///< the value of each sum
    std::vector<double> constraints;  ///< the value of each sum
    double cost = 0;                  ///< the largest of the objective
    std::vector<std::string>
        broken;  ///< "L1: 40000 > 32768", "m1 = 24 is no multiple of 16"; empty: feasible

    bool is_feasible() const { return broken.empty(); }
};

/// A missing or superfluous value, or one outside its domain, is broken too; the sums are then left out.
Evaluation evaluate(const Problem& problem, const Assignment& values);

}  // namespace tessera::tiles
