#pragma once

#include <vector>

namespace tessera::cost {

/// One measurement: how often each thing was done, and the seconds of all.
struct Observation {
    std::vector<double> counts;
    double seconds = 0;
};

/// Weights of at least 0 that minimise the sum of the squares of (counts . weights - seconds) / seconds:
/// paper 000, eq. 15, takes the time of a micro-kernel from such a regression. By coordinate descent, which
/// converges since the objective is convex; a fixed number of rounds, so the same input gives the same bits.
/// Things that never occur have weight 0.
std::vector<double> fit(const std::vector<Observation>& observations);

}  // namespace tessera::cost
