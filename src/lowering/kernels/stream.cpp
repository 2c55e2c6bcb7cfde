// Micro-kernel `stream`: one tile of a streaming softmax (monoid softmax_sum), by vectors.
#include <algorithm>
#include <array>

#include "lowering/kernels/call_text.h"
#include "lowering/kernels/parameters.h"
#include "lowering/kernels/product_candidates.h"
#include "lowering/kernels/product_meaning.h"
#include "lowering/kernels/product_types.h"
#include "lowering/kernels/register_blocks.h"
#include "lowering/kernels/softmax_tile.h"
#include "lowering/kernels/unit_lanes.h"
#include "lowering/refusal.h"

namespace tessera::kernels::stream {
namespace {

struct StreamCall : SoftmaxCall {
    int64_t prefetch = 0;      ///< bytes by which the values are fetched ahead
    int64_t panel_blocks = 0;  ///< blocks of rows for which the values are widened by panels; 0: never
    bool dot = false;          ///< weights and values are added in pairs by dot products

    static constexpr auto kFields =
        std::tuple_cat(std::tuple{movement::field("prefetch", &StreamCall::prefetch),
                                  movement::field("panel_blocks", &StreamCall::panel_blocks),
                                  movement::field("dot", &StreamCall::dot)},
                       kSharedFields);

    static const movement::CallKind& kind();
};

std::string problem(const StreamCall& c) {
    return lanes_problem(c.lanes);
}

movement::Body meaning(const StreamCall& c) {
    return softmax_meaning(c);
}

void spell(const StreamCall& c, CallText& out) {
    const std::string weights =
        c.weights == ElementType::kF32 ? "" : fmt::format(", ntt::{}", name(c.weights));
    out.line(
        fmt::format("ntt::softmax_step<ntt::ContractTile{{.lanes = {}, .rows = {}, .groups = {}{}{}{}}}{}>(",
                    c.lanes, c.rows, c.groups, tile_member("prefetch", c.prefetch),
                    c.dot ? ", .dot = true" : "", tile_member("panel_blocks", c.panel_blocks), weights));
    spell_softmax(c, out);
}

}  // namespace

const movement::CallKind& StreamCall::kind() {
    static constexpr movement::CallKind kKind =
        movement::make_call_kind<StreamCall, problem, meaning>("stream");
    return kKind;
}

namespace {

/// True if weights and values are added in pairs. @throws Error if NTT cannot
bool adds_pairs(const lowering::LeafScope& scope, const Read& value) {
    if (scope.leaf.number(parameter::kDot) == 1) return false;
    const Definition& definition = *scope.node.definition();
    const auto refuse = [&](const std::string& problem) {
        throw lowering::Refused(scope.node.name, "dot", problem, "leave dot out");
    };
    const ElementType type = definition.tensors[static_cast<size_t>(value.tensor)].type;
    if (definition.weights != ElementType::kBF16 || type != ElementType::kBF16)
        refuse(fmt::format("needs weights and values of bf16; they are of {} and {}",
                           name(definition.weights), name(type)));
    if (scope.leaf.number(parameter::kLanes) == 1) refuse("lays lanes into each other, and there are none");
    if (scope.leaf.number(parameter::kPanelBlocks) > 0) refuse("goes without panels");
    return true;
}

movement::Body lower(const lowering::LeafScope& scope) {
    return lower_softmax_tile(scope, [&](SoftmaxCall shared, const Read& value) {
        StreamCall call{std::move(shared)};
        call.prefetch = scope.leaf.number(parameter::kPrefetch);
        call.panel_blocks = scope.leaf.number(parameter::kPanelBlocks);
        call.dot = adds_pairs(scope, value);
        return movement::Call(std::move(call));
    });
}

void candidates(const CandidateScope& scope, std::vector<Candidate>& out) {
    const ElementType weights = scope.definition().weights;
    const bool is_widened = !are_values_of(scope, ElementType::kF32);
    const bool has_dot = are_weights_rounded(scope) && adds_products(scope.target, weights);
    for (int64_t lanes = scope.target.lanes; lanes >= 1; lanes /= 2) {
        for_each_softmax_reading(scope, [&](const SoftmaxReading& reading) {
            const auto add = [&](const plan::Leaf& leaf) { out.push_back({leaf, lanes, 0, reading.index}); };
            const auto add_both = [&](const plan::Leaf& leaf) {
                if (has_dot && lanes > 1)
                    add(plan::Leaf(leaf).set(parameter::kDot, k_lanes(scope.target, weights)));
                add(leaf);
            };
            const int64_t groups = (scope.extent(reading.d) + lanes - 1) / lanes;
            const RegisterBlock block = block_of_values(scope.target.vector_registers, reading.rows);
            plan::Leaf leaf = reading.leaf;
            leaf.set(parameter::kLanes, lanes)
                .set(parameter::kRows, block.rows)
                .set(parameter::kGroups, std::min(groups, block.columns));
            add_both(leaf);
            if (reading.rows <= kFewRows)
                for (const int64_t prefetch : kPrefetchDistances)
                    add_both(plan::Leaf(leaf).set(parameter::kPrefetch, prefetch));
            if (!is_widened) return;
            if (const auto by_panels = with_panels(leaf, block.rows, reading.rows)) add(*by_panels);
        });
    }
}

/// Scalars are a way of their own, so that lanes are always stated.
constexpr plan::Parameter kLanes{
    .name = "lanes", .meaning = "lanes of a vector", .most = 64, .is_power_of_two = true, .is_stated = true};
constexpr std::array kParameters = {parameter::kRowsOfStream, parameter::kValues, kLanes,
                                    parameter::kRows,         parameter::kGroups, parameter::kPrefetch,
                                    parameter::kPanelBlocks,  parameter::kDot};
constexpr std::array kResults = {ElementType::kF32};

}  // namespace
}  // namespace tessera::kernels::stream

namespace tessera::kernels {

extern const plan::MicroKernel kStream;
constinit const plan::MicroKernel kStream{
    .name = "stream",
    .summary = "one tile of a streaming softmax with its values, lanes along d and along the positions",
    .implements = "streaming softmaxes (`softmax_sum`), a tile at a time",
    .parameters = stream::kParameters,
    .results = stream::kResults,
    .tiles_reductions = true,
    .product = {&parameter::kRowsOfStream, &parameter::kValues, nullptr},
    .why_not = why_no_softmax,
    .candidates = stream::candidates,
    .lower = stream::lower,
    .call = stream::StreamCall::kind,
    .spell = spelled<stream::StreamCall, stream::spell>,
    .types = softmax_types,
    .factors = factors_in_pairs,
    .streamed = streamed_values};

}  // namespace tessera::kernels
