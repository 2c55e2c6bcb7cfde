#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "machine/machine.h"

namespace tessera::planner {

/// The traffic of an operator that is a kernel of its own: it reads or writes each element once.
struct OperatorTraffic {
    double seconds = 0;         ///< at the rates of the levels
    double streamed_bytes = 0;  ///< of constants and states
};

/// Constants and states come from a level of their own, everything else from the innermost that holds it.
/// Padding counts. `layouts` and `extents` as Definition::tensors and ::iterators.
struct TrafficRates {
    std::function<double(size_t)> seconds_per_byte;  ///< of a level, of one worker while all of them read
    std::function<int64_t(size_t)> capacity;         ///< of a level in bytes, of one worker
    size_t constants;                                ///< the level of constants and states
    size_t memory;                                   ///< the outermost level
};
OperatorTraffic operator_traffic(const Graph& graph, const Node& node, const std::vector<Layout>& layouts,
                                 const std::vector<int64_t>& extents,
                                 const std::map<std::string, int64_t>& symbols, const TrafficRates& rates);

}  // namespace tessera::planner
