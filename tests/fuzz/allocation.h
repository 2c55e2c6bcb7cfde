#pragma once

#include <cstddef>

namespace tessera::fuzz {

/// Counts the bytes that `operator new` has given out and not got back. Mapped files do not count.
struct AllocationLimit {
    /// From here on a sum that grows by more than `bytes` calls `exceeded` once, inside the allocation, and
    /// then goes on without a limit.
    static void set(size_t bytes, void (*exceeded)(size_t wanted));
    static void clear();
    /// The largest number of bytes live since `set`, less those live then.
    static size_t peak();
};

}  // namespace tessera::fuzz
