#include "bench/host_probe.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstring>

#include <sys/mman.h>

#include "bench/peak_loop.h"
#include "machine/probe.h"
#include "machine/processors.h"

namespace tessera {
namespace {

// Far beyond every cache, and no more than a machine that runs models has to spare for a moment.
constexpr int64_t kLeastBuffer = int64_t{512} << 20;
constexpr int64_t kTimesTheCaches = 4;

constexpr int64_t kLine = 64;
constexpr std::array<int64_t, 6> kPrefetchBytes = {0, 512, 1024, 2048, 4096, 8192};
constexpr int kTries = 3;             // of which the median counts
constexpr int64_t kRounds = 1 << 18;  // of the peak loop: some milliseconds

double median(std::array<double, kTries> values) {
    std::sort(values.begin(), values.end());
    return values[kTries / 2];
}

double seconds_of(const auto& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

int64_t buffer_bytes() {
    int64_t caches = 0;
    const Machine host = probe_host();
    for (size_t level = 0; level + 1 < host.memory.size(); ++level)
        caches = std::max(caches, host.memory[level].capacity_bytes);
    const int64_t bytes = std::max(kLeastBuffer, kTimesTheCaches * caches);
    return bytes / kLine * kLine;
}

WorkerOptions pinned(int64_t workers) {
    WorkerOptions options{.processors = worker_processors()};
    if (static_cast<int64_t>(options.processors.size()) < workers) options = {.processors = {}, .spins = 0};
    return options;
}

/// Four lines in each round, as fast as they come.
uint64_t read(const std::byte* begin, const std::byte* end, int64_t prefetch_bytes) {
    using Line = uint64_t __attribute__((vector_size(kLine)));
    Line sums[4] = {};
    for (; end - begin >= 4 * kLine; begin += 4 * kLine)
        for (int64_t i = 0; i < 4; ++i) {
            const std::byte* line = begin + i * kLine;
            // Beyond the end it is a hint that goes nowhere.
            if (prefetch_bytes > 0) __builtin_prefetch(line + prefetch_bytes);
            Line value;
            std::memcpy(&value, line, sizeof value);
            sums[i] ^= value;
        }
    const Line all = sums[0] ^ sums[1] ^ sums[2] ^ sums[3];
    return all[0] ^ all[1] ^ all[2] ^ all[3] ^ all[4] ^ all[5] ^ all[6] ^ all[7];
}

/// Runs `work(worker)` on all of them.
template <typename Work>
void on_all(WorkerTeam& team, Work& work) {
    team.run([](void* context, int64_t worker) noexcept { (*static_cast<Work*>(context))(worker); }, &work);
}

}  // namespace

HostProbe::HostProbe(int64_t workers)
    : team_(workers, pinned(workers)),
      buffer_(static_cast<size_t>(buffer_bytes()), "bench", "the buffer for the read bandwidth") {
    const std::span<std::byte> bytes = buffer_.bytes();
    // Large pages, so that the limit is that of the memory and not of page tables; a hint.
    (void)::madvise(bytes.data(), bytes.size(), MADV_HUGEPAGE);
    // What was never written is one page of zeros, which caches hold.
    std::memset(bytes.data(), 1, bytes.size());
    double best = 0;
    for (const int64_t distance : kPrefetchBytes) {
        std::array<double, kTries> seconds;
        for (double& each : seconds) each = seconds_of_reading(distance);
        if (best == 0 || median(seconds) < best) {
            best = median(seconds);
            prefetch_bytes_ = distance;
        }
    }
}

double HostProbe::seconds_of_reading(int64_t prefetch_bytes) {
    const std::span<const std::byte> bytes = buffer_.bytes();
    const size_t part = bytes.size() / static_cast<size_t>(team_.workers());
    std::atomic<uint64_t> sink = 0;
    auto work = [&](int64_t worker) {
        const std::byte* begin = bytes.data() + static_cast<size_t>(worker) * part;
        sink += read(begin, begin + part, prefetch_bytes);
    };
    return seconds_of([&] { on_all(team_, work); });
}

double HostProbe::seconds_of_arithmetic() {
    const PeakLoop loop = peak_loop();
    std::atomic<uint64_t> sink = 0;
    auto work = [&](int64_t) { sink += static_cast<uint64_t>(loop.run(kRounds)); };
    return seconds_of([&] { on_all(team_, work); });
}

HostLimits HostProbe::measure() {
    std::array<double, kTries> reading, arithmetic;
    for (int i = 0; i < kTries; ++i) {
        reading[static_cast<size_t>(i)] = seconds_of_reading(prefetch_bytes_);
        arithmetic[static_cast<size_t>(i)] = seconds_of_arithmetic();
    }
    const auto workers = static_cast<double>(team_.workers());
    return {.bytes_per_second = static_cast<double>(buffer_.bytes().size()) / median(reading),
            .multiply_adds_per_second =
                workers * kRounds * peak_loop().multiply_adds_of_a_round / median(arithmetic)};
}

}  // namespace tessera
