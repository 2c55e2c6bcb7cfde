#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "distribution/boxes.h"

/// The exchange of a program's ranks for a box (distribution/spmd/exchanges.h), so that it can be timed by
/// itself.
namespace tessera::spmd {

struct BoxExchange {
    std::string_view call;        ///< of runtime::Communicator: "gather", "transpose", "place"
    int64_t part_bytes = 0;       ///< of gather and transpose
    int64_t rows = 0;             ///< of place
    std::vector<int64_t> starts;  ///< of place, in bytes of a row
    double seconds = 0;           ///< predicted
};

/// At the first point of the graph, which is one decoded token for models; empty for slices.
/// @pre the problem is for execution: one level, CollectiveModel::kGathered
std::optional<BoxExchange> box_exchange(const distribution::Problem& problem,
                                        const distribution::Value& value, const distribution::Box& box);

}  // namespace tessera::spmd
