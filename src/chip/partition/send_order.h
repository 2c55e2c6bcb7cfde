#pragma once

#include <cstdint>
#include <vector>

#include "chip/partition/operator_program.h"

/// The order in which an operator's transfers ask for links. It decides no result, but how well links are
/// used.
namespace tessera::partition {

/// Keys that spread neighbours apart, for the preloads. On a grid, ports that all send to cores beside each
/// other fill the links there, while others stand still.
std::vector<uint64_t> scattered(size_t count);

/// Puts transfers of one kind, and their contents, in the order of their keys.
///
/// The key of a part of a sum is its turn: the distance of its two cores among those that add. Those of one
/// turn are from and to different cores. If all began with the same receiver, the link into the last one
/// would stand still until then, and the sums would take twice as long.
void sort_transfers(MadeOperator& made, chip::TransferKind kind, const std::vector<uint64_t>& keys);

}  // namespace tessera::partition
