#include "compiler/measure/barrier_cost.h"

#include <cmath>

#include "compiler/measure/pinned_threads.h"
#include "compiler/measure/samples.h"

namespace tessera::measure {

void measure_barriers(machine::Machine& machine, const MeasureOptions& options) {
    machine.barriers.clear();
    for (const int64_t count : thread_counts(options.threads > 0 ? options.threads : machine.cores)) {
        if (count < 2) continue;
        PinnedThreads threads(count);
        const Sample meeting = repeated(
            [&](int64_t times) {
                return threads.seconds([&](int64_t) {
                    for (int64_t i = 0; i < times; ++i) threads.team().meet();
                });
            },
            options.seconds);
        const double seconds = quartiles_in_turns({meeting}, options).front();
        if (std::isfinite(seconds))
            machine.barriers.push_back({.threads = count, .seconds = two_digits(seconds)});
    }
}

}  // namespace tessera::measure
