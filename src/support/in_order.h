#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace tessera {

/// Pieces of a long result that threads make at the same time and one after the other takes, in their order.
struct OrderedPieces {
    size_t count = 0;
    /// Makes a piece in a buffer that may hold an older one. Called from any thread; pieces begin in order.
    std::function<void(size_t piece, std::vector<std::byte>& buffer)> make;
    /// Called once for each, in order, never twice at a time.
    std::function<void(size_t piece, std::span<const std::byte> bytes)> take;
};

/// Runs on `threads` threads, the one that calls among them. At most twice as many pieces are in memory. An
/// exception of `make` or `take` ends it and is rethrown: that of the earliest piece, if there are several.
void run_in_order(const OrderedPieces& pieces, size_t threads);

/// Calls `work` with each number below `count`, on a thread for each processor, the one that calls among
/// them. Exceptions as above.
void run_at_once(size_t count, const std::function<void(size_t)>& work);

}  // namespace tessera
