#pragma once

#include <cstdint>
#include <functional>

#include "run/runtime/workers.h"

namespace tessera::measure {

/// Threads on processors of their own, one for each core as far as there are as many.
class PinnedThreads {
public:
    explicit PinnedThreads(int64_t threads);

    /// Runs the work on every thread at once; the seconds from the first start to the last end.
    double seconds(const std::function<void(int64_t thread)>& work);
    /// For work that meets.
    runtime::WorkerTeam& team() { return team_; }
    int64_t size() const { return team_.workers(); }

private:
    runtime::WorkerTeam team_;
};

/// 1, 2, 4, ... and `most` itself.
std::vector<int64_t> thread_counts(int64_t most);

}  // namespace tessera::measure
