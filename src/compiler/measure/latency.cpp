#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "compiler/measure/bandwidth.h"
#include "compiler/measure/near_memory.h"
#include "compiler/measure/samples.h"

namespace tessera::measure {
namespace {

/// SplitMix64 (Steele, Lea and Flood, 2014): the same order everywhere, which std::shuffle does not promise.
uint64_t next_random(uint64_t& state) {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

/// Links lines of the memory, `most` or all, to one cycle in a random order, in which no hardware finds a
/// pattern. If not all, one lies anywhere in each of equal parts of the memory. @return one of them
const char* link(char* memory, int64_t bytes, int64_t line_bytes, int64_t most) {
    const int64_t lines = bytes / line_bytes, apart = std::max<int64_t>(1, lines / most);
    std::vector<int64_t> order(static_cast<size_t>(lines / apart));
    uint64_t state = 1;
    for (size_t i = 0; i < order.size(); ++i)
        order[i] = static_cast<int64_t>(i) * apart +
                   static_cast<int64_t>(next_random(state) % static_cast<uint64_t>(apart));
    for (size_t i = order.size() - 1; i > 0; --i)
        std::swap(order[i], order[static_cast<size_t>(next_random(state) % (i + 1))]);
    for (size_t i = 0; i < order.size(); ++i) {
        char* const next = memory + order[(i + 1) % order.size()] * line_bytes;
        std::memcpy(memory + order[i] * line_bytes, &next, sizeof next);
    }
    return memory + order.front() * line_bytes;
}

const char* follow(const char* at, int64_t steps) {
    for (int64_t i = 0; i < steps; ++i) std::memcpy(&at, at, sizeof at);
    return at;
}

/// Lines of a cycle where time is short: samples of two milliseconds follow less than all of them.
constexpr int64_t kFewLines = int64_t{1} << 18;

/// Reads all of it, so that caches smaller than half of it hold none of the lines that were linked.
void read_all(const char* memory, int64_t bytes, int64_t line_bytes) {
    [[maybe_unused]] volatile char last = 0;
    for (int64_t at = 0; at < bytes; at += line_bytes) last = memory[at];
}

}  // namespace

void measure_latency(machine::Machine& machine, const MeasureOptions& options) {
    for (machine::MemoryLevel& level : machine.memory) level.latency_seconds.reset();
    PinnedThreads one(1);
    std::vector<std::unique_ptr<NearMemory>> memory;
    std::vector<size_t> levels;
    std::vector<Sample> samples;
    for (size_t level = 0; level < machine.memory.size(); ++level) {
        const int64_t bytes = working_set(machine, level, 1, options);
        if (bytes < 2 * machine.cache_line_bytes) continue;
        auto buffer = std::make_unique<NearMemory>(one, bytes, options);
        if (!buffer->are_filled()) break;
        levels.push_back(level);
        memory.push_back(std::move(buffer));
        char* const start = memory.back()->of(0);
        const auto line_bytes = std::max<int64_t>(machine.cache_line_bytes, sizeof(char*));
        const bool is_short = options.most_bytes > 0;
        const char* const linked = link(start, bytes, line_bytes, is_short ? kFewLines : bytes);
        if (is_short) read_all(start, bytes, line_bytes);
        const auto at = std::make_shared<const char*>(linked);
        samples.push_back(repeated(
            [&one, at](int64_t steps) { return one.seconds([&](int64_t) { *at = follow(*at, steps); }); },
            options.seconds));
    }
    const std::vector<double> seconds = quartiles_in_turns(samples, options);
    for (size_t i = 0; i < levels.size(); ++i)
        if (std::isfinite(seconds[i])) machine.memory[levels[i]].latency_seconds = two_digits(seconds[i]);
}

}  // namespace tessera::measure
