#include "kernels/micro_kernels.h"

#include <algorithm>
#include <array>

#include "kernels/block_contraction.h"
#include "kernels/contraction.h"
#include "kernels/parameters.h"
#include "kernels/parted_fold.h"

namespace tessera {
namespace {

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

namespace of {

using namespace parameter;

constexpr std::array kLoops = {kIteratorOfLanes, kLanes};
constexpr std::array kContract = {kRowsOfA,  kColumns, kReduction,   kLanes,       kRows,   kGroups,
                                  kPrefetch, kStreams, kPanelBlocks, kPartialSums, kKLanes, kDot};
constexpr Parameter kRowsOfDot = detail::in_registers("rows", "rows in registers", 16);
constexpr std::array kDotProduct = {kRowsOfA, kColumns, kReduction, kLanes, kRowsOfDot, kColumnsInRegisters};
constexpr std::array kContractBlocks = {kRowsOfA, kColumns,  kReduction, kLanes,      kRows,
                                        kGroups,  kPrefetch, kStreams,   kPanelBlocks};
constexpr Parameter kDepthOfBytes{
    .name = "depth",
    .meaning = "k of a tile, a divisor of the k whose products are added as integers",
    .is_required = true,
    .least = kQuad,
    .most = kMostTileDepthOfBytes};
constexpr Parameter kGroupsOfPanel = detail::in_registers("groups", "groups of lanes in a panel of B", 16);
constexpr std::array kContractBlockTiles = {kRowsOfA,    kColumns,      kReduction,    kLanesOfTile,
                                            kRowsOfTile, kDepthOfBytes, kGroupsOfPanel};
constexpr std::array kContractTiles = {kRowsOfA,    kColumns,     kReduction, kLanesOfTile,
                                       kRowsOfTile, kDepthOfTile, kTilesOfA,  kTilesOfB};
/// Scalars are a way of their own.
constexpr Parameter kLanesOfStream{
    .name = "lanes", .meaning = "lanes of a vector", .most = 64, .is_power_of_two = true, .is_stated = true};
constexpr std::array kStream = {kRowsOfStream, kValues,   kLanesOfStream, kRows,
                                kGroups,       kPrefetch, kPanelBlocks,   kDot};
constexpr std::array kStreamTiles = {kRowsOfStream, kValues,   kLanesOfTile, kRowsOfTile,
                                     kDepthOfTile,  kTilesOfA, kTilesOfB};

}  // namespace of

constexpr std::array kEveryFloatAndBytes = {ElementType::kF32, ElementType::kF16, ElementType::kBF16,
                                            ElementType::kI8};
constexpr std::array kEveryFloat = {ElementType::kF32, ElementType::kF16, ElementType::kBF16};
constexpr std::array kF32 = {ElementType::kF32};

}  // namespace

MicroKernels micro_kernels() {
    static const std::array kernels = {
        MicroKernel{.name = "loops",
                    .summary = "plain loops over the body, with lanes along iterator x",
                    .parameters = of::kLoops,
                    .tiles_reductions = true,
                    .results = kEveryFloatAndBytes,
                    .why_not = anything},
        MicroKernel{.name = "contract",
                    .summary = "register-blocked C[m,n] = sum_k A[m,k] B[n,k], lanes along n",
                    .parameters = of::kContract,
                    .tiles_reductions = true,
                    .results = kF32,
                    .why_not = sum_of_products},
        MicroKernel{.name = "dot",
                    .summary = "register-blocked C[m,n] = sum_k A[m,k] B[n,k], lanes along k",
                    .parameters = of::kDotProduct,
                    .tiles_reductions = true,
                    .results = kF32,
                    .why_not = sum_of_products},
        MicroKernel{
            .name = "contract_blocks",
            .summary =
                "register-blocked C[m,n] = sum_b scale[m,b] (coefficient[n,b] sum_k A[m,k] B[n,k] + ..), "
                "integers inside the blocks, lanes along n",
            .parameters = of::kContractBlocks,
            .tiles_reductions = true,
            .results = kF32,
            .why_not = sum_of_blocks},
        MicroKernel{
            .name = "contract_block_tiles",
            .summary =
                "the same with activations of two bytes in tiles of signed bytes of a matrix unit: A <m, "
                "k>, B <k, n, k4>, C <m, n>",
            .parameters = of::kContractBlockTiles,
            .tiles_reductions = true,
            .unit = UnitKind::kMatrix,
            .results = kF32,
            .why_not = sum_of_blocks_of_bytes},
        MicroKernel{
            .name = "contract_tiles",
            .summary =
                "C[m,n] = sum_k A[m,k] B[n,k] of bf16 in tiles of a matrix unit: A <m, k>, B <k, n, k2>, C "
                "<m, n>",
            .parameters = of::kContractTiles,
            .tiles_reductions = true,
            .unit = UnitKind::kMatrix,
            .results = kF32,
            .why_not = sum_of_bf16_products},
        MicroKernel{
            .name = "stream",
            .summary =
                "one tile of a streaming softmax with its values, lanes along d and along the positions",
            .parameters = of::kStream,
            .tiles_reductions = true,
            .results = kF32,
            .why_not = streaming_softmax},
        MicroKernel{
            .name = "stream_tiles",
            .summary = "one tile of a streaming softmax with values of bf16 in tiles of a matrix unit",
            .parameters = of::kStreamTiles,
            .tiles_reductions = true,
            .unit = UnitKind::kMatrix,
            .results = kF32,
            .why_not = streaming_softmax_of_bf16},
        MicroKernel{.name = "combine",
                    .summary = "what the workers have folded of a reduction that is divided between them",
                    .parameters = of::kLoops,
                    .combines_parts = true,
                    .results = kEveryFloat,
                    .why_not = why_not_parted},
    };
    static const std::array listed = [] {
        std::array<const MicroKernel*, kernels.size()> pointers{};
        for (size_t i = 0; i < kernels.size(); ++i) pointers[i] = &kernels[i];
        return pointers;
    }();
    return listed;
}

const MicroKernel* find_micro_kernel(std::string_view name) {
    return find_micro_kernel(micro_kernels(), name);
}

}  // namespace tessera
