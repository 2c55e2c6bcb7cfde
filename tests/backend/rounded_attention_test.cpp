// Attention whose queries and weights are rounded to bf16, by every micro-kernel that computes it.
#include <cmath>

#include <gtest/gtest.h>

#include "backend/compiled_plans.h"
#include "lowering/movement/divided_attention.h"
#include "lowering/movement/plan_variation.h"
#include "support/error.h"

namespace tessera::testing {
namespace {

/// Lanes along s want keys of one page side by side.
plan::Plan plan_of(const Graph& graph, const std::string& inside) {
    plan::Plan plan = divided_attention_plan(graph, {inside}, 1);
    std::erase_if(plan.specialisations[0].tensors,
                  [](const auto& tensor) { return tensor.second.each_worker; });
    plan.stored["k"].order = {2, 0, 3, 1};
    return placed_and_verified(graph, std::move(plan));
}

std::string nest_of(const std::string& scores, const std::string& attend) {
    return "b:1 h:1 i:3 { g[loops]; s:16 { scores[" + scores + "]; attend[" + attend + "] }; y[loops] }";
}

class RoundedAttention : public ::testing::TestWithParam<int64_t> {
protected:
    /// Ways to compute the scores, and the operators behind them.
    std::vector<std::string> nests() const {
        const std::string lanes = std::to_string(GetParam());
        const std::string scores = "contract m=i n=s k=e rows=2 groups=2 lanes=" + lanes,
                          attend = "stream d=d m=i rows=2 groups=2 lanes=" + lanes;
        const std::string tiles = "tile_rows=2 depth=4 rows=1 groups=2 lanes=" + lanes;
        return {nest_of("loops", attend),
                nest_of(scores, attend + " dot=2"),
                nest_of(scores + " dot=2", attend + " prefetch=4096"),
                nest_of(scores + " dot=2 partial_sums=2 prefetch=16384", attend + " dot=2 prefetch=16384"),
                nest_of("contract_tiles m=i n=s k=e " + tiles, "stream_tiles d=d m=i " + tiles),
                "b:1 h:1 i:3 { g[loops]; scores[" + scores + " dot=2]; attend[loops x=d lanes=" + lanes +
                    "]; y[loops] }"};
    }
};

TEST_P(RoundedAttention, IsThatOfTheDefinition) {
    for (const int64_t heads : {1, 2}) {
        const Graph graph = rounded_attention_graph(heads);
        CompiledPlans compiled(GetParam());
        for (const std::string& nest : nests()) compiled.add(graph, plan_of(graph, nest));
        compiled.compile();
        for (const int64_t start : {0, 1, 15, 16, 40, 79}) {
            const GraphCall call = rounded_attention_call(graph, start, 3, true);
            const GraphResult expected = interpret_graph(graph, call);
            for (size_t p = 0; p < nests().size(); ++p) {
                const Difference worst = difference(compiled.run(p, call), expected);
                ASSERT_LE(worst.relative, kTolerance) << start << ", " << nests()[p] << ": " << worst.where;
            }
        }
    }
}

/// Rounding is seen where weights are any numbers, and is no more than half of their spacing.
TEST_P(RoundedAttention, RoundsWeights) {
    const Graph graph = rounded_attention_graph(2);
    Graph exact = graph;
    for (Node& node : exact.blocks[0].nodes) {
        Definition definition = *node.definition();
        definition.weights = ElementType::kF32;
        node.op = std::make_shared<const Definition>(std::move(definition));
    }
    CompiledPlans compiled(GetParam());
    for (const std::string& nest : nests()) compiled.add(graph, plan_of(graph, nest));
    compiled.compile();
    const GraphCall call = rounded_attention_call(graph, 60, 3, false);
    const GraphResult expected = interpret_graph(exact, call);
    for (size_t p = 0; p < nests().size(); ++p) {
        const Difference worst = difference(compiled.run(p, call), expected);
        EXPECT_GE(worst.relative, 1e-5) << nests()[p];
        EXPECT_LE(worst.relative, 0x1p-8) << nests()[p] << ": " << worst.where;
    }
}

/// The cache holds NaN and infinities, old contents, behind the positions that a sequence has, and one value
/// that its last token alone sees.
GraphCall with_old_contents(GraphCall call, int64_t start) {
    const std::vector<double> page = call.inputs["page"].values, length = call.inputs["length"].values;
    call.constant = [page, length, start, drawn = call.constant](const Value& value, int64_t repetition) {
        TensorData data = drawn(value, repetition);
        for (size_t b = 0; b < 2; ++b) {
            const auto positions =
                static_cast<size_t>((b == 0 ? start : start / 2)) + static_cast<size_t>(length[b]);
            for (size_t s = positions - (value.name == "v" ? 1 : 0); s < 96; ++s) {
                const size_t row = static_cast<size_t>(page[6 * b + s / 16]) * 16 + s % 16;
                data.values[row * 9 + s % 9] = s % 2 == 0 ? NAN : INFINITY;
            }
        }
        return data;
    };
    return call;
}

TEST_P(RoundedAttention, WhatIsMaskedNeedNotBeFinite) {
    for (const Graph& graph : {rounded_attention_graph(2), divided_attention_graph(2)}) {
        const bool is_of_f32 = graph[*graph.find("v")].type.element == ElementType::kF32;
        CompiledPlans compiled(GetParam());
        std::vector<std::string> added;
        for (const std::string& nest : nests()) {
            const bool is_of_pairs =
                nest.find("dot=2") != std::string::npos || nest.find("tiles") != std::string::npos;
            if (is_of_pairs && is_of_f32) continue;
            compiled.add(graph, plan_of(graph, nest));
            added.push_back(nest);
        }
        compiled.compile();
        for (const int64_t start : {0, 15, 40}) {
            const GraphCall call =
                with_old_contents(is_of_f32 ? divided_attention_call(graph, start, 3)
                                            : rounded_attention_call(graph, start, 3, true),
                                  start);
            const GraphResult expected = interpret_graph(graph, call);
            for (size_t p = 0; p < added.size(); ++p) {
                const Difference worst = difference(compiled.run(p, call), expected);
                ASSERT_LE(worst.relative, 0x1p-8) << start << ", " << added[p] << ": " << worst.where;
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Lanes, RoundedAttention, ::testing::ValuesIn(host_lanes()));

void expect_refused(const Graph& graph, const std::string& nest, const std::string& message) {
    try {
        CompiledPlans(4).add(graph, plan_of(graph, nest));
        FAIL() << nest << " was accepted";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
    }
}

TEST(RoundedAttention, DotProductsAreRefusedOfWhatTheyCannotRead) {
    const Graph graph = rounded_attention_graph(1), of_f32 = divided_attention_graph(1);
    const std::string scores = "contract m=i n=s k=e lanes=4", attend = "stream d=d m=i rows=2 lanes=4";
    expect_refused(of_f32, nest_of(scores + " dot=2", attend), "`G`: is of f32; dot=2 needs bf16");
    expect_refused(of_f32, nest_of(scores, attend + " dot=2"),
                   "needs weights and values of bf16; they are of f32 and f32");
    expect_refused(graph, nest_of(scores, attend + " dot=2 panel_blocks=2"), "goes without panels");
    expect_refused(graph, nest_of("contract m=i n=s k=e dot=2", attend), "there are none");
    expect_refused(graph, nest_of(scores, "stream d=d m=i dot=2"), "there are none");
    const std::string tiles = "tile_rows=2 depth=4 rows=1 lanes=4 groups=";
    expect_refused(of_f32, nest_of(scores, "stream_tiles d=d m=i " + tiles + "1"),
                   "its weights and values are not of bf16");
    expect_refused(graph, nest_of(scores, "stream_tiles d=d m=i " + tiles + "5"),
                   "choose fewer rows or groups");
    expect_refused(graph, nest_of("contract_tiles m=i n=s k=e tile_rows=2 depth=4 lanes=1", attend),
                   "has no lanes of which pairs could be made");
}

}  // namespace
}  // namespace tessera::testing
