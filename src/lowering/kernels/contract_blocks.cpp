// Micro-kernel `contract_blocks`: products of activations rounded to int8 with quantised weights, in integers
// inside the blocks that share a scale.
#include <array>

#include <fmt/format.h>

#include "lowering/kernels/block_candidates.h"
#include "lowering/kernels/block_product.h"
#include "lowering/kernels/call_text.h"
#include "lowering/kernels/parameters.h"
#include "lowering/kernels/product_candidates.h"
#include "lowering/kernels/product_types.h"
#include "lowering/kernels/register_blocks.h"

namespace tessera::kernels::contract_blocks {
namespace {

struct BlockContractCall : BlockProductCall {
    int64_t rows = 1;          ///< in registers
    int64_t prefetch = 0;      ///< bytes by which B is fetched ahead
    int64_t streams = 1;       ///< parts of n of which a block has a group each; 1, or `groups`
    int64_t panel_blocks = 0;  ///< blocks of rows for which B is spread by panels; 0: never

    static constexpr auto kFields =
        std::tuple_cat(std::tuple{movement::field("rows", &BlockContractCall::rows),
                                  movement::field("prefetch", &BlockContractCall::prefetch),
                                  movement::field("streams", &BlockContractCall::streams),
                                  movement::field("panel_blocks", &BlockContractCall::panel_blocks)},
                       kSharedFields);

    static const movement::CallKind& kind();
};

std::string problem(const BlockContractCall& c) {
    return block_product_problem(c);
}

movement::Body meaning(const BlockContractCall& c) {
    return block_product_meaning(c);
}

void spell(const BlockContractCall& c, CallText& out) {
    out.line(
        fmt::format("ntt::contract_blocks<ntt::ContractBlocksTile{{.lanes = {}, .rows = {}, .groups = {}, "
                    ".block = {}, .a_block = "
                    "{}, .zero = {}, .accumulate = {}{}{}{}}}>(",
                    c.lanes, c.rows, c.groups, c.block, c.a_block, c.zero, c.accumulate,
                    tile_member("prefetch", c.prefetch), tile_member("streams", c.streams, 1),
                    tile_member("panel_blocks", c.panel_blocks)));
    spell_block_product(c, out);
}

}  // namespace

const movement::CallKind& BlockContractCall::kind() {
    static constexpr movement::CallKind kKind =
        movement::make_call_kind<BlockContractCall, problem, meaning>("contract_blocks");
    return kKind;
}

namespace {

movement::Body lower(const lowering::LeafScope& scope) {
    const plan::Leaf& leaf = scope.leaf;
    const bool has_panels = leaf.number(parameter::kPanelBlocks) > 0;
    const auto call = [&](BlockProductCall product) {
        BlockContractCall made{std::move(product)};
        made.rows = leaf.number(parameter::kRows);
        made.prefetch = leaf.number(parameter::kPrefetch);
        made.streams = streams_of(scope);
        made.panel_blocks = leaf.number(parameter::kPanelBlocks);
        return movement::Call(std::move(made));
    };
    return lower_block_product(scope, block_product(scope), kLargestBlocksK, has_panels, call);
}

/// Numbers of 4 and 8 bits are spread in two or three instructions: for fewer rows than these a panel takes
/// longer than to spread them for each block of rows.
constexpr int64_t kPanelRows = 32;

void candidates(const CandidateScope& scope, std::vector<Candidate>& out) {
    for_each_block_reading(scope, [&](const BlockReading& reading) {
        const int64_t bits_of_b = bits(scope.type(reading.roles.b));
        const bool spreads_slowly = bits_of_b != 4 && bits_of_b != 8;
        const int64_t least_rows = spreads_slowly ? 0 : kPanelRows;
        const auto add = [&](plan::Leaf leaf) {
            out.push_back({std::move(leaf), scope.target.lanes, 0, reading.index});
        };
        const auto leaf_with = [&](const RegisterBlock& block, const plan::Leaf& along_n) {
            return plan::Leaf(along_n)
                .set(parameter::kLanes, scope.target.lanes)
                .set(parameter::kRows, block.rows)
                .set(parameter::kGroups, block.columns)
                .set(parameter::kPrefetch, block.prefetch)
                .set(parameter::kStreams, block.streams);
        };
        const auto add_by_panels = [&](const plan::Leaf& leaf) {
            if (auto found = with_panels(leaf, leaf.number(parameter::kRows), reading.rows, least_rows))
                add(std::move(*found));
        };
        for (const RegisterBlock& block :
             offered(blocks_of_integers(scope.target, reading.rows), scope.target)) {
            for (const plan::Leaf& along_n : reading.leaves) {
                const plan::Leaf leaf = leaf_with(block, along_n);
                if (spreads_slowly) add_by_panels(leaf);
                add(leaf);
                if (!spreads_slowly) add_by_panels(leaf);
            }
        }
        if (!reading.roles.fold) return;
        for (const RegisterBlock& block : blocks_of_folded_integers(scope.target, reading.rows))
            for (const plan::Leaf& along_n : reading.leaves) add_by_panels(leaf_with(block, along_n));
    });
}

constexpr std::array kParameters = {parameter::kRowsOfA,  parameter::kColumns, parameter::kReduction,
                                    parameter::kLanes,    parameter::kRows,    parameter::kGroups,
                                    parameter::kPrefetch, parameter::kStreams, parameter::kPanelBlocks};
constexpr std::array kResults = {ElementType::kF32};

}  // namespace
}  // namespace tessera::kernels::contract_blocks

namespace tessera::kernels {

extern const plan::MicroKernel kContractBlocks;
constinit const plan::MicroKernel kContractBlocks{
    .name = "contract_blocks",
    .summary =
        "register-blocked C[m,n] = sum_b scale[m,b] (coefficient[n,b] sum_k A[m,k] B[n,k] + ..), integers "
        "inside the blocks, lanes along n",
    .implements =
        "sums of products of int8 blocks with quantised weights; the weight's numbers `lanes <n:16, k:4>`, "
        "its scales `lanes <n:16>`",
    .parameters = contract_blocks::kParameters,
    .results = contract_blocks::kResults,
    .tiles_reductions = true,
    .product = {&parameter::kRowsOfA, &parameter::kColumns, &parameter::kReduction},
    .lanes = {&parameter::kColumns, &parameter::kLanes},
    .why_not = why_no_block_contraction,
    .candidates = contract_blocks::candidates,
    .lower = contract_blocks::lower,
    .call = contract_blocks::BlockContractCall::kind,
    .spell = spelled<contract_blocks::BlockContractCall, contract_blocks::spell>,
    .types = product_types,
    .streamed = streamed_factor};

}  // namespace tessera::kernels
