#include "kernels/micro_kernel.h"

#include <algorithm>
#include <array>

#include "kernels/block_contraction.h"
#include "kernels/contraction.h"
#include "kernels/parted_fold.h"

namespace tessera {
namespace {

constexpr Parameter kIteratorOfLanes{"x", "iterator of the lanes; none: scalars", true, false};
constexpr Parameter kRowsOfA{"m", "iterator of A and C; none: one row", true, false};
constexpr Parameter kColumns{"n", "iterator of B and C", true, true};
constexpr Parameter kReduction{"k", "reduction iterator of A and B", true, true};
constexpr Parameter kRowsOfStream{"m", "iterator of the rows; none: one row", true, false};
constexpr Parameter kValues{"d", "iterator of the values alone", true, true};
constexpr Parameter kLanes{"lanes", "lanes of a vector", false, false};
constexpr Parameter kRegisterRows{"rows", "rows in registers", false, false};
constexpr Parameter kRegisterGroups{"groups", "groups of lanes in registers", false, false};
constexpr Parameter kPrefetch{"prefetch", "bytes by which B is fetched ahead", false, false};
constexpr Parameter kStreams{"streams", "parts of n of which a block has a group each", false, false};
constexpr Parameter kPanelBlocks{
    "panel_blocks", "blocks of rows for which B is widened or decoded once, a panel at a time", false, false};
constexpr Parameter kDot{"dot", "neighbours along the reduction whose products one operation adds", false,
                         false};
constexpr Parameter kLanesOfTile{"lanes", "n of a tile", false, true};
constexpr Parameter kRowsOfTile{"tile_rows", "m of a tile", false, true};
constexpr Parameter kDepthOfTile{"depth", "k of a tile", false, true};
constexpr Parameter kTilesOfA{"rows", "tiles of A in registers", false, false};
constexpr Parameter kTilesOfB{"groups", "tiles of B in registers", false, false};

std::string anything(const Definition&) {
    return {};
}

std::string sum_of_products(const Definition& definition) {
    if (definition.monoid != Monoid::kSum) return "its monoid is not sum";
    if (contractions_of(definition).empty()) return "its body is no product of an operand and others";
    return {};
}

std::string sum_of_bf16_products(const Definition& definition) {
    if (std::string why = sum_of_products(definition); !why.empty()) return why;
    const auto is_bf16 = [&](const Read& factor) {
        return definition.tensors[static_cast<size_t>(factor.tensor)].type == ElementType::kBF16;
    };
    for (const Contraction& roles : contractions_of(definition))
        if (is_bf16(roles.a) && roles.b_operand() && is_bf16(*roles.b_operand())) return {};
    return "its body is no product of two operands of bf16";
}

std::string sum_of_blocks(const Definition& definition) {
    if (!block_contractions_of(definition).empty()) return {};
    return "its body is no product of small integers whose scales are constant in blocks";
}

std::string sum_of_blocks_of_bytes(const Definition& definition) {
    if (std::string why = sum_of_blocks(definition); !why.empty()) return why;
    const std::vector<BlockContraction> products = block_contractions_of(definition);
    return std::any_of(products.begin(), products.end(), is_of_bytes)
               ? ""
               : "its activations are no two bytes that share a scale over several blocks, or its weights no "
                 "signed bytes";
}

std::string streaming_softmax(const Definition& definition) {
    return definition.monoid == Monoid::kSoftmaxSum ? "" : "its monoid is not softmax_sum";
}

std::string streaming_softmax_of_bf16(const Definition& definition) {
    if (std::string why = streaming_softmax(definition); !why.empty()) return why;
    const auto* value = std::get_if<Read>(&definition.body[1]->node);
    const bool is_bf16 =
        value && definition.tensors[static_cast<size_t>(value->tensor)].type == ElementType::kBF16;
    return is_bf16 && definition.weights == ElementType::kBF16 ? ""
                                                               : "its weights and values are not of bf16";
}

}  // namespace

std::span<const MicroKernel> micro_kernels() {
    static const std::array kernels = {
        MicroKernel{.name = "loops",
                    .summary = "plain loops over the body, with lanes along iterator x",
                    .parameters = {kIteratorOfLanes, kLanes},
                    .tiles_reductions = true,
                    .results = {ElementType::kF32, ElementType::kF16, ElementType::kBF16, ElementType::kI8},
                    .why_not = anything},
        MicroKernel{
            .name = "contract",
            .summary = "register-blocked C[m,n] = sum_k A[m,k] B[n,k], lanes along n",
            .parameters = {kRowsOfA,
                           kColumns,
                           kReduction,
                           kLanes,
                           kRegisterRows,
                           kRegisterGroups,
                           kPrefetch,
                           kStreams,
                           kPanelBlocks,
                           {"partial_sums", "sums of a row and group that take k in turns", false, false},
                           {"k_lanes", "neighbouring k that lie side by side in B", false, false},
                           kDot},
            .tiles_reductions = true,
            .results = {ElementType::kF32},
            .why_not = sum_of_products},
        MicroKernel{.name = "dot",
                    .summary = "register-blocked C[m,n] = sum_k A[m,k] B[n,k], lanes along k",
                    .parameters = {kRowsOfA,
                                   kColumns,
                                   kReduction,
                                   kLanes,
                                   kRegisterRows,
                                   {"columns", "columns in registers", false, false}},
                    .tiles_reductions = true,
                    .results = {ElementType::kF32},
                    .why_not = sum_of_products},
        MicroKernel{
            .name = "contract_blocks",
            .summary =
                "register-blocked C[m,n] = sum_b scale[m,b] (coefficient[n,b] sum_k A[m,k] B[n,k] + ..), "
                "integers inside the blocks, lanes along n",
            .parameters = {kRowsOfA, kColumns, kReduction, kLanes, kRegisterRows, kRegisterGroups, kPrefetch,
                           kStreams, kPanelBlocks},
            .tiles_reductions = true,
            .results = {ElementType::kF32},
            .why_not = sum_of_blocks},
        MicroKernel{
            .name = "contract_block_tiles",
            .summary =
                "the same with activations of two bytes in tiles of signed bytes of a matrix unit: A <m, "
                "k>, B <k, n, k4>, C <m, n>",
            .parameters = {kRowsOfA,
                           kColumns,
                           kReduction,
                           kLanesOfTile,
                           kRowsOfTile,
                           kDepthOfTile,
                           {"groups", "groups of lanes in a panel of B", false, false}},
            .tiles_reductions = true,
            .unit = UnitKind::kMatrix,
            .results = {ElementType::kF32},
            .why_not = sum_of_blocks_of_bytes},
        MicroKernel{
            .name = "contract_tiles",
            .summary =
                "C[m,n] = sum_k A[m,k] B[n,k] of bf16 in tiles of a matrix unit: A <m, k>, B <k, n, k2>, C "
                "<m, n>",
            .parameters = {kRowsOfA, kColumns, kReduction, kLanesOfTile, kRowsOfTile, kDepthOfTile, kTilesOfA,
                           kTilesOfB},
            .tiles_reductions = true,
            .unit = UnitKind::kMatrix,
            .results = {ElementType::kF32},
            .why_not = sum_of_bf16_products},
        MicroKernel{
            .name = "stream",
            .summary =
                "one tile of a streaming softmax with its values, lanes along d and along the positions",
            .parameters = {kRowsOfStream, kValues, kLanes, kRegisterRows, kRegisterGroups, kPrefetch,
                           kPanelBlocks, kDot},
            .tiles_reductions = true,
            .results = {ElementType::kF32},
            .why_not = streaming_softmax},
        MicroKernel{
            .name = "stream_tiles",
            .summary = "one tile of a streaming softmax with values of bf16 in tiles of a matrix unit",
            .parameters = {kRowsOfStream, kValues, kLanesOfTile, kRowsOfTile, kDepthOfTile, kTilesOfA,
                           kTilesOfB},
            .tiles_reductions = true,
            .unit = UnitKind::kMatrix,
            .results = {ElementType::kF32},
            .why_not = streaming_softmax_of_bf16},
        MicroKernel{.name = "combine",
                    .summary = "what the workers have folded of a reduction that is divided between them",
                    .parameters = {kIteratorOfLanes, kLanes},
                    .tiles_reductions = false,
                    .combines_parts = true,
                    .results = {ElementType::kF32, ElementType::kF16, ElementType::kBF16},
                    .why_not = why_not_parted},
    };
    return kernels;
}

const MicroKernel* find_micro_kernel(std::string_view name) {
    const auto all = micro_kernels();
    const auto at =
        std::find_if(all.begin(), all.end(), [&](const MicroKernel& k) { return k.name == name; });
    return at == all.end() ? nullptr : &*at;
}

}  // namespace tessera
