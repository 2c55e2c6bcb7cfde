#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "run/runtime/memory.h"
#include "run/runtime/workers.h"
#include "tessera/bench.h"

namespace tessera::benchmark {

/// Measures the limits of this machine, repeatedly, with a fixed number of threads.
class HostProbe {
public:
    /// Chooses the number of parallel streams and the prefetch distance: the best choice differs between
    /// machines by up to a factor of two. Takes a few seconds.
    explicit HostProbe(int64_t workers);
    HostProbe(const HostProbe&) = delete;
    HostProbe& operator=(const HostProbe&) = delete;

    int64_t workers() const { return team_.workers(); }
    /// Takes some tenths of a second.
    HostLimits measure();

private:
    using Reader = uint64_t (*)(const std::byte* begin, const std::byte* end, int64_t prefetch_bytes);
    struct Reading {
        Reader read = nullptr;
        int64_t prefetch_bytes = 0;
    };

    double seconds_of_reading(const Reading& reading);
    double seconds_of_arithmetic();

    runtime::WorkerTeam team_;
    runtime::AnonymousMemory buffer_;
    Reading fastest_;
};

}  // namespace tessera::benchmark
