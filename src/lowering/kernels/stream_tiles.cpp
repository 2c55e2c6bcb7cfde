// Micro-kernel `stream_tiles`: one tile of a streaming softmax whose values of bf16 a matrix unit adds.
#include <array>

#include <fmt/format.h>

#include "lowering/kernels/call_text.h"
#include "lowering/kernels/parameters.h"
#include "lowering/kernels/product_candidates.h"
#include "lowering/kernels/product_meaning.h"
#include "lowering/kernels/product_types.h"
#include "lowering/kernels/register_blocks.h"
#include "lowering/kernels/softmax_tile.h"
#include "lowering/kernels/tile_choice.h"

namespace tessera::kernels::stream_tiles {
namespace {

struct StreamTilesCall : SoftmaxCall {
    int64_t tile_rows = 1, depth = 1;  ///< of a tile; `rows` and `groups` of tiles in registers

    static constexpr auto kFields =
        std::tuple_cat(std::tuple{movement::field("tile_rows", &StreamTilesCall::tile_rows),
                                  movement::field("depth", &StreamTilesCall::depth)},
                       kSharedFields);

    static const movement::CallKind& kind();
};

std::string problem(const StreamTilesCall& c) {
    return lanes_problem(c.lanes);
}

movement::Body meaning(const StreamTilesCall& c) {
    return softmax_meaning(c);
}

void spell(const StreamTilesCall& c, CallText& out) {
    out.line(
        fmt::format("ntt::softmax_step_tiles<ntt::ContractTilesTile{{.tile_rows = {}, .lanes = {}, .depth = "
                    "{}, .rows = {}, .groups = {}}}>(",
                    c.tile_rows, c.lanes, c.depth, c.rows, c.groups));
    spell_softmax(c, out);
}

}  // namespace

const movement::CallKind& StreamTilesCall::kind() {
    static constexpr movement::CallKind kKind =
        movement::make_call_kind<StreamTilesCall, problem, meaning>("stream_tiles");
    return kKind;
}

namespace {

movement::Body lower(const lowering::LeafScope& scope) {
    const TileBlock block = tile_parameters_of(scope);
    return lower_softmax_tile(scope, [&](SoftmaxCall shared, const Read&) {
        StreamTilesCall call{std::move(shared)};
        call.tile_rows = block.tile_rows;
        call.depth = block.depth;
        return movement::Call(std::move(call));
    });
}

std::string why_not(const Definition& definition) {
    if (std::string why = why_no_softmax(definition); !why.empty()) return why;
    const auto* value = std::get_if<Read>(&definition.body[1]->node);
    const bool is_bf16 =
        value && definition.tensors[static_cast<size_t>(value->tensor)].type == ElementType::kBF16;
    return is_bf16 && definition.weights == ElementType::kBF16 ? ""
                                                               : "its weights and values are not of bf16";
}

/// Candidates come before those of `stream`, reading by reading.
void candidates(const CandidateScope& scope, std::vector<Candidate>& out) {
    if (!are_weights_rounded(scope)) return;
    for_each_softmax_reading(scope, [&](const SoftmaxReading& reading) {
        if (reading.rows <= kFewRows) return;
        for (const TileBlock& block : tile_blocks(scope.definition().weights, reading.rows, scope.target))
            out.push_back({in_tiles(reading.leaf, block), scope.target.lanes, 0, reading.index});
    });
}

constexpr std::array kParameters = {
    parameter::kRowsOfStream, parameter::kValues,   parameter::kLanesOfTile, parameter::kRowsOfTile,
    parameter::kDepthOfTile,  parameter::kTilesOfA, parameter::kTilesOfB};
constexpr std::array kResults = {ElementType::kF32};

}  // namespace
}  // namespace tessera::kernels::stream_tiles

namespace tessera::kernels {

extern const plan::MicroKernel kStreamTiles;
constinit const plan::MicroKernel kStreamTiles{
    .name = "stream_tiles",
    .summary = "one tile of a streaming softmax with values of bf16 in tiles of a matrix unit",
    .implements = "what `stream` does, with weights and values of BF16, on a matrix unit",
    .parameters = stream_tiles::kParameters,
    .results = stream_tiles::kResults,
    .unit = machine::UnitKind::kMatrix,
    .tiles_reductions = true,
    .product = {&parameter::kRowsOfStream, &parameter::kValues, nullptr},
    .why_not = stream_tiles::why_not,
    .candidates = stream_tiles::candidates,
    .lower = stream_tiles::lower,
    .call = stream_tiles::StreamTilesCall::kind,
    .spell = spelled<stream_tiles::StreamTilesCall, stream_tiles::spell>,
    .types = softmax_types,
    .factors = factors_of_types,
    .streamed = streamed_values};

}  // namespace tessera::kernels
