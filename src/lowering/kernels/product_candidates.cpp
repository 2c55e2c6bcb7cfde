#include "lowering/kernels/product_candidates.h"

#include <algorithm>

#include "ir/iterator_use.h"
#include "lowering/kernels/parameters.h"

namespace tessera::kernels {
namespace {

/// From this number of blocks of rows on, widening or decoding a panel of B once can pay off.
constexpr int64_t kFewestBlocks = 4;

}  // namespace

void for_each_reading(const CandidateScope& scope, const std::function<void(const ProductReading&)>& offer) {
    int index = 0;
    for (const Contraction& roles : contractions_of(scope.definition())) {
        const int longest_m = longest(roles.m, scope);
        const int64_t rows = longest_m < 0 ? 1 : scope.extent(longest_m);
        std::vector<int> rows_of_a{longest_m};
        for (const int m : roles.m)
            if (m != longest_m && rows > kFewRows && scope.extent(m) == rows) rows_of_a.push_back(m);
        for (const int m : rows_of_a) {
            for (const int n : roles.n) {
                for (const int k : roles.k) {
                    plan::Leaf leaf = scope.leaf();
                    leaf.set(parameter::kColumns, scope.name(n)).set(parameter::kReduction, scope.name(k));
                    if (m >= 0) leaf.set(parameter::kRowsOfA, scope.name(m));
                    offer({roles, n, k, rows, index++, std::move(leaf)});
                }
            }
        }
    }
}

int longest(const std::vector<int>& iterators, const CandidateScope& scope) {
    const auto found = std::max_element(iterators.begin(), iterators.end(),
                                        [&](int x, int y) { return scope.extent(x) < scope.extent(y); });
    return found == iterators.end() ? -1 : *found;
}

std::vector<RegisterBlock> offered(std::vector<RegisterBlock> blocks, const KernelTarget& target) {
    if (!target.has_all_blocks)
        blocks.erase(std::remove_if(blocks.begin() + 1, blocks.end(),
                                    [](const RegisterBlock& block) { return !block.is_for_memory; }),
                     blocks.end());
    return blocks;
}

bool is_found_by_index(const Read& operand) {
    return std::any_of(operand.coordinates.begin(), operand.coordinates.end(), is_indirect);
}

bool has_panels(const CandidateScope& scope, const Contraction& roles) {
    const Read* b = roles.b_operand();
    return scope.type(roles.a) == ElementType::kF32 && !(b && scope.type(*b) == ElementType::kF32);
}

std::optional<plan::Leaf> with_panels(plan::Leaf leaf, int64_t block_rows, int64_t rows, int64_t least_rows) {
    const int64_t blocks = std::max(kFewestBlocks, (least_rows + block_rows - 1) / block_rows);
    if (rows < blocks * block_rows) return std::nullopt;
    return leaf.set(parameter::kPanelBlocks, blocks);
}

plan::Leaf in_tiles(plan::Leaf leaf, const TileBlock& block) {
    leaf.set(parameter::kLanesOfTile, block.lanes)
        .set(parameter::kRowsOfTile, block.tile_rows)
        .set(parameter::kDepthOfTile, block.depth)
        .set(parameter::kTilesOfB, block.groups);
    if (block.rows > 0) leaf.set(parameter::kTilesOfA, block.rows);
    return leaf;
}

}  // namespace tessera::kernels
