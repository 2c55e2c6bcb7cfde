#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>

#include "measure/bandwidth.h"
#include "measure/near_memory.h"
#include "measure/samples.h"

namespace tessera::measure {
namespace {

/// SplitMix64 (Steele, Lea and Flood, 2014): the same order everywhere, which std::shuffle does not promise.
uint64_t next_random(uint64_t& state) {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

/// Links all lines of the memory to one cycle in a random order, in which no hardware finds a pattern.
void link(char* memory, int64_t bytes, int64_t line_bytes) {
    std::vector<int64_t> order(static_cast<size_t>(bytes / line_bytes));
    std::iota(order.begin(), order.end(), 0);
    uint64_t state = 1;
    for (size_t i = order.size() - 1; i > 0; --i)
        std::swap(order[i], order[static_cast<size_t>(next_random(state) % (i + 1))]);
    for (size_t i = 0; i < order.size(); ++i) {
        char* const next = memory + order[(i + 1) % order.size()] * line_bytes;
        std::memcpy(memory + order[i] * line_bytes, &next, sizeof next);
    }
}

const char* follow(const char* at, int64_t steps) {
    for (int64_t i = 0; i < steps; ++i) std::memcpy(&at, at, sizeof at);
    return at;
}

}  // namespace

void measure_latency(machine::Machine& machine, const MeasureOptions& options) {
    PinnedThreads one(1);
    std::vector<NearMemory> memory;
    std::vector<size_t> levels;
    std::vector<Sample> samples;
    for (size_t level = 0; level < machine.memory.size(); ++level) {
        const int64_t bytes = working_set(machine, level, 1, options);
        if (bytes < 2 * machine.cache_line_bytes) continue;
        levels.push_back(level);
        memory.emplace_back(one, bytes);
        char* const start = memory.back().of(0);
        link(start, bytes, std::max<int64_t>(machine.cache_line_bytes, sizeof(char*)));
        const auto at = std::make_shared<const char*>(start);
        samples.push_back(repeated(
            [&one, at](int64_t steps) { return one.seconds([&](int64_t) { *at = follow(*at, steps); }); },
            options.seconds));
    }
    const std::vector<double> seconds = quartiles_in_turns(samples, options);
    for (size_t i = 0; i < levels.size(); ++i)
        machine.memory[levels[i]].latency_seconds = two_digits(seconds[i]);
}

}  // namespace tessera::measure
