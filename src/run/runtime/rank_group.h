#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "run/runtime/communicator.h"

namespace tessera::runtime {

/// The ranks of one process: threads, which meet in its memory. If several processes compute together, all
/// have as many, in the order of the processes, and the first rank of each exchanges for all of its own.
class RankGroup {
public:
    /// @param threads ranks of this process
    /// @param spins polls of a waiting rank before it sleeps (WorkerOptions::spins)
    /// @param processes null: all ranks are here. It must live as long
    RankGroup(int64_t threads, int64_t spins, Communicator* processes = nullptr);
    RankGroup(const RankGroup&) = delete;
    RankGroup& operator=(const RankGroup&) = delete;
    ~RankGroup();

    /// The i-th thread's end of the exchange. Only this thread calls it.
    Communicator& rank(int64_t thread) const;
    int64_t threads() const;

private:
    struct Shared;
    class ThreadRank;
    std::unique_ptr<Shared> shared_;
    std::vector<std::unique_ptr<ThreadRank>> ranks_;
};

/// Calls the function as each of this many ranks of this process, each in a thread with a processor of its
/// own if there are enough. @throws any exception of the first rank
void on_local_ranks(int64_t ranks, const std::function<void(Communicator&)>& work);

}  // namespace tessera::runtime
