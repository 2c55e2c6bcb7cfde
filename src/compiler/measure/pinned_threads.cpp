#include "compiler/measure/pinned_threads.h"

#include <algorithm>
#include <chrono>

namespace tessera::measure {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

PinnedThreads::PinnedThreads(int64_t threads) : team_(threads, runtime::one_processor_each(threads)) {}

double PinnedThreads::seconds(const std::function<void(int64_t thread)>& work) {
    struct Run {
        const std::function<void(int64_t)>& work;
        runtime::WorkerTeam& team;
        std::vector<Clock::time_point> start, end;
    };
    const auto threads = static_cast<size_t>(size());
    Run run{work, team_, std::vector<Clock::time_point>(threads), std::vector<Clock::time_point>(threads)};
    team_.run(
        [](void* context, int64_t thread) noexcept {
            Run& shared = *static_cast<Run*>(context);
            shared.team.meet();  // some are still waking up
            shared.start[static_cast<size_t>(thread)] = Clock::now();
            shared.work(thread);
            shared.end[static_cast<size_t>(thread)] = Clock::now();
        },
        &run);
    const auto first = *std::min_element(run.start.begin(), run.start.end());
    const auto last = *std::max_element(run.end.begin(), run.end.end());
    return std::chrono::duration<double>(last - first).count();
}

std::vector<int64_t> thread_counts(int64_t most) {
    std::vector<int64_t> counts;
    for (int64_t threads = 1; threads < most; threads *= 2) counts.push_back(threads);
    counts.push_back(most);
    return counts;
}

}  // namespace tessera::measure
