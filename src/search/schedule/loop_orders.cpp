#include "search/schedule/loop_orders.h"

#include <algorithm>

namespace tessera::schedule {

using lowering::NumberedNest;

std::vector<NumberedNest> other_orders(const BlockContext& block, const NumberedNest& kernel) {
    const lowering::BlockLinks::Operator& root = block.links.operators[static_cast<size_t>(kernel.root())];
    std::vector<NumberedNest> orders;
    if (!block.space.has_other_orders) return orders;
    for (size_t loop = 1; loop < kernel.loops.size(); ++loop) {
        if (root.is_reduction(kernel.loops[loop].iterator) || kernel.loops[loop].tile != plan::kOpenTile)
            continue;
        std::vector<NumberedNest::Loop>& loops = orders.emplace_back(kernel).loops;
        const auto outermost = loops.begin() + static_cast<ptrdiff_t>(loop);
        std::rotate(loops.begin(), outermost, outermost + 1);
    }
    return orders;
}

}  // namespace tessera::schedule
