// How fast memory is read, by the method of STREAM's successors: every thread reads a buffer of its own from
// end to end, again and again. The trials vary the choices of code: the number of parallel streams, and the
// prefetch distance. The best pair counts, since a kernel can reach it.

#include "measure/bandwidth.h"

#include <algorithm>
#include <array>

#include "measure/near_memory.h"
#include "measure/probe_code.h"
#include "measure/samples.h"
#include "runtime/shared_library.h"

namespace tessera::measure {
namespace {

constexpr std::array<int64_t, 6> kDistances = {0, 256, 512, 1024, 2048, 4096};

// Smaller differences are noise: then the trial with the shorter prefetch distance is taken.
constexpr double kNoise = 1.02;

struct ReadTrial {
    size_t level;
    int64_t bytes;  ///< of each thread
    int64_t streams;
    int64_t distance;
};

std::vector<ReadTrial> trials_of(const machine::Machine& machine, int64_t threads,
                                 const MeasureOptions& options) {
    std::vector<ReadTrial> trials;
    for (size_t level = 0; level < machine.memory.size(); ++level) {
        const int64_t bytes = working_set(machine, level, threads, options);
        if (bytes == 0) continue;
        for (const int64_t distance : kDistances)
            for (const int64_t streams : kStreams) {
                const int64_t step = kReadStep * streams;
                if (bytes >= step) trials.push_back({level, bytes / step * step, streams, distance});
            }
    }
    return trials;
}

Sample sample_of(const ReadTrial& trial, PinnedThreads& threads, NearMemory& memory, ReadFunction read,
                 double seconds) {
    return repeated(
        [&threads, &memory, trial, read](int64_t calls) {
            return threads.seconds([&](int64_t thread) {
                for (int64_t i = 0; i < calls; ++i) read(memory.of(thread), trial.bytes, trial.distance);
            });
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
        const int64_t bytes =
            options.memory_bytes > 0 ? options.memory_bytes : std::max(kLeast, 4 * last_cache);
        return std::min(bytes, wanted.capacity_bytes / (4 * threads));
    }
    const int64_t share = wanted.capacity_bytes / std::min(wanted.shared_by_cores, threads);
    return share >= 2 * inside ? share / 2 : 0;
}

void measure_bandwidth(machine::Machine& machine, const MeasureOptions& options) {
    const runtime::SharedLibrary code(compile_probe({read_code(machine)}, machine, options),
                                      "the bandwidth probe");
    for (machine::MemoryLevel& level : machine.memory) level.read_bandwidth.clear();
    for (const int64_t count : thread_counts(options.threads > 0 ? options.threads : machine.cores)) {
        PinnedThreads threads(count);
        const std::vector<ReadTrial> trials = trials_of(machine, count, options);
        int64_t most = 0;
        for (const ReadTrial& trial : trials) most = std::max(most, trial.bytes);
        NearMemory memory(threads, most);
        const auto times = [&](const std::vector<ReadTrial>& some, const MeasureOptions& how) {
            std::vector<Sample> samples;
            for (const ReadTrial& trial : some)
                samples.push_back(
                    sample_of(trial, threads, memory,
                              code.function<ReadFunction>(read_function(trial.streams, trial.distance > 0)),
                              how.seconds));
            return quartiles_in_turns(samples, how);
        };
        MeasureOptions brief = options;
        brief.samples = std::min<int64_t>(options.samples, 3);
        brief.seconds = options.seconds / 4;
        const std::vector<ReadTrial> promising = fastest(trials, times(trials, brief), machine.memory.size());
        keep_best(machine, count, promising, times(promising, options));
    }
}

}  // namespace tessera::measure
