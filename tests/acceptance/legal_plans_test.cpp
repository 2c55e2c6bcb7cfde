// The shipped model under plans that a person may want instead of the default one: each is edited as text,
// compiled through the whole pipeline into an artefact, and run. A plan decides places and order, never
// results.
#include <functional>
#include <ostream>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "acceptance/plan_text_edits.h"
#include "acceptance/shipped_model.h"
#include "support/temporary_folder.h"

namespace tessera::testing {
namespace {

struct LegalPlan {
    const char* name;
    std::function<void(PlanDocument&)> edit;
};

void PrintTo(const LegalPlan& plan, std::ostream* out) {
    *out << plan.name;
}

constexpr const char* kAttention =
    "b:1 g:1 r:1 i:8 {{ layer_attention_gather[loops lanes=4 x=e]; s:16 {{ layer_attention_scores[{}]; "
    "layer_attention_attend[{}] }}; "
    "layer_attention_scatter[loops lanes=4 x=d] }}";
constexpr const char* kScores = "contract groups=2 k=e lanes=4 m=i n=s rows=4";
constexpr const char* kAttend = "stream d=d groups=2 lanes=4 m=i rows=4";

std::string attention(const std::string& scores, const std::string& attend) {
    return fmt::format(fmt::runtime(kAttention), scores, attend);
}
/// The attention kernel with other loops around it and over the positions.
std::string attention_in(const std::string& loops, const std::string& positions) {
    std::string nest = attention(kScores, kAttend);
    nest.replace(nest.find("b:1 g:1 r:1 i:8"), 15, loops);
    return nest.replace(nest.find("s:16"), 4, positions);
}

const std::vector<LegalPlan>& legal_plans() {
    static const std::vector<LegalPlan> plans = {
        // Layouts of weights.
        {"WeightsRowMajorUnderDot",
         [](PlanDocument& p) {
             p.stored("layer_gate_weight", "row-major")
                 .nest("layer_gate", "layer_gate[dot columns=4 k=k lanes=4 m=t n=n rows=2]");
         }},
        {"WeightsTransposed",
         [](PlanDocument& p) {
             p.stored("layer_q_weight", "order [1, 0]").stored("layer_up_weight", "order [1, 0]");
         }},
        {"WeightsInWiderLanes",
         [](PlanDocument& p) {
             p.stored("layer_gate_weight", "lanes <0:16>")
                 .nest("layer_gate", "n:16 { layer_gate[contract groups=2 k=k lanes=4 m=t n=n rows=4] }");
         }},
        {"WeightsInBlocksOfBothAxes",
         [](PlanDocument& p) { p.stored("layer_down_weight", "lanes <1:4, 0:4>"); }},
        {"WeightsWithTwoLanesOnOneAxis",
         [](PlanDocument& p) {
             p.stored("layer_up_weight", "lanes <0:2, 1:2, 0:4>")
                 .nest("layer_up", "layer_up[loops lanes=4 x=n]");
         }},
        {"WeightsPaddedByLanesThatDoNotDivide",
         [](PlanDocument& p) {
             p.stored("layer_k_weight", "lanes <0:5, 1:3>").nest("layer_k", "layer_k[loops]");
         }},
        {"TiedEmbeddingRowMajor",
         [](PlanDocument& p) {
             p.stored("embedding_weight", "row-major")
                 .nest("logits", "logits[dot columns=4 k=k lanes=4 m=t n=n rows=2]");
         }},
        {"TiedEmbeddingTransposed", [](PlanDocument& p) { p.stored("embedding_weight", "order [1, 0]"); }},
        {"RotaryTablesTransposed",
         [](PlanDocument& p) {
             p.stored("rope_cos", "order [1, 0]")
                 .nest("layer_q_rotated",
                       "t:1 h:1 { layer_q_normed_reciprocal[loops lanes=4 x=d]; layer_q_normed_apply[loops "
                       "lanes=4 x=d]; layer_q_rotated[loops] }")
                 .nest("layer_k_rotated",
                       "t:1 h:1 { layer_k_normed_reciprocal[loops lanes=4 x=d]; layer_k_normed_apply[loops "
                       "lanes=4 x=d]; layer_k_rotated[loops] }");
         }},
        // Layouts of the cache.
        {"KeysRowMajorUnderDot",
         [](PlanDocument& p) {
             p.stored("layer_k_cache", "row-major")
                 .nest("layer_attention_scatter",
                       attention("dot columns=4 k=e lanes=4 m=i n=s rows=2", kAttend));
         }},
        {"ValuesWithPagesOutermost",
         [](PlanDocument& p) { p.stored("layer_v_cache", "order [0, 2, 1, 3]"); }},
        {"ValuesInLanes",
         [](PlanDocument& p) { p.stored("layer_v_cache", "order [0, 2, 1, 3] lanes <3:4>"); }},
        {"KeysInLanesOfPositions",
         [](PlanDocument& p) { p.stored("layer_k_cache", "order [2, 0, 3, 1] lanes <1:4>"); }},
        // Layouts of intermediate values.
        {"ActivationsInLanes",
         [](PlanDocument& p) {
             p.unplaced().tensor("layer_gate", "arena, lanes <1:4>").tensor("layer_up", "arena, lanes <1:4>");
         }},
        {"ActivationsTransposed",
         [](PlanDocument& p) {
             p.unplaced()
                 .tensor("layer_q", "arena, order [1, 0]")
                 .nest("layer_q", "layer_q[loops]")
                 .nest("layer_q_rotated",
                       "t:1 h:1 { layer_q_normed_reciprocal[loops]; layer_q_normed_apply[loops]; "
                       "layer_q_rotated[loops] }");
         }},
        {"RowsInLanes",
         [](PlanDocument& p) {
             p.unplaced()
                 .tensor("layer_down", "arena, lanes <0:4>")
                 .nest("layer_down", "layer_down[loops]")
                 .nest("layer_feed_forward_residual", "layer_feed_forward_residual[loops]");
         }},
        {"TileInAnotherOrder",
         [](PlanDocument& p) {
             p.unplaced()
                 .tensor("layer_attention_gather", "tile, order [0, 3, 4, 2, 1]")
                 .nest("layer_attention_scatter",
                       "b:1 g:1 r:1 i:8 { layer_attention_gather[loops]; s:16 { "
                       "layer_attention_scores[contract "
                       "groups=2 k=e lanes=4 m=i n=s rows=4]; layer_attention_attend[stream d=d groups=2 "
                       "lanes=4 m=i rows=4] }; layer_attention_scatter[loops lanes=4 x=d] }");
         }},
        // Tiles and loop orders.
        {"OneQueryAtATime",
         [](PlanDocument& p) {
             p.unplaced().nest(
                 "layer_attention_scatter",
                 "b:1 g:1 r:1 i:1 { layer_attention_gather[loops lanes=4 x=e]; s:16 { "
                 "layer_attention_scores[contract groups=2 k=e lanes=4 n=s]; layer_attention_attend[stream "
                 "d=d groups=2 lanes=4] }; layer_attention_scatter[loops lanes=4 x=d] }");
         }},
        {"ThreeQueriesAtATime",
         [](PlanDocument& p) {
             p.unplaced().nest("layer_attention_scatter", attention_in("b:1 g:1 r:1 i:3", "s:16"));
         }},
        {"TileAcrossPages",
         [](PlanDocument& p) {
             p.unplaced().nest("layer_attention_scatter", attention_in("b:1 g:1 r:1 i:8", "s:48"));
         }},
        {"EightPositionsAtATime",
         [](PlanDocument& p) {
             p.unplaced().nest("layer_attention_scatter", attention_in("b:1 g:1 r:1 i:8", "s:8"));
         }},
        {"HeadsOutermost",
         [](PlanDocument& p) {
             p.unplaced().nest("layer_attention_scatter", attention_in("i:8 g:1 b:1 r:1", "s:16"));
         }},
        {"HeadsBetweenTheQueries",
         [](PlanDocument& p) {
             p.unplaced().nest("layer_attention_scatter",
                               attention_in("b:1 i:16 g:1 r:2 i:4 r:1", "s:16 s:4"));
         }},
        {"ColumnsInTiles",
         [](PlanDocument& p) {
             p.nest("layer_gate", "n:64 { layer_gate[contract groups=2 k=k lanes=4 m=t n=n rows=4] }");
         }},
        {"RaggedTilesOfRowsAndColumns",
         [](PlanDocument& p) {
             p.nest("layer_up", "t:5 n:20 { layer_up[contract groups=2 k=k lanes=4 m=t n=n rows=3] }");
         }},
        {"ColumnsOutsideRows",
         [](PlanDocument& p) {
             p.nest("layer_up", "n:32 t:8 { layer_up[contract groups=2 k=k lanes=4 m=t n=n rows=4] }");
         }},
        {"ReductionInTiles",
         [](PlanDocument& p) {
             p.nest("layer_down", "k:32 { layer_down[contract groups=2 k=k lanes=4 m=t n=n rows=4] }");
         }},
        {"ReductionInTilesAroundColumns",
         [](PlanDocument& p) {
             p.nest("layer_down",
                    "t:16 k:100 n:32 { layer_down[contract groups=2 k=k lanes=4 m=t n=n rows=4] }");
         }},
        {"TilesInTiles",
         [](PlanDocument& p) {
             p.nest("layer_gate",
                    "n:128 t:16 n:32 t:4 { layer_gate[contract groups=2 k=k lanes=4 m=t n=n rows=4] }");
         }},
        // Fusion and fission.
        {"NormsApart",
         [](PlanDocument& p) {
             p.unplaced()
                 .tensor("layer_attention_normed_reciprocal", "arena")
                 .nest("layer_attention_normed_apply",
                       "layer_attention_normed_reciprocal[loops lanes=4 "
                       "x=d]\nlayer_attention_normed_apply[loops lanes=4 x=d]");
         }},
        {"RotationApart",
         [](PlanDocument& p) {
             p.unplaced()
                 .tensor("layer_q_normed_reciprocal", "arena")
                 .tensor("layer_q_normed", "arena")
                 .nest("layer_q_rotated",
                       "layer_q_normed_reciprocal[loops lanes=4 x=d]\nlayer_q_normed_apply[loops lanes=2 "
                       "x=d]\nlayer_q_rotated[loops lanes=4 x=d]");
         }},
        {"AttentionApart",
         [](PlanDocument& p) {
             p.unplaced();
             for (const char* tensor : {"gather", "scores", "attend_A", "attend_L", "attend_M"})
                 p.tensor(std::string("layer_attention_") + tensor, "arena");
             p.nest("layer_attention_scatter",
                    "layer_attention_gather[loops lanes=4 "
                    "x=e]\nlayer_attention_scores[loops]\nlayer_attention_attend[loops lanes=4 "
                    "x=d]\nlayer_attention_scatter[loops lanes=4 x=d]");
         }},
        {"GateAndUpIntoTheirProduct",
         [](PlanDocument& p) {
             p.unplaced()
                 .tensor("layer_gate", "tile")
                 .tensor("layer_up", "tile")
                 .tensor("layer_swiglu", "arena")
                 .nest("layer_gate", "")
                 .nest("layer_up", "")
                 .nest(
                     "layer_swiglu",
                     "t:4 f:32 { layer_gate[contract groups=2 k=k lanes=4 m=t n=n rows=4]; layer_up[contract "
                     "groups=2 k=k lanes=4 m=t n=n rows=4]; layer_swiglu[loops lanes=4 x=f] }");
         }},
        {"ProductIntoTheReductionThatReadsIt",
         [](PlanDocument& p) {
             p.unplaced()
                 .tensor("layer_swiglu", "tile")
                 .nest("layer_swiglu", "")
                 .nest("layer_down",
                       "t:8 k:48 { layer_swiglu[loops lanes=4 x=f]; layer_down[contract groups=2 k=k lanes=4 "
                       "m=t n=n rows=4] }");
         }},
        {"ProjectionIntoTheResidual",
         [](PlanDocument& p) {
             p.unplaced()
                 .tensor("layer_output", "tile")
                 .nest("layer_output", "")
                 .nest("layer_attention_residual",
                       "t:2 { layer_output[contract groups=2 k=k lanes=4 m=t n=n rows=2]; "
                       "layer_attention_residual[loops lanes=4 x=d] }");
         }},
        {"LastNormIntoTheLogits",
         [](PlanDocument& p) {
             p.unplaced()
                 .tensor("final_normed", "tile")
                 .nest("final_normed_apply", "")
                 .nest("logits",
                       "t:4 { final_normed_reciprocal[loops lanes=4 x=d]; final_normed_apply[loops lanes=4 "
                       "x=d]; logits[contract groups=2 k=k lanes=4 m=t n=n rows=4] }");
         }},
        {"CacheUpdateIntoTheRotation",
         [](PlanDocument& p) {
             p.unplaced()
                 .tensor("layer_k_rotated", "tile")
                 .nest("layer_k_rotated", "")
                 .nest("layer_k_cache_update",
                       "t:1 h:1 { layer_k_normed_reciprocal[loops lanes=4 x=d]; layer_k_normed_apply[loops "
                       "lanes=4 x=d]; layer_k_rotated[loops lanes=4 x=d]; layer_k_cache_update[loops lanes=4 "
                       "x=d] }");
         }},
        // Micro-kernels and their parameters.
        {"PlainLoops",
         [](PlanDocument& p) {
             p.nest("layer_output", "layer_output[loops]").nest("embedded", "embedded[loops]");
         }},
        {"SumsInLanes",
         [](PlanDocument& p) {
             p.stored("layer_v_weight", "row-major").nest("layer_v", "layer_v[loops lanes=4 x=k]");
         }},
        {"WiderVectorsThanTheMachine",
         [](PlanDocument& p) {
             p.stored("layer_gate_weight", "lanes <0:16>")
                 .nest("layer_gate", "layer_gate[contract groups=1 k=k lanes=16 m=t n=n rows=2]");
         }},
        {"OtherRegisterBlocks",
         [](PlanDocument& p) {
             p.nest("layer_up", "layer_up[contract groups=5 k=k lanes=4 m=t n=n partial_sums=4 rows=3]");
         }},
        {"WeightsInStreams",
         [](PlanDocument& p) {
             p.nest("layer_up", "layer_up[contract groups=3 k=k lanes=4 m=t n=n rows=2 streams=3]");
         }},
        {"ScoresByLoops",
         [](PlanDocument& p) { p.nest("layer_attention_scatter", attention("loops", kAttend)); }},
        {"SoftmaxByLoops",
         [](PlanDocument& p) {
             p.unplaced().nest(
                 "layer_attention_scatter",
                 "b:1 g:1 r:1 i:4 { layer_attention_gather[loops lanes=4 x=e]; "
                 "layer_attention_scores[loops]; "
                 "layer_attention_attend[loops lanes=4 x=d]; layer_attention_scatter[loops lanes=4 x=d] }");
         }},
        // Views, places, order.
        {"ViewsCopied",
         [](PlanDocument& p) {
             p.unplaced()
                 .tensor("layer_q_heads", "arena")
                 .before("layer_q_rotated", "layer_q_heads[loops lanes=4 x=e]")
                 .tensor("layer_attended", "arena")
                 .before("layer_output", "layer_attended[loops lanes=4 x=n]");
         }},
        {"NothingInPlace", [](PlanDocument& p) { p.unplaced().tensor("layer_swiglu", "arena"); }},
        {"OtherOrderOfKernels",
         [](PlanDocument& p) {
             p.unplaced()
                 .nest("layer_up", "")
                 .before("layer_gate", "layer_up[contract groups=2 k=k lanes=4 m=t n=n rows=4]")
                 .nest("layer_v", "")
                 .before("layer_q", "layer_v[contract groups=2 k=k lanes=4 m=t n=n rows=4]");
         }},
    };
    return plans;
}

class LegalPlanTest : public ::testing::TestWithParam<LegalPlan> {};

TEST_P(LegalPlanTest, GivesTheReferenceLogits) {
    const TemporaryFolder folder;
    const std::string before = editable_plan_text(folder.path());
    PlanDocument plan(before);
    GetParam().edit(plan);
    ASSERT_NE(plan.text(), before);
    const std::filesystem::path artefact = compile_with(plan.text(), folder.path());
    for (const int64_t chunk : {0, 7, 3, 1}) {
        const llm::LogitsComparison comparison = compared_with_reference(artefact, chunk);
        EXPECT_EQ(comparison.rows(), 55);
        EXPECT_LE(comparison.worst_error(), kTolerance)
            << "chunks of " << chunk << ": " << comparison.worst_element();
        EXPECT_EQ(comparison.top1_agreements(), comparison.rows());
    }
}

INSTANTIATE_TEST_SUITE_P(Plans, LegalPlanTest, ::testing::ValuesIn(legal_plans()),
                         [](const auto& plan) { return std::string(plan.param.name); });

TEST(LegalPlans, AreAtLeastThirty) {
    EXPECT_GE(legal_plans().size(), 30U);
}

}  // namespace
}  // namespace tessera::testing
