#pragma once

#include <atomic>
#include <vector>

#include "compiler/measure/options.h"
#include "compiler/measure/pinned_threads.h"
#include "run/runtime/memory.h"

namespace tessera::measure {

/// A buffer for each thread, in huge pages where the system gives them (as weights are mapped), on the memory
/// that is nearest to the thread. All 16-bit and 32-bit elements are ordinary numbers: denormals would be
/// slow.
class NearMemory {
public:
    /// @throws Error if there is not so much address space
    NearMemory(PinnedThreads& threads, int64_t bytes_each, const MeasureOptions& options);

    /// Else `is_over` came first: they must not be read.
    bool are_filled() const { return are_filled_; }

    char* of(int64_t thread) {
        return reinterpret_cast<char*>(buffers_[static_cast<size_t>(thread)].bytes().data());
    }
    int64_t bytes_each() const { return bytes_each_; }

private:
    std::vector<runtime::AnonymousMemory> buffers_;
    int64_t bytes_each_;
    std::atomic<bool> are_filled_ = true;
};

}  // namespace tessera::measure
