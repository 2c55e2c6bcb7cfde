// How fast memory is read, by the method of STREAM's successors: every thread reads a buffer of its own from
// end to end, again and again. The trials vary the choices of code: the number of parallel streams, and the
// prefetch distance. The best pair counts, since a kernel can reach it.

#include "compiler/measure/bandwidth.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "compiler/measure/near_memory.h"
#include "compiler/measure/probe_code.h"
#include "compiler/measure/samples.h"

namespace tessera::measure {
namespace {

constexpr std::array<int64_t, 6> kDistances = {0, 256, 512, 1024, 2048, 4096};

// Smaller differences are noise: then the trial with the shorter prefetch distance is taken.
constexpr double kNoise = 1.02;

/// A part of the main memory's working set. The next one is not in a cache, nor is this one when its turn
/// comes again.
constexpr int64_t kCallBytes = int64_t{16} << 20;

struct ReadTrial {
    size_t level;
    int64_t bytes;  ///< of each thread in a call
    int64_t ring;   ///< a multiple of them: calls read one part after the other
    int64_t streams;
    int64_t distance;
};

std::vector<ReadTrial> trials_of(const machine::Machine& machine, int64_t threads,
                                 const MeasureOptions& options) {
    std::vector<ReadTrial> trials;
    // The main memory first, should time run out.
    for (size_t level = machine.memory.size(); level-- > 0;) {
        const int64_t ring = working_set(machine, level, threads, options);
        if (ring == 0) continue;
        for (const int64_t distance : kDistances)
            for (const int64_t streams : kStreams) {
                const int64_t step = kReadStep * streams, bytes = bytes_of_call(ring, options) / step * step;
                if (bytes > 0) trials.push_back({level, bytes, ring / bytes * bytes, streams, distance});
            }
    }
    return trials;
}

/// `next` counts the calls of all trials: none reads what the one before has left in a cache.
Sample sample_of(const ReadTrial& trial, PinnedThreads& threads, NearMemory& memory, ReadFunction read,
                 int64_t& next, double seconds) {
    return repeated(
        [&threads, &memory, &next, trial, read](int64_t calls) {
            const double taken = threads.seconds([&](int64_t thread) {
                for (int64_t i = 0; i < calls; ++i)
                    read(memory.of(thread) + (next + i) * trial.bytes % trial.ring, trial.bytes,
                         trial.distance);
            });
            next += calls;
            return taken;
        },
        seconds);
}

/// The trials that may be the best of their level, in the same order, found by a brief measurement.
std::vector<ReadTrial> fastest(const std::vector<ReadTrial>& trials, const std::vector<double>& seconds,
                               size_t levels) {
    constexpr size_t kKept = 4;
    std::vector<ReadTrial> kept;
    for (size_t level = 0; level < levels; ++level) {
        std::vector<double> of_level;
        for (size_t i = 0; i < trials.size(); ++i)
            if (trials[i].level == level)
                of_level.push_back(seconds[i] / static_cast<double>(trials[i].bytes));
        if (of_level.empty()) continue;
        std::sort(of_level.begin(), of_level.end());
        const double worst = of_level[std::min(kKept, of_level.size()) - 1];
        for (size_t i = 0; i < trials.size(); ++i)
            if (trials[i].level == level && seconds[i] / static_cast<double>(trials[i].bytes) <= worst)
                kept.push_back(trials[i]);
    }
    return kept;
}

/// Seconds of one pass, by trial -> the best rate of each level.
void keep_best(machine::Machine& machine, int64_t threads, const std::vector<ReadTrial>& trials,
               const std::vector<double>& seconds) {
    for (size_t level = 0; level < machine.memory.size(); ++level) {
        machine::ReadBandwidth best{.threads = threads};
        for (size_t i = 0; i < trials.size(); ++i) {  // by ascending distance
            if (trials[i].level != level) continue;
            const double rate = static_cast<double>(trials[i].bytes * threads) / seconds[i];
            const bool same_distance = trials[i].distance == best.prefetch_bytes;
            if (rate > best.bytes_per_second * (same_distance ? 1 : kNoise)) {
                best.bytes_per_second = rate;
                best.prefetch_bytes = trials[i].distance;
            }
        }
        if (best.bytes_per_second == 0) continue;
        best.bytes_per_second = two_digits(best.bytes_per_second);
        machine.memory[level].read_bandwidth.push_back(best);
    }
}

}  // namespace

int64_t working_set(const machine::Machine& machine, size_t level, int64_t threads,
                    const MeasureOptions& options) {
    const machine::MemoryLevel& wanted = machine.memory[level];
    const int64_t inside =
        level == 0 ? 0 : machine.memory[level - 1].capacity_bytes / machine.memory[level - 1].shared_by_cores;
    if (level + 1 == machine.memory.size()) {
        constexpr int64_t kLeast = int64_t{256} << 20;
        const int64_t last_cache = level == 0 ? 0 : machine.memory[level - 1].capacity_bytes;
        const int64_t most = wanted.capacity_bytes / (4 * threads);
        if (options.memory_bytes > 0) return std::min(options.memory_bytes, most);
        if (options.most_bytes == 0) return std::min(std::max(kLeast, 4 * last_cache), most);
        const int64_t sharing = level == 0 ? 1 : std::min(machine.memory[level - 1].shared_by_cores, threads);
        const int64_t bytes = std::max({kLeast / threads, 2 * last_cache / sharing, kCallBytes});
        return bytes * threads <= options.most_bytes && bytes <= most ? bytes : 0;
    }
    const int64_t share = wanted.capacity_bytes / std::min(wanted.shared_by_cores, threads);
    if (share < 2 * inside) return 0;
    return options.most_bytes > 0 && inside > 0 ? std::min(share / 2, 8 * inside) : share / 2;
}

int64_t bytes_of_call(int64_t working_set, const MeasureOptions& options) {
    return options.most_bytes > 0 ? std::min(working_set, kCallBytes) : working_set;
}

void measure_bandwidth(machine::Machine& machine, const runtime::SharedLibrary& probe,
                       const MeasureOptions& options) {
    for (machine::MemoryLevel& level : machine.memory) level.read_bandwidth.clear();
    if (options.is_over && options.is_over()) return;  // before buffers are filled
    std::vector<int64_t> counts = thread_counts(options.threads > 0 ? options.threads : machine.cores);
    // The fewest and the most first, should time run out.
    if (counts.size() > 2) std::rotate(counts.begin() + 1, counts.end() - 1, counts.end());
    for (const int64_t count : counts) {
        PinnedThreads threads(count);
        const std::vector<ReadTrial> trials = trials_of(machine, count, options);
        int64_t most = 0;
        for (const ReadTrial& trial : trials) most = std::max(most, trial.ring);
        NearMemory memory(threads, most, options);
        if (!memory.are_filled()) break;
        int64_t next = 0;
        const auto times = [&](const std::vector<ReadTrial>& some, const MeasureOptions& how) {
            std::vector<Sample> samples;
            for (const ReadTrial& trial : some)
                samples.push_back(
                    sample_of(trial, threads, memory,
                              probe.function<ReadFunction>(read_function(trial.streams, trial.distance > 0)),
                              next, how.seconds));
            return quartiles_in_turns(samples, how);
        };
        MeasureOptions brief = options;
        brief.samples = std::min<int64_t>(options.samples, 3);
        brief.seconds = options.seconds / 4;
        const std::vector<double> first = times(trials, brief);
        const std::vector<ReadTrial> promising = fastest(trials, first, machine.memory.size());
        const std::vector<double> seconds = times(promising, options);
        const bool is_complete =
            std::all_of(seconds.begin(), seconds.end(), [](double s) { return std::isfinite(s); });
        if (is_complete)
            keep_best(machine, count, promising, seconds);
        else
            keep_best(machine, count, trials, first);
    }
    for (machine::MemoryLevel& level : machine.memory)
        std::sort(level.read_bandwidth.begin(), level.read_bandwidth.end(),
                  [](const auto& a, const auto& b) { return a.threads < b.threads; });
}

}  // namespace tessera::measure
