#pragma once

#include <cstdint>
#include <string_view>

#include "distribution/placement.h"

/// The price of boxes: collectives in the alpha-beta model.
namespace tessera::distribution {

/// The collective that a box is.
enum class Collective : uint8_t {
    kSlice,          ///< B -> S(a): every device keeps its part, nothing is sent
    kAllGather,      ///< S(a) -> B
    kAllToAll,       ///< S(a) -> S(b)
    kReduceScatter,  ///< P(m) -> S(a)
    kAllReduce,      ///< P(m) -> B
};
/// "slice", "all-gather", ...
std::string_view name(Collective collective);

/// The algorithms that are there to choose from.
enum class CollectiveModel : uint8_t {
    kRings,    ///< rings alone, whatever the size: that of `.dist` files
    kFastest,  ///< the fastest known one for each size
    /// Those of the run time (docs/ranks.md): all ranks gather everything, or transpose what they have for
    /// each other, and each takes or folds what it needs.
    kGathered,
};

struct CollectiveTime {
    double seconds = 0;
    std::string_view algorithm;  ///< "ring", "recursive doubling", ..; empty for a slice
};

/// @param bytes of the value on one device if the level did not cut it
CollectiveTime collective_time(Collective collective, const Level& level, double bytes,
                               CollectiveModel model);

}  // namespace tessera::distribution
