#pragma once

#include <cstddef>

namespace tessera::fuzz {

/// Counts what `operator new` has given out and not got back. Mapped files do not count.
struct AllocationLimit {
    /// From here on a sum that grows by more than `bytes` calls `exceeded` once, inside the allocation, and
    /// then goes on without a limit.
    static void set(size_t bytes, void (*exceeded)(size_t wanted));
    static void clear();
    /// The most that has been live since `set`, less what was live then.
    static size_t peak();
};

}  // namespace tessera::fuzz
