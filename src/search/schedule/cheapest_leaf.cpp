#include "search/schedule/cheapest_leaf.h"

#include <bit>
#include <limits>

#include "search/schedule/block_context.h"

namespace tessera::schedule {

CheapestLeaf cheapest_leaf(BlockContext& block, const lowering::TiledKernel& kernel, size_t at,
                           const cost::Evaluator::Part& part, const std::vector<bool>& is_tile) {
    LeafMemo::Kind key = LeafMemo::kind_of(block.links, kernel, at, is_tile);
    const auto of_kind = static_cast<ptrdiff_t>(key.size());
    key.insert(key.end(), part.extents.begin(), part.extents.end());
    for (const double executions : part.executions) key.push_back(std::bit_cast<int64_t>(executions));
    if (const auto known = block.cheapest.find(key); known != block.cheapest.end()) return known->second;
    const bool is_folded = is_folded_in_parts(block.links, kernel, at);
    const LeafMemo::OfKind memo = block.memo.of({key.begin(), key.begin() + of_kind});
    CheapestLeaf best{-1, std::numeric_limits<double>::infinity()};
    for (const int leaf : block.leaves[static_cast<size_t>(kernel.operators[at].op)]) {
        if (is_folded && !block.evaluator.leaf(leaf).kernel->tiles_reductions) continue;
        const double seconds = block.evaluator.compute(part, leaf);
        if (seconds < best.seconds && !memo.has_refused(leaf)) best = {leaf, seconds};
    }
    return block.cheapest.emplace(std::move(key), best).first->second;
}

}  // namespace tessera::schedule
