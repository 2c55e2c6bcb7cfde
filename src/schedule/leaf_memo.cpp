#include "schedule/leaf_memo.h"

#include <algorithm>
#include <bit>

namespace tessera::schedule {
namespace {

/// Lanes of most machines divide this.
constexpr int64_t kWholeLanes = 16;

/// After refusals in so many kinds of parts it is the operator that a leaf does not suit, and not the tiles.
constexpr int kEnough = 4;

/// Numbers of a kind that do not depend on tile sizes: operator, folded in parts, result in tiles, and the
/// number of operands whose place follows.
constexpr size_t kFixed = 4;

int64_t kind_of_tile(const lowering::PartRange& range) {
    if (range.loop < 0) return 0;
    if (range.largest == 1) return 1;
    return range.largest % kWholeLanes == 0 ? kWholeLanes : 2;
}

}  // namespace

bool is_folded_in_parts(const lowering::BlockLinks& links, const lowering::TiledKernel& kernel, size_t at) {
    const lowering::TiledOperator& part = kernel.operators[at];
    return std::ranges::any_of(part.loops, [&](int loop) {
        const lowering::TiledLoop& around = kernel.loops[static_cast<size_t>(loop)];
        return around.op == part.op &&
               links.operators[static_cast<size_t>(part.op)].is_reduction(around.iterator);
    });
}

LeafMemo::Kind LeafMemo::kind_of(const lowering::BlockLinks& links, const lowering::TiledKernel& kernel,
                                 size_t at, const std::vector<bool>& is_tile) {
    const lowering::TiledOperator& part = kernel.operators[at];
    const auto& accesses = links.operators[static_cast<size_t>(part.op)].accesses;
    const bool is_folded = is_folded_in_parts(links, kernel, at);
    Kind kind = {part.op, is_folded ? 1 : 0, is_tile[static_cast<size_t>(part.op)] ? 1 : 0,
                 static_cast<int64_t>(accesses.size())};
    for (const lowering::BlockLinks::Access& access : accesses)
        kind.push_back(is_tile[static_cast<size_t>(access.producer)] ? 1 : 0);
    uint64_t elements = 1;
    for (const lowering::PartRange& range : part.ranges) {
        kind.push_back(kind_of_tile(range));
        elements *= static_cast<uint64_t>(std::clamp<int64_t>(range.largest, 1, 1 << 15));
    }
    // A tile of a streaming softmax has a largest size.
    if (is_folded) kind.push_back(static_cast<int64_t>(std::bit_width(elements)));
    return kind;
}

LeafMemo::Kind LeafMemo::without_sizes(const Kind& kind) {
    return {kind.begin(),
            kind.begin() + static_cast<ptrdiff_t>(kFixed) + static_cast<ptrdiff_t>(kind[kFixed - 1])};
}

bool LeafMemo::has_refused(const Kind& kind, int leaf) const {
    const auto known = refused_.find(kind);
    if (known != refused_.end() && known->second.contains(leaf)) return true;
    const bool is_folded = kind[1] != 0;
    if (is_folded) return false;
    const auto record = records_.find(without_sizes(kind));
    if (record == records_.end() || record->second.accepted.contains(leaf)) return false;
    const auto refusals = record->second.refusals.find(leaf);
    return refusals != record->second.refusals.end() && refusals->second >= kEnough;
}

bool LeafMemo::has_accepted(const Kind& kind, int leaf) const {
    const auto known = accepted_.find(kind);
    return known != accepted_.end() && known->second.contains(leaf);
}

void LeafMemo::refuse(const Kind& kind, int leaf) {
    if (refused_[kind].insert(leaf).second) ++records_[without_sizes(kind)].refusals[leaf];
}

void LeafMemo::accept(const Kind& kind, int leaf) {
    accepted_[kind].insert(leaf);
    records_[without_sizes(kind)].accepted.insert(leaf);
}

}  // namespace tessera::schedule
