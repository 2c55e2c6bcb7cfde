// Micro-kernel `contract_tiles`: products of bf16 as calls of NTT's contraction on a matrix unit. Its tiles
// read A in rows at any stride and B in pairs of k, `lanes <n:16, k:2>`, of which sixteen in a row are one
// tile: the form in which the vector units read the same weight. NTT makes the pairs of a B that is stored
// otherwise, such as the keys of a cache.
#include <array>

#include "ir/iterator_use.h"
#include "lowering/kernels/call_text.h"
#include "lowering/kernels/contraction.h"
#include "lowering/kernels/parameters.h"
#include "lowering/kernels/product_candidates.h"
#include "lowering/kernels/product_meaning.h"
#include "lowering/kernels/product_tile.h"
#include "lowering/kernels/product_types.h"
#include "lowering/kernels/register_blocks.h"
#include "lowering/kernels/tile_choice.h"
#include "lowering/movement/call_fields.h"
#include "lowering/refusal.h"

namespace tessera::kernels::contract_tiles {
namespace {

/// C[m, n] (+)= sum_k A[m, k] B[n, k] of bf16 by a matrix unit whose tiles are `tile_rows` x `depth` of A and
/// `lanes` x `depth` of B. B as with k_lanes = 2, its last group may be read whole; or as without. Strides in
/// elements.
struct TileContractCall {
    int64_t lanes = 1, tile_rows = 1, depth = 1;
    int64_t rows = 1, groups = 1;  ///< tiles of A and of B in registers
    bool is_in_pairs = false;      ///< B
    bool accumulate = false;
    movement::Index m, n, k;  ///< extents
    movement::Address a;
    movement::Index a_m;
    movement::Factor b;  ///< outer: groups of n; inner: k, or pairs of k
    movement::Address c;
    movement::Index c_m, c_group;

    static constexpr auto kFields = std::tuple{movement::field("lanes", &TileContractCall::lanes),
                                               movement::field("tile_rows", &TileContractCall::tile_rows),
                                               movement::field("depth", &TileContractCall::depth),
                                               movement::field("rows", &TileContractCall::rows),
                                               movement::field("groups", &TileContractCall::groups),
                                               movement::field("is_in_pairs", &TileContractCall::is_in_pairs),
                                               movement::field("accumulate", &TileContractCall::accumulate),
                                               movement::field("m", &TileContractCall::m),
                                               movement::field("n", &TileContractCall::n),
                                               movement::field("k", &TileContractCall::k),
                                               movement::field("a", &TileContractCall::a),
                                               movement::field("a_m", &TileContractCall::a_m),
                                               movement::field("b", &TileContractCall::b),
                                               movement::field("c", &TileContractCall::c),
                                               movement::field("c_m", &TileContractCall::c_m),
                                               movement::field("c_group", &TileContractCall::c_group)};

    static const movement::CallKind& kind();
};

std::string problem(const TileContractCall& c) {
    return lanes_problem(c.lanes);
}

movement::Body meaning(const TileContractCall& c) {
    return product_meaning({.lanes = c.lanes,
                            .k_lanes = c.is_in_pairs ? 2 : 1,
                            .accumulate = c.accumulate,
                            .m = c.m,
                            .n = c.n,
                            .k = c.k,
                            .a = c.a,
                            .a_m = c.a_m,
                            .a_k = movement::Index(1),
                            .b = c.b,
                            .c = c.c,
                            .c_m = c.c_m,
                            .c_group = c.c_group});
}

void spell(const TileContractCall& c, CallText& out) {
    out.line(
        fmt::format("ntt::contract_tiles<ntt::ContractTilesTile{{.tile_rows = {}, .lanes = {}, .depth = {}, "
                    ".rows = {}, .groups = "
                    "{}, .accumulate = {}}}>(",
                    c.tile_rows, c.lanes, c.depth, c.rows, c.groups, c.accumulate));
    out.line(fmt::format("    {}, {}, {},", out.text(c.m), out.text(c.n), out.text(c.k)));
    out.line(fmt::format("    ntt::rows({}, {}, ntt::Int<1>{{}}),", out.address(c.a), out.text(c.a_m)));
    out.factor(c.b, c.lanes, c.is_in_pairs ? kFactorInLanePairs : kFactorInLanes);
    out.line(fmt::format("    ntt::result({}, {}, {}));", out.address(c.c), out.text(c.c_m),
                         out.fixed(c.c_group)));
}

}  // namespace

const movement::CallKind& TileContractCall::kind() {
    static constexpr movement::CallKind kKind =
        movement::make_call_kind<TileContractCall, problem, meaning>("contract_tiles");
    return kKind;
}

namespace {

struct Factors {
    Read a, b;
};

Factors factors_of(const lowering::LeafScope& scope, const ProductIterators& iterators) {
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
    throw lowering::Refused(
        scope.node.name, std::string(scope.leaf.kernel->name),
        "n must index one factor of bf16 and the result, k both factors and not the result, m the "
        "other factor "
        "of bf16 and the result",
        "choose other iterators for m, n and k");
}

/// The iterators of the tile where k goes by ones.
std::vector<movement::Index> with_single_steps(std::vector<movement::Index> at, int k,
                                               const lowering::Range& range) {
    at[static_cast<size_t>(k)] = range.begin + position(kStep, range.largest);
    return at;
}

movement::Body lower(const lowering::LeafScope& scope) {
    const ProductIterators iterators = product_iterators(scope);
    const Factors factors = factors_of(scope, iterators);
    const TileBlock block = tile_parameters_of(scope);
    const int64_t lanes = block.lanes;
    const Definition& definition = *scope.node.definition();
    const bool is_in_pairs = is_padded(scope, factors.b, lanes, 1);
    if (!is_in_pairs && lanes == 1) {
        throw lowering::Refused(
            scope.node.name, definition.tensors[static_cast<size_t>(factors.b.tensor)].name,
            "has no lanes of which pairs could be made", "give lanes, or store it with lanes <k:2>");
    }
    ProductTile tile = surrounding(scope, iterators);
    std::vector<movement::Index> at = tile.loops.values();
    refuse_reads_outside(scope, {factors.a, factors.b});
    const auto range = [&](int x) -> const lowering::Range& { return scope.ranges[static_cast<size_t>(x)]; };
    const lowering::Range row = row_range(scope, iterators.m);
    const lowering::Range &n = range(iterators.n), &k = range(iterators.k);
    if (iterators.m >= 0) at[static_cast<size_t>(iterators.m)] = row.begin + position(kRow, row.largest);
    at[static_cast<size_t>(iterators.n)] = n.begin +
                                           position(kGroup, groups_in(n, lanes)) * movement::Index(lanes) +
                                           position(lowering::kLane, lanes);
    at[static_cast<size_t>(iterators.k)] =
        k.begin + position(kStep, groups_in(k, kPair)) * movement::Index(kPair) + position(kInStep, kPair);

    const TileAddress a(scope, factors.a.tensor, factors.a.coordinates, at, false);
    const FactorPositions in_pairs{kGroup, groups_in(n, lanes), kStep, groups_in(k, kPair), kPair};
    const FactorPositions apart{kGroup, groups_in(n, lanes), kStep, k.largest};
    movement::Factor b =
        operand_factor(scope, factors.b, is_in_pairs ? at : with_single_steps(at, iterators.k, k),
                       is_in_pairs ? in_pairs : apart, lanes);
    const int result = definition.results().front();
    const TileAddress c(scope, result, definition.tensors[static_cast<size_t>(result)].map, at, true);
    a.expect_stride(kInStep, 1);
    a.expect_stride(kStep, kPair);
    if (lanes > 1) c.expect_stride(lowering::kLane, 1);
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
    return finished(scope, std::move(tile), {movement::Call(std::move(call))});
}

std::string why_not(const Definition& definition) {
    if (std::string why = why_no_contraction(definition); !why.empty()) return why;
    const auto is_bf16 = [&](const Read& factor) {
        return definition.tensors[static_cast<size_t>(factor.tensor)].type == ElementType::kBF16;
    };
    for (const Contraction& roles : contractions_of(definition))
        if (is_bf16(roles.a) && roles.b_operand() && is_bf16(*roles.b_operand())) return {};
    return "its body is no product of two operands of bf16";
}

/// Candidates come before those of `contract`, reading by reading. Pages hold no pairs: to make them takes as
/// long as a few rows.
void candidates(const CandidateScope& scope, std::vector<Candidate>& out) {
    constexpr int kTurn = 1;
    for_each_reading(scope, [&](const ProductReading& product) {
        const Read* b = product.roles.b_operand();
        const bool are_tiles = b && scope.type(*b) == scope.type(product.roles.a) &&
                               (product.rows > kFewRows || !is_found_by_index(*b));
        if (!are_tiles) return;
        for (const TileBlock& block : tile_blocks(scope.type(*b), product.rows, scope.target))
            out.push_back({in_tiles(product.leaf, block), scope.target.lanes, kTurn, product.index});
    });
}
constexpr std::array kParameters = {parameter::kRowsOfA,     parameter::kColumns,    parameter::kReduction,
                                    parameter::kLanesOfTile, parameter::kRowsOfTile, parameter::kDepthOfTile,
                                    parameter::kTilesOfA,    parameter::kTilesOfB};
constexpr std::array kResults = {ElementType::kF32};

}  // namespace
}  // namespace tessera::kernels::contract_tiles

namespace tessera::kernels {

extern const plan::MicroKernel kContractTiles;
constinit const plan::MicroKernel kContractTiles{
    .name = "contract_tiles",
    .summary =
        "C[m,n] = sum_k A[m,k] B[n,k] of bf16 in tiles of a matrix unit: A <m, k>, B <k, n, "
        "k2>, C <m, n>",
    .implements =
        "sums of products of BF16, on a matrix unit; the weight `lanes <n:16, k:2>`, or "
        "lanes along n of "
        "which pairs are made once for all rows",
    .parameters = contract_tiles::kParameters,
    .results = contract_tiles::kResults,
    .unit = machine::UnitKind::kMatrix,
    .tiles_reductions = true,
    .weight_tile = plan::WeightTile::kInOwnCache,
    .product = {&parameter::kRowsOfA, &parameter::kColumns, &parameter::kReduction},
    .lanes = {&parameter::kColumns, &parameter::kLanesOfTile},
    .why_not = contract_tiles::why_not,
    .candidates = contract_tiles::candidates,
    .lower = contract_tiles::lower,
    .call = contract_tiles::TileContractCall::kind,
    .spell = spelled<contract_tiles::TileContractCall, contract_tiles::spell>,
    .types = product_types,
    .factors = factors_of_types,
    .streamed = streamed_factor};
}  // namespace tessera::kernels
