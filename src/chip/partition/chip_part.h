#pragma once

#include <map>
#include <optional>

#include "chip/chip_description.h"
#include "chip/partition/workload.h"

namespace tessera::partition {

/// The part of an operator that one chip of a pod executes: all chips cut one iterator into equal parts.
struct ChipPart {
    WorkOperator op;             ///< as that chip sees it
    std::optional<size_t> cut;   ///< the iterator; none: every chip executes all of it
    int64_t hbm_bytes = 0;       ///< that each chip reads
    int64_t exchange_bytes = 0;  ///< into each chip from others
    double exchange = 0;         ///< cycles of that
};

/// Bytes of each value that a chip has already, from operators before.
using HeldBytes = std::map<int, int64_t>;

/// Cuts where reading from the HBM and receiving from other chips take least together, then where each chip
/// executes least. A chip receives what it needs of an operand on the chips and does not hold, and its share
/// of the others' parts of a sum that several chips have parts of. Notes in `held` what it holds then. A pod
/// of one chip has no cut.
ChipPart chip_part(const WorkOperator& op, const chip::ChipDescription& chip, HeldBytes& held);

}  // namespace tessera::partition
