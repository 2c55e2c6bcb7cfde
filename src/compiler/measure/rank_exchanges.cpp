#include "compiler/measure/rank_exchanges.h"

#include <algorithm>
#include <bit>
#include <chrono>

#include "compiler/measure/samples.h"
#include "support/error.h"

namespace tessera::measure {
namespace {

constexpr double kSampleSeconds = 2e-3;
constexpr int kSamples = 15;
constexpr int64_t kMostRepetitions = 100'000;
// Parts of activations are small: a bandwidth from larger ones would be that of memory behind the caches.
constexpr int64_t kSmallBytes = 8, kLargeBytes = int64_t{1} << 17;

/// Every rank gets the number of rank 0.
template <typename Number>
Number of_first(runtime::Communicator& ranks, Number number) {
    ranks.broadcast(std::as_writable_bytes(std::span(&number, 1)));
    return number;
}

void run(runtime::Communicator& ranks, const RankExchange& exchange, std::vector<unsigned char>& memory) {
    if (exchange.call == "gather") return ranks.gather(memory.data(), exchange.part_bytes);
    if (exchange.call == "transpose") return ranks.transpose(memory.data(), exchange.part_bytes);
    TESSERA_CHECK(exchange.call == "place", "{} is no exchange", exchange.call);
    ranks.place(memory.data(), exchange.rows, exchange.starts);
}

}  // namespace

double exchange_seconds(runtime::Communicator& ranks, const RankExchange& exchange) {
    const int64_t bytes = exchange.call == "place" ? exchange.rows * exchange.starts.back()
                                                   : exchange.part_bytes * ranks.ranks();
    std::vector<unsigned char> memory(static_cast<size_t>(bytes));
    const auto seconds_of = [&](int64_t repetitions) {
        const auto begin = std::chrono::steady_clock::now();
        for (int64_t i = 0; i < repetitions; ++i) run(ranks, exchange, memory);
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    int64_t repetitions = 1;
    while (of_first(ranks, seconds_of(repetitions)) < kSampleSeconds && repetitions < kMostRepetitions)
        repetitions *= 2;
    std::vector<double> samples;
    for (int i = 0; i < kSamples; ++i)
        samples.push_back(seconds_of(repetitions) / static_cast<double>(repetitions));
    std::ranges::sort(samples);
    return of_first(ranks, samples[kSamples / 4]);
}

machine::RankLink measure_rank_link(runtime::Communicator& ranks, const std::string& transport) {
    const auto gather = [&](int64_t bytes) {
        return exchange_seconds(ranks, {.call = "gather", .part_bytes = bytes});
    };
    const double small = gather(kSmallBytes), large = gather(kLargeBytes);
    const auto rounds = static_cast<double>(std::bit_width(static_cast<uint64_t>(ranks.ranks() - 1)));
    const auto bytes = static_cast<double>((kLargeBytes - kSmallBytes) * (ranks.ranks() - 1));
    // On a machine that does other work a large part may seem to take no longer than a small one.
    const double moving = std::max(large - small, large / 100);
    return {.ranks = ranks.ranks(),
            .transport = transport,
            .latency_seconds = two_digits(small / rounds),
            .bytes_per_second = two_digits(bytes / moving)};
}

}  // namespace tessera::measure
