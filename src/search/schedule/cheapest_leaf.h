#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "cost/evaluate.h"
#include "lowering/tiled_kernel.h"
#include "support/hash_vector.h"

namespace tessera::schedule {

struct BlockContext;

struct CheapestLeaf {
    int leaf = -1;  ///< -1: none lowers
    double seconds = 0;
};

/// By kind of a part, extents and executions; what a refusal made out of date is gone.
using CheapestLeaves = std::unordered_map<std::vector<int64_t>, CheapestLeaf, HashVector>;

/// The leaf that computes an operator fastest in its part of the kernel, of those that were not refused in
/// such a part; infinite if there is none.
/// @param part of the operator at this place of the kernel
CheapestLeaf cheapest_leaf(BlockContext& block, const lowering::TiledKernel& kernel, size_t at,
                           const cost::Evaluator::Part& part, const std::vector<bool>& is_tile);

}  // namespace tessera::schedule
