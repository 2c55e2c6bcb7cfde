// Micro-kernel `contract_block_tiles`: the product of `contract_blocks`, for activations of two bytes, on a
// matrix unit that multiplies signed bytes.
#include <algorithm>
#include <array>

#include "lowering/kernels/block_candidates.h"
#include "lowering/kernels/block_product.h"
#include "lowering/kernels/call_text.h"
#include "lowering/kernels/parameters.h"
#include "lowering/kernels/product_candidates.h"
#include "lowering/kernels/product_types.h"
#include "lowering/kernels/tile_choice.h"
#include "lowering/refusal.h"

namespace tessera::kernels::contract_block_tiles {
namespace {

struct BlockTilesCall : BlockProductCall {
    int64_t tile_rows = 1, depth = 1;  ///< of a tile; `groups` in a panel of B

    static constexpr auto kFields =
        std::tuple_cat(std::tuple{movement::field("tile_rows", &BlockTilesCall::tile_rows),
                                  movement::field("depth", &BlockTilesCall::depth)},
                       kSharedFields);

    static const movement::CallKind& kind();
};

std::string problem(const BlockTilesCall& c) {
    return block_product_problem(c);
}

movement::Body meaning(const BlockTilesCall& c) {
    return block_product_meaning(c);
}

void spell(const BlockTilesCall& c, CallText& out) {
    out.line(
        fmt::format("ntt::contract_block_tiles<ntt::ContractBlockTilesTile{{.tile_rows = {}, .lanes = {}, "
                    ".depth = {}, .groups = "
                    "{}, .block = {}, .a_block = {}, .zero = {}, .accumulate = {}}}>(",
                    c.tile_rows, c.lanes, c.depth, c.groups, c.block, c.a_block, c.zero, c.accumulate));
    spell_block_product(c, out);
}

}  // namespace

const movement::CallKind& BlockTilesCall::kind() {
    static constexpr movement::CallKind kKind =
        movement::make_call_kind<BlockTilesCall, problem, meaning>("contract_block_tiles");
    return kKind;
}

namespace {

constexpr plan::Parameter kDepth{
    .name = "depth",
    .meaning = "k of a tile, a divisor of the k whose products are added as integers",
    .is_required = true,
    .least = kQuad,
    .most = kMostTileDepthOfBytes};
constexpr plan::Parameter kGroupsOfPanel =
    parameter::in_registers("groups", "groups of lanes in a panel of B", 16);
constexpr std::array kParameters = {parameter::kRowsOfA,     parameter::kColumns,    parameter::kReduction,
                                    parameter::kLanesOfTile, parameter::kRowsOfTile, kDepth,
                                    kGroupsOfPanel};
constexpr std::array kResults = {ElementType::kF32};

/// Limit of the sums of one block of activations, which lie on the stack: 1 MiB, with two bytes of each
/// factor.
constexpr int64_t kMostSums = int64_t{1} << 18;
constexpr int64_t kProductsOfBytes = 4;

/// @throws Error for tiles that a matrix unit does not hold, or a product that is no sum of integers over
/// whole tiles of k.
void check_tiles(const lowering::LeafScope& scope, const BlockContraction& product) {
    if (!is_of_bytes(product))
        throw lowering::Refused(
            scope.node.name, std::string(scope.leaf.kernel->name),
            "the factors of these iterators are not of signed bytes, or share no scale over several "
            "blocks",
            "choose other iterators for m, n and k, or contract_blocks");
    const int64_t rows = scope.leaf.number(parameter::kRowsOfTile),
                  depth = scope.leaf.number(parameter::kDepthOfTile);
    if (depth % kQuad != 0 || product.fold->block % depth != 0)
        throw lowering::Refused(
            scope.node.name, "depth",
            fmt::format("is {}, expected a multiple of {} that divides {}, over which sums are of "
                        "integers",
                        depth, kQuad, product.fold->block));
    const int64_t lanes = scope.leaf.number(parameter::kLanesOfTile),
                  groups = scope.leaf.number(kGroupsOfPanel);
    const int64_t folds = product.a_block / product.fold->block;
    if (folds * groups * kProductsOfBytes * rows * lanes > kMostSums)
        throw lowering::Refused(
            scope.node.name, "groups",
            fmt::format("is {}, too many for {} sums of each element in a block of activations", groups,
                        folds),
            "choose fewer groups or lanes");
}

movement::Body lower(const lowering::LeafScope& scope) {
    const BlockProduct product = block_product(scope);
    check_tiles(scope, product.roles);
    const auto call = [&](BlockProductCall shared) {
        BlockTilesCall made{std::move(shared)};
        made.tile_rows = scope.leaf.number(parameter::kRowsOfTile);
        made.depth = scope.leaf.number(kDepth);
        return movement::Call(std::move(made));
    };
    return lower_block_product(scope, product, kLargestBlockTilesK, true, call);
}

std::string why_not(const Definition& definition) {
    if (std::string why = why_no_block_contraction(definition); !why.empty()) return why;
    const std::vector<BlockContraction> products = block_contractions_of(definition);
    return std::any_of(products.begin(), products.end(), is_of_bytes)
               ? ""
               : "its activations are no two bytes that share a scale over several blocks, or its weights no "
                 "signed bytes";
}

/// Candidates come before those of `contract_blocks`, reading by reading.
void candidates(const CandidateScope& scope, std::vector<Candidate>& out) {
    for_each_block_reading(scope, [&](const BlockReading& reading) {
        if (!is_of_bytes(reading.roles)) return;
        for (const plan::Leaf& along_n : reading.leaves)
            for (const TileBlock& block :
                 byte_tile_blocks(reading.roles.fold->block, reading.rows, scope.target))
                out.push_back({in_tiles(along_n, block), scope.target.lanes, 0, reading.index});
    });
}

/// Both bytes of A are multiplied by two bytes of B, or by one in tiles of half the depth.
plan::UnitFactors factors(const plan::Leaf&, const plan::KernelTypes&) {
    return {"i8", "i8", 4};
}

}  // namespace
}  // namespace tessera::kernels::contract_block_tiles

namespace tessera::kernels {

extern const plan::MicroKernel kContractBlockTiles;
constinit const plan::MicroKernel kContractBlockTiles{
    .name = "contract_block_tiles",
    .summary =
        "the same with activations of two bytes in tiles of signed bytes of a matrix unit: A <m, k>, B <k, "
        "n, "
        "k4>, C <m, n>",
    .implements =
        "what `contract_blocks` does, with activations of two bytes, on a matrix unit for signed bytes",
    .parameters = contract_block_tiles::kParameters,
    .results = contract_block_tiles::kResults,
    .unit = machine::UnitKind::kMatrix,
    .tiles_reductions = true,
    .product = {&parameter::kRowsOfA, &parameter::kColumns, &parameter::kReduction},
    .lanes = {&parameter::kColumns, &parameter::kLanesOfTile},
    .why_not = contract_block_tiles::why_not,
    .candidates = contract_block_tiles::candidates,
    .lower = contract_block_tiles::lower,
    .call = contract_block_tiles::BlockTilesCall::kind,
    .spell = spelled<contract_block_tiles::BlockTilesCall, contract_block_tiles::spell>,
    .types = product_types,
    .factors = contract_block_tiles::factors,
    .streamed = streamed_factor};

}  // namespace tessera::kernels
