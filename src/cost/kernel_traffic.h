#pragma once

#include <map>
#include <vector>

#include "cost/leaf_tiles.h"
#include "cost/step_cost.h"

namespace tessera::cost {

/// A kernel's traffic with one storage (views and in-place results followed).
struct StorageTraffic {
    int64_t read_bytes = 0;
    int64_t written_bytes = 0;
    bool is_streamed = false;  ///< B of a product or values of a softmax: the kernel waits for it as its
                               ///< micro-kernel does
    bool is_divided = false;   ///< between the workers
};

struct KernelTraffic {
    bool has_product = false;  ///< or a streaming softmax: timed with all data in the near level
    std::map<ValueId, StorageTraffic> storages;
    std::map<const Node*, double> executed;  ///< share of the iterations for which the predicate holds
};

/// Distinct elements that a kernel touches outside of its own tiles, by their bits.
KernelTraffic kernel_traffic(const lowering::LoweringInput& input, const Block& block,
                             const KernelTiles& tiles, const SizePoint& point);

}  // namespace tessera::cost
