#pragma once

#include "distribution/spmd/shard.h"

namespace tessera::spmd {

/// A rank's program with every box in plain operators around exchanges (ir/ops/exchange.h). A slice is a copy
/// of a part. In all else the ranks exchange parts, and each takes, or folds in the order of the ranks, what
/// it needs: so every rank computes the same numbers, whatever comes first. @pre boxes are on the only level
Graph with_exchanges(const Graph& local, int64_t rank, int64_t ranks);

}  // namespace tessera::spmd
