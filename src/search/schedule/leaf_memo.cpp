#include "search/schedule/leaf_memo.h"

#include <algorithm>
#include <bit>

namespace tessera::schedule {
namespace {

/// Lanes of most machines divide this.
constexpr int64_t kWholeLanes = 16;

/// After refusals in so many kinds of parts it is the operator that a family does not suit, and not the
/// tiles; after those of so many leaves it is the family.
constexpr int kEnoughKinds = 4;
constexpr int kEnoughLeaves = 3;

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
    kind.reserve(kind.size() + accesses.size() + part.ranges.size() + 1);
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

bool LeafMemo::OfKind::has_refused(int leaf) const {
    if (record_ && record_->refused.contains(leaf)) return true;
    const int family = memo_.evaluator_.family(leaf);
    if (of_all_sizes_ && of_all_sizes_->refused.contains(family)) return true;
    // A tile that a streaming softmax folds has a largest size.
    if (is_folded_ && !memo_.evaluator_.leaf(leaf).kernel->product.n) return false;
    const auto is_enough = [&](const std::map<int, int>& refusals, int enough) {
        const auto found = refusals.find(family);
        return found != refusals.end() && found->second >= enough;
    };
    if (record_ && !record_->accepted_families.contains(family) &&
        is_enough(record_->refusals_of_family, kEnoughLeaves))
        return true;
    return of_all_sizes_ && !of_all_sizes_->accepted.contains(family) &&
           is_enough(of_all_sizes_->refusals, kEnoughKinds);
}

LeafMemo::OfKind LeafMemo::of(const Kind& kind) const {
    const auto record = records_.find(kind);
    const auto of_all_sizes = of_all_sizes_.find(without_sizes(kind));
    return {*this, record == records_.end() ? nullptr : &record->second,
            of_all_sizes == of_all_sizes_.end() ? nullptr : &of_all_sizes->second, kind[1] != 0};
}

void LeafMemo::refuse(const Kind& kind, int leaf, bool is_of_all_tiles) {
    Record& record = records_[kind];
    const int family = evaluator_.family(leaf);
    if (is_of_all_tiles) of_all_sizes_[without_sizes(kind)].refused.insert(family);
    if (!record.refused.insert(leaf).second) return;
    if (++record.refusals_of_family[family] == kEnoughLeaves)
        ++of_all_sizes_[without_sizes(kind)].refusals[family];
}

void LeafMemo::accept(const Kind& kind, int leaf) {
    Record& record = records_[kind];
    record.accepted.insert(leaf);
    record.accepted_families.insert(evaluator_.family(leaf));
    of_all_sizes_[without_sizes(kind)].accepted.insert(evaluator_.family(leaf));
}

}  // namespace tessera::schedule
