#include "lowering/kernels/block_candidates.h"

#include "lowering/kernels/parameters.h"
#include "lowering/kernels/product_candidates.h"

namespace tessera::kernels {

void for_each_block_reading(const CandidateScope& scope,
                            const std::function<void(const BlockReading&)>& offer) {
    int index = 0;
    for (const BlockContraction& roles : block_contractions_of(scope.definition())) {
        const int m = longest(roles.m, scope);
        BlockReading reading{roles, m < 0 ? 1 : scope.extent(m), index++, {}};
        for (const int n : roles.n) {
            plan::Leaf& leaf = reading.leaves.emplace_back(scope.leaf());
            leaf.set(parameter::kColumns, scope.name(n)).set(parameter::kReduction, scope.name(roles.k));
            if (m >= 0) leaf.set(parameter::kRowsOfA, scope.name(m));
        }
        offer(reading);
    }
}

}  // namespace tessera::kernels
