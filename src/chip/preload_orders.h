#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "chip/schedule_problem.h"

namespace tessera::chip {

struct OrderOptions {
    size_t most_orders = 720;   ///< all of six operators
    size_t most_operators = 6;  ///< of one layer that are reordered: those with the largest preloads
};

/// Orders of the preloads of a layer. Source: paper 003, 4.4.
struct PreloadOrders {
    std::optional<size_t> repeat;  ///< whose copies are the layers; none: the whole sequence is one
    std::vector<size_t> heavy;     ///< positions in the layer that are reordered, increasing
    /// Valid ones as indices into `heavy`: the one that is preloaded in the place of each. First that of the
    /// sequence.
    std::vector<std::vector<size_t>> orders;
};

/// The bytes that a position preloads into each core at least. @pre it has a usable row
int64_t least_preload(const ScheduleProblem& problem, size_t position);

/// Orders of preloads that the SRAM allows: only operators whose preload is above the average of the layer
/// are reordered, and from the last preload to the first every choice is left out after which operators that
/// must be held together do not fit.
PreloadOrders preload_orders(const ScheduleProblem& problem, const OrderOptions& options = {});

/// Positions in the order of their preloads: the heavy ones of all layers by one of the orders, all others
/// where they are in the sequence. @pre the problem has the repeats that the orders were made for, in any
/// number of copies
std::vector<size_t> positions_by_order(const ScheduleProblem& problem, const PreloadOrders& orders,
                                       const std::vector<size_t>& order);

/// Swaps of neighbours that make the order of the sequence from an order.
size_t edit_distance(const std::vector<size_t>& order);

}  // namespace tessera::chip
