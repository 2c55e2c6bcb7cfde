#include "compiler/bench/host_probe.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstring>

#include <sys/mman.h>

#include "compiler/bench/peak_loop.h"
#include "machine/probe.h"
#include "support/limits.h"

namespace tessera::benchmark {
namespace {

// Far beyond every cache, and no more than a machine that runs models has to spare for a moment.
constexpr int64_t kLeastBuffer = int64_t{512} << 20;
constexpr int64_t kTimesTheCaches = 4;

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
    const machine::Machine host = machine::probe_host();
    for (size_t level = 0; level + 1 < host.memory.size(); ++level)
        caches = std::max(caches, host.memory[level].capacity_bytes);
    const int64_t bytes = std::max(kLeastBuffer, kTimesTheCaches * caches);
    return bytes / kLineBytes * kLineBytes;
}

/// Reads so many streams beside each other, four lines of each in a round; the rest at the ends is less than
/// a round. One word brings a line, so that many lines are under way whatever the width of registers.
template <int64_t kStreams>
uint64_t read(const std::byte* begin, const std::byte* end, int64_t prefetch_bytes) {
    constexpr int64_t kRound = 4 * kLineBytes;
    const int64_t stream = (end - begin) / (kStreams * kRound) * kRound;
    uint64_t sum = 0;
    for (int64_t at = 0; at < stream; at += kRound)
        for (int64_t s = 0; s < kStreams; ++s)
            for (int64_t i = 0; i < 4; ++i) {
                const std::byte* line = begin + s * stream + at + i * kLineBytes;
                // Beyond the end the hint has no effect.
                if (prefetch_bytes > 0) __builtin_prefetch(line + prefetch_bytes);
                uint64_t word;
                std::memcpy(&word, line, sizeof word);
                sum ^= word;
            }
    return sum;
}

constexpr std::array kReaders = {read<1>, read<2>, read<4>, read<8>};

/// Runs `work(worker)` on all of them.
template <typename Work>
void on_all(runtime::WorkerTeam& team, Work& work) {
    team.run([](void* context, int64_t worker) noexcept { (*static_cast<Work*>(context))(worker); }, &work);
}

}  // namespace

HostProbe::HostProbe(int64_t workers)
    : team_(workers, runtime::one_processor_each(workers)),
      buffer_(static_cast<size_t>(buffer_bytes()), "bench", "the buffer for the read bandwidth") {
    const std::span<std::byte> bytes = buffer_.bytes();
    // Large pages, so that the limit is that of the memory and not of page tables; a hint.
    (void)::madvise(bytes.data(), bytes.size(), MADV_HUGEPAGE);
    // Memory that was never written is one page of zeros, which caches hold.
    std::memset(bytes.data(), 1, bytes.size());
    double best = 0;
    for (const Reader read : kReaders)
        for (const int64_t distance : kPrefetchBytes) {
            const Reading reading{read, distance};
            const double seconds = std::min(seconds_of_reading(reading), seconds_of_reading(reading));
            if (best == 0 || seconds < best) {
                best = seconds;
                fastest_ = reading;
            }
        }
}

double HostProbe::seconds_of_reading(const Reading& reading) {
    const std::span<const std::byte> bytes = buffer_.bytes();
    const size_t part = bytes.size() / static_cast<size_t>(team_.workers());
    std::atomic<uint64_t> sink = 0;
    auto work = [&](int64_t worker) {
        const std::byte* begin = bytes.data() + static_cast<size_t>(worker) * part;
        sink += reading.read(begin, begin + part, reading.prefetch_bytes);
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
        reading[static_cast<size_t>(i)] = seconds_of_reading(fastest_);
        arithmetic[static_cast<size_t>(i)] = seconds_of_arithmetic();
    }
    const auto workers = static_cast<double>(team_.workers());
    return {.bytes_per_second = static_cast<double>(buffer_.bytes().size()) / median(reading),
            .multiply_adds_per_second =
                workers * kRounds * peak_loop().multiply_adds_of_a_round / median(arithmetic)};
}

}  // namespace tessera::benchmark
