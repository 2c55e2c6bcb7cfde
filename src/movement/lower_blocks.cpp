// Micro-kernels `contract_blocks` and `contract_block_tiles`: products of activations rounded to int8 with
// quantised weights, in integers inside the blocks that share a scale, by vectors or by a matrix unit.
#include "ir/iterator_use.h"
#include "kernels/block_contraction.h"
#include "movement/calls/block_contract_call.h"
#include "movement/product_tile.h"
#include "support/error.h"

namespace tessera {
namespace {

BlockContraction roles_of(const LeafScope& scope, const ProductIterators& iterators) {
    for (BlockContraction& product : block_contractions_of(*scope.node.definition())) {
        if (contains(product.n, iterators.n) && product.k == iterators.k &&
            (iterators.m < 0 || contains(product.m, iterators.m)))
            return std::move(product);
    }
    throw Error(scope.node.name, scope.leaf.micro_kernel,
                "n must index the quantised factor and the result, k both factors and not the result, m the "
                "other factor and the result",
                "choose other iterators for m, n and k");
}

/// @throws Error unless the tile has whole blocks of k.
void expect_whole_blocks(const LeafScope& scope, const Range& k, int64_t block) {
    if (k.begin.divisor() % block != 0 || extent(k).divisor() % block != 0) {
        throw Error(scope.node.name, scope.leaf.micro_kernel,
                    fmt::format("its tile of k ends within a block of {}", block),
                    fmt::format("tile k by multiples of {}", block));
    }
}

void expect_padded(const LeafScope& scope, const BlockContraction& product, int64_t lanes) {
    const auto expect = [&](const Read& read, size_t inner) {
        if (is_padded(scope, read, lanes, inner)) return;
        throw Error(scope.node.name, scope.node.definition()->tensors[static_cast<size_t>(read.tensor)].name,
                    "may end within a group of lanes", fmt::format("store it with {} lanes along n", lanes));
    };
    expect(product.b, 1);
    for (const Read& read : product.b_reads) expect(read, 0);
}

/// Of a matrix unit that multiplies signed bytes.
struct ByteTiles {
    int64_t tile_rows = 0, depth = 0;
};

/// What the tiles of sums of one block of activations may take on the stack: 1 MiB, two bytes of each factor.
constexpr int64_t kMostSums = int64_t{1} << 18;
constexpr int64_t kProductsOfBytes = 4;

/// @throws Error for what it does not hold, or a product that is no sum of integers over whole tiles of k.
ByteTiles byte_tiles(const LeafScope& scope, const BlockContraction& product, int64_t lanes, int64_t groups) {
    if (!is_of_bytes(product))
        throw Error(scope.node.name, scope.leaf.micro_kernel,
                    "the factors of these iterators are not of signed bytes, or share no scale over several "
                    "blocks",
                    "choose other iterators for m, n and k, or contract_blocks");
    const int64_t rows = number_parameter(scope, "tile_rows", 1, kMostTileRows),
                  depth = number_parameter(scope, "depth", kQuad, kMostTileDepthOfBytes);
    if (lanes > kMostTileLanes)
        throw Error(scope.node.name, "lanes",
                    fmt::format("is {}, a row of a tile has {} at most", lanes, kMostTileLanes));
    if (depth % kQuad != 0 || product.fold->block % depth != 0)
        throw Error(scope.node.name, "depth",
                    fmt::format("is {}, expected a multiple of {} that divides {}, over which sums are of "
                                "integers",
                                depth, kQuad, product.fold->block));
    const int64_t folds = product.a_block / product.fold->block;
    if (folds * groups * kProductsOfBytes * rows * lanes > kMostSums)
        throw Error(scope.node.name, "groups",
                    fmt::format("is {}, too many for {} sums of each element in a block of activations",
                                groups, folds),
                    "choose fewer groups or lanes");
    return {rows, depth};
}

}  // namespace

Body lower_contract_blocks(const LeafScope& scope) {
    const ProductIterators iterators = product_iterators(scope);
    const BlockContraction product = roles_of(scope, iterators);
    const Definition& definition = *scope.node.definition();
    const int64_t lanes = lanes_parameter(scope);
    const int64_t rows = number_parameter(scope, "rows", 1, 32);
    const auto range = [&](int x) -> const Range& { return scope.ranges[static_cast<size_t>(x)]; };
    const Range row = row_range(scope, iterators.m);
    const Range &n = range(iterators.n), &k = range(iterators.k);
    expect_whole_blocks(scope, k, product.a_block);
    expect_padded(scope, product, lanes);
    const bool is_tiled = scope.leaf.micro_kernel == "contract_block_tiles";
    const int64_t largest_k = is_tiled ? kLargestBlockTilesK : kLargestBlocksK;
    if (k.largest > largest_k)
        throw Error(scope.node.name, scope.leaf.micro_kernel,
                    fmt::format("its tile of k is {}, expected at most {}", k.largest, largest_k), "tile k");

    ProductTile tile = surrounding(scope, iterators);
    std::vector<Index> at = tile.loops.values();
    std::vector<Read> reads = product.b_reads;
    for (const Read* each : {&product.a, &product.a_scale, &product.b}) reads.push_back(*each);
    if (product.a_low) reads.push_back(*product.a_low);
    refuse_reads_outside(scope, reads, at);
    if (iterators.m >= 0) at[static_cast<size_t>(iterators.m)] = row.begin + position(kRow, row.largest);
    at[static_cast<size_t>(iterators.n)] =
        n.begin + position(kGroup, groups_in(n, lanes)) * Index(lanes) + position(kLane, lanes);

    // A and B are addressed by quads of k, scales by blocks.
    std::vector<Index> in_quads = at, in_blocks = at, in_a_blocks = at;
    const auto k_at = static_cast<size_t>(iterators.k);
    in_quads[k_at] = k.begin + position(kStep, groups_in(k, kQuad)) * Index(kQuad) + position(kInStep, kQuad);
    in_blocks[k_at] = k.begin + position(kStep, k.largest);
    in_a_blocks[k_at] = k.begin + position(kStep, groups_in(k, product.a_block)) * Index(product.a_block);

    std::vector<TileAddress> a;
    a.emplace_back(scope, product.a.tensor, product.a.coordinates, in_quads, false);
    if (product.a_low)
        a.emplace_back(scope, product.a_low->tensor, product.a_low->coordinates, in_quads, false);
    const TileAddress b(scope, product.b.tensor, product.b.coordinates, in_quads, false);
    const TileAddress scale(scope, product.a_scale.tensor, product.a_scale.coordinates, in_a_blocks, false);
    const int result = definition.results().front();
    const TileAddress c(scope, result, definition.tensors[static_cast<size_t>(result)].map, at, true);
    std::vector<Address> terms;
    for (const TileAddress& term : a) {
        term.expect_stride(kInStep, 1);
        term.expect_stride(kStep, kQuad);
        term.expect_stride(kRow, a.front().stride(kRow));
        terms.push_back(term.start());
    }
    b.expect_stride(kInStep, 1);
    if (lanes > 1) {
        b.expect_stride(kLane, kQuad);
        c.expect_stride(kLane, 1);
    }
    const FactorPositions positions{kGroup, groups_in(n, lanes), kStep, k.largest};
    const auto computed = [&](const ExprPtr& factor) {
        return computed_factor(scope, factor, in_blocks, positions);
    };
    std::optional<ComputedFactor> offset;
    if (product.offset) offset = computed(product.offset);
    const int64_t groups = number_parameter(scope, "groups", 1, 16);
    const ByteTiles tiles = is_tiled ? byte_tiles(scope, product, lanes, groups) : ByteTiles{};
    const int64_t panel_blocks = panel_parameter(scope);
    std::optional<BlockContractCall::Fold> fold;
    if ((panel_blocks > 0 && product.fold) || is_tiled)
        fold = {product.fold->integer ? std::optional(computed(product.fold->integer)) : std::nullopt,
                computed(product.fold->rest), product.fold->block};
    // GCC 12 destroys a member that braces initialise twice where a later initialiser throws.
    const StridedFactor of_b{b.start(), b.stride(kGroup), b.stride(kStep)};
    ComputedFactor coefficient = computed(product.coefficient);
    BlockContractCall call{.lanes = lanes,
                           .rows = rows,
                           .groups = groups,
                           .tile_rows = tiles.tile_rows,
                           .depth = tiles.depth,
                           .prefetch = prefetch_parameter(scope),
                           .streams = streams_parameter(scope, groups),
                           .panel_blocks = panel_blocks,
                           .block = product.block,
                           .a_block = product.a_block,
                           .zero = product.zero,
                           .radix = product.radix,
                           .accumulate = tile.accumulates,
                           .m = extent(row),
                           .n = extent(n),
                           .k = extent(k),
                           .a = std::move(terms),
                           .a_m = a.front().stride(kRow),
                           .a_scale = scale.start(),
                           .scale_m = scale.stride(kRow),
                           .scale_block = scale.stride(kStep),
                           .b = of_b,
                           .coefficient = std::move(coefficient),
                           .fold = std::move(fold),
                           .offset = std::move(offset),
                           .c = c.start(),
                           .c_m = c.stride(kRow),
                           .c_group = c.stride(kGroup)};
    return finished(scope, std::move(tile), {Call(std::move(call))});
}

}  // namespace tessera
