#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cost/evaluate.h"

namespace tessera::cost {

/// A kernel's reads from one level and writes to it.
struct LevelTraffic {
    std::string level;
    double bytes = 0;    ///< of the worker with most
    double seconds = 0;  ///< at the rate of all workers together
    bool operator==(const LevelTraffic&) const = default;
};

/// The levels of which an evaluation counts transfers.
std::vector<LevelTraffic> traffic_of(const Evaluation& evaluation, const CostModel& model, int64_t workers);

}  // namespace tessera::cost
