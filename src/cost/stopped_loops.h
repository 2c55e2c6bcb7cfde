#pragma once

#include <cstdint>

namespace tessera::cost {

/// A loop over X values of x, inside of one over Y of y in blocks, that a predicate x <= start + y ends, as
/// in causal attention of Y tokens to themselves and those before them.
struct StoppedLoop {
    int64_t x = 1, y = 1;
    int64_t block = 1;  ///< of y: the loop ends where no y of the block needs more
};

/// The share of the pairs of x and y that are executed.
double executed_share(const StoppedLoop& loop);

/// The same for the worker with most, if workers take turns in tiles of x: its share of all pairs.
double executed_share_of_first(const StoppedLoop& loop, int64_t tile, int64_t workers);

}  // namespace tessera::cost
