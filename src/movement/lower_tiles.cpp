// Micro-kernel `contract_tiles`: products of bf16 as calls of NTT's contraction on a matrix unit. Its tiles
// read A in rows at any stride and B in pairs of k, `lanes <n:16, k:2>`, of which sixteen in a row are one
// tile: the form in which the vector units read the same weight. Of a B that is stored otherwise, such as the
// keys of a cache, NTT makes the pairs.
#include "ir/iterator_use.h"
#include "kernels/contraction.h"
#include "movement/calls/tile_contract_call.h"
#include "movement/product_tile.h"
#include "support/error.h"

namespace tessera {
namespace {

struct Factors {
    Read a, b;
};

Factors factors_of(const LeafScope& scope, const ProductIterators& iterators) {
    const Definition& definition = *scope.node.definition();
    const auto is_bf16 = [&](const Read& factor) {
        return definition.tensors[static_cast<size_t>(factor.tensor)].type == ElementType::kBF16;
    };
    for (const Contraction& product : contractions_of(definition)) {
        const Read* b = product.b_operand();
        if (b && is_bf16(product.a) && is_bf16(*b) && contains(product.n, iterators.n) &&
            contains(product.k, iterators.k) && (iterators.m < 0 || contains(product.m, iterators.m)))
            return {product.a, *b};
    }
    throw Error(scope.node.name, std::string(scope.leaf.kernel->name),
                "n must index one factor of bf16 and the result, k both factors and not the result, m the "
                "other factor "
                "of bf16 and the result",
                "choose other iterators for m, n and k");
}

/// The iterators of the tile where k goes by ones.
std::vector<Index> with_single_steps(std::vector<Index> at, int k, const Range& range) {
    at[static_cast<size_t>(k)] = range.begin + position(kStep, range.largest);
    return at;
}

}  // namespace

Body lower_contract_tiles(const LeafScope& scope) {
    const ProductIterators iterators = product_iterators(scope);
    const Factors factors = factors_of(scope, iterators);
    const TileBlock block = tile_parameters_of(scope);
    const int64_t lanes = block.lanes;
    const Definition& definition = *scope.node.definition();
    const bool is_in_pairs = is_padded(scope, factors.b, lanes, 1);
    if (!is_in_pairs && lanes == 1) {
        throw Error(scope.node.name, definition.tensors[static_cast<size_t>(factors.b.tensor)].name,
                    "has no lanes of which pairs could be made", "give lanes, or store it with lanes <k:2>");
    }
    ProductTile tile = surrounding(scope, iterators);
    std::vector<Index> at = tile.loops.values();
    refuse_reads_outside(scope, {factors.a, factors.b}, at);
    const auto range = [&](int x) -> const Range& { return scope.ranges[static_cast<size_t>(x)]; };
    const Range row = row_range(scope, iterators.m);
    const Range &n = range(iterators.n), &k = range(iterators.k);
    if (iterators.m >= 0) at[static_cast<size_t>(iterators.m)] = row.begin + position(kRow, row.largest);
    at[static_cast<size_t>(iterators.n)] =
        n.begin + position(kGroup, groups_in(n, lanes)) * Index(lanes) + position(kLane, lanes);
    at[static_cast<size_t>(iterators.k)] =
        k.begin + position(kStep, groups_in(k, kPair)) * Index(kPair) + position(kInStep, kPair);

    const TileAddress a(scope, factors.a.tensor, factors.a.coordinates, at, false);
    const FactorPositions in_pairs{kGroup, groups_in(n, lanes), kStep, groups_in(k, kPair), kPair};
    const FactorPositions apart{kGroup, groups_in(n, lanes), kStep, k.largest};
    Factor b = operand_factor(scope, factors.b, is_in_pairs ? at : with_single_steps(at, iterators.k, k),
                              is_in_pairs ? in_pairs : apart, lanes);
    const int result = definition.results().front();
    const TileAddress c(scope, result, definition.tensors[static_cast<size_t>(result)].map, at, true);
    a.expect_stride(kInStep, 1);
    a.expect_stride(kStep, kPair);
    if (lanes > 1) c.expect_stride(kLane, 1);
    TileContractCall call{.lanes = lanes,
                          .tile_rows = block.tile_rows,
                          .depth = block.depth,
                          .rows = block.rows,
                          .groups = block.groups,
                          .is_in_pairs = is_in_pairs,
                          .accumulate = tile.accumulates,
                          .m = extent(row),
                          .n = extent(n),
                          .k = extent(k),
                          .a = a.start(),
                          .a_m = a.stride(kRow),
                          .b = std::move(b),
                          .c = c.start(),
                          .c_m = c.stride(kRow),
                          .c_group = c.stride(kGroup)};
    return finished(scope, std::move(tile), {Call(std::move(call))});
}

}  // namespace tessera
