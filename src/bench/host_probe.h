#pragma once

#include <cstdint>
#include <memory>

#include "runtime/memory.h"
#include "runtime/workers.h"
#include "tessera/bench.h"

namespace tessera {

/// Measures what this machine can do, again and again, with a fixed number of threads.
class HostProbe {
public:
    /// Chooses how far ahead to prefetch: what is best differs between machines by up to a factor of two.
    explicit HostProbe(int64_t workers);
    HostProbe(const HostProbe&) = delete;
    HostProbe& operator=(const HostProbe&) = delete;

    int64_t workers() const { return team_.workers(); }
    /// Takes about a tenth of a second.
    HostLimits measure();

private:
    double seconds_of_reading(int64_t prefetch_bytes);
    double seconds_of_arithmetic();

    WorkerTeam team_;
    AnonymousMemory buffer_;
    int64_t prefetch_bytes_ = 0;
};

}  // namespace tessera
