#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "machine/measurements.h"
#include "run/runtime/communicator.h"

/// Times of what the ranks of a program exchange (docs/ranks.md), by themselves.
namespace tessera::measure {

/// One call of a communicator.
struct RankExchange {
    std::string call;             ///< "gather", "transpose", "place"
    int64_t part_bytes = 0;       ///< of gather and transpose
    int64_t rows = 0;             ///< of place
    std::vector<int64_t> starts;  ///< of place
    auto operator<=>(const RankExchange&) const = default;
};

/// Seconds of one exchange among many, one behind the other: the lower quartile of some samples of rank 0, on
/// every rank. All ranks call it together.
double exchange_seconds(runtime::Communicator& ranks, const RankExchange& exchange);

/// Latency and bandwidth of gathering, as the search for distributions prices it: log2(ranks) latencies, and
/// the parts of the others. All ranks call it together.
machine::RankLink measure_rank_link(runtime::Communicator& ranks, const std::string& transport);

}  // namespace tessera::measure
