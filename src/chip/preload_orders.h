#pragma once

#include <cstddef>
#include <vector>

#include "chip/schedule_problem.h"

namespace tessera::chip {

struct OrderOptions {
    size_t most_orders = 256;
    size_t most_operators = 8;  ///< of one layer that are reordered: those with the largest preloads
};

/// Orders of preloads that the SRAM allows, that of the sequence first. Source: paper 003, 4.4: only
/// operators whose preload is above the average are reordered, within one copy of a repeat and in all its
/// copies alike (without repeats: within the whole sequence), and from the last preload to the first every
/// choice is left out after which operators that must be held together do not fit.
std::vector<std::vector<size_t>> preload_orders(const ScheduleProblem& problem,
                                                const OrderOptions& options = {});

}  // namespace tessera::chip
