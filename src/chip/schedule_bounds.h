#pragma once

#include <algorithm>
#include <optional>

#include "chip/schedule_problem.h"

namespace tessera::chip {

/// The first position whose operator has no usable row. There is a valid schedule exactly if there is none.
std::optional<size_t> infeasible_position(const ScheduleProblem& problem);

/// Numbers of cycles that no total is below.
struct ScheduleBounds {
    double execute = 0;   ///< executes run one by one
    double hbm = 0;       ///< preloads run one by one, none faster than the HBM
    double link = 0;      ///< the link carries every preload and all traffic of executes
    double path = 0;      ///< preloads 0 .. k precede execute k, which precedes the rest
    double ahead = 0;     ///< what is preloaded ahead fits beside the execute: chip/ahead_bound.h
    double together = 0;  ///< what cannot run together runs one by one: chip/together_bound.h

    double largest() const { return std::max({execute, hbm, link, path, ahead, together}); }
};

/// The first four, over usable rows. @pre there is a valid schedule
ScheduleBounds resource_bounds(const ScheduleProblem& problem);

}  // namespace tessera::chip
