#pragma once

#include <functional>
#include <vector>

#include "lowering/kernels/block_contraction.h"
#include "lowering/kernels/candidates.h"

namespace tessera::kernels {

/// The operator as a product of int8 blocks with a quantised weight.
struct BlockReading {
    const BlockContraction& roles;
    int64_t rows;                    ///< of A, at most
    int index;                       ///< among all readings
    std::vector<plan::Leaf> leaves;  ///< with their iterators, for each n
};
void for_each_block_reading(const CandidateScope& scope,
                            const std::function<void(const BlockReading&)>& offer);

}  // namespace tessera::kernels
