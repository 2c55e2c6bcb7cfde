#include "chip/partition/model_workload.h"

#include <algorithm>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "chip/partition/footprints.h"
#include "support/error.h"
#include "support/temporary_folder.h"

namespace tessera::partition {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

json small_llama() {
    return {{"architectures", {"LlamaForCausalLM"}},
            {"model_type", "llama"},
            {"hidden_size", 48},
            {"intermediate_size", 80},
            {"num_attention_heads", 6},
            {"num_key_value_heads", 2},
            {"num_hidden_layers", 5},
            {"vocab_size", 100},
            {"max_position_embeddings", 128},
            {"rms_norm_eps", 1e-5},
            {"torch_dtype", "float16"}};
}

class ModelWorkload : public ::testing::Test {
protected:
    std::string write(const json& config) const {
        const std::filesystem::path path = folder_.path() / "small.json";
        std::ofstream(path) << config.dump();
        return path.string();
    }
    std::string error_of(const json& config, const StepShape& shape = {.batch = 4, .sequence = 64}) const {
        try {
            (void)model_workload(write(config), shape);
            return "accepted";
        } catch (const Error& error) {
            return error.what();
        }
    }

private:
    TemporaryFolder folder_;
};

struct Bytes {
    int64_t read = 0, written = 0;
};

/// The bytes that all operators read from the HBM and write there.
Bytes hbm_bytes(const Workload& workload) {
    Bytes bytes;
    for (const size_t o : workload.sequence) {
        const WorkOperator& op = workload.operators[o];
        const Footprints footprints(op.bound);
        for (size_t t = 0; t < op.places.size(); ++t)
            if (op.places[t] == Place::kHbm)
                (op.bound.is_result(static_cast<int>(t)) ? bytes.written : bytes.read) +=
                    footprints.touched_bytes(t);
    }
    return bytes;
}

TEST_F(ModelWorkload, ReadsEachWeightAndTheCacheOnce) {
    const Workload workload = model_workload(write(small_llama()), {.batch = 4, .sequence = 64});
    EXPECT_EQ(workload.name, "small");
    ASSERT_EQ(workload.repeats.size(), 1u);
    EXPECT_EQ(workload.repeats[0].count, 5u);
    EXPECT_EQ(workload.sequence.size(), workload.operators.size() + 4 * workload.repeats[0].length);
    const int64_t projections = 48 * 48 * 2 + 16 * 48 * 2, feed_forward = 3 * 48 * 80, norms = 2 * 48;
    // Keys and values of 64 positions of 4 sequences, 2 heads of 8. Rotary tables: a row for queries, one for
    // keys.
    const int64_t cache = 2 * 4 * 64 * 16, rotary = 2 * 2 * 4;
    const int64_t outer = 4 * 48 + 48 + 100 * 48;
    EXPECT_EQ(hbm_bytes(workload).read,
              5 * (2 * (projections + feed_forward + norms + cache) + 4 * rotary) + 2 * outer);
    EXPECT_EQ(hbm_bytes(workload).written, 5 * 2 * (4 * 16) * 2);
}

TEST_F(ModelWorkload, HasNoIndexOperands) {
    const Workload workload = model_workload(write(small_llama()), {.batch = 4, .sequence = 64});
    for (const WorkOperator& op : workload.operators)
        for (const TensorDecl& tensor : op.bound.definition.tensors)
            EXPECT_NE(tensor.role, Role::kIndex) << op.name;
}

TEST_F(ModelWorkload, MayBeLongerThanTheModelWithARemark) {
    const Workload workload = model_workload(write(small_llama()), {.batch = 1, .sequence = 256});
    EXPECT_THAT(workload.remarks,
                ElementsAre("256 positions are more than the 128 that the model was made for"));
}

TEST_F(ModelWorkload, RefusesWhatTheImporterDoesNotSupport) {
    json config = small_llama();
    config["model_type"] = "someone_elses";
    config["architectures"] = {"SomeoneElsesForCausalLM"};
    EXPECT_THAT(error_of(config), AllOf(HasSubstr("small.json: cannot be planned:"),
                                        HasSubstr("architecture someone_elses: known are")));
    config = small_llama();
    config["torch_dtype"] = "float8_e4m3fn";
    EXPECT_THAT(error_of(config), HasSubstr("tensors of type float8_e4m3fn"));
    config = small_llama();
    config.erase("hidden_size");
    EXPECT_EQ(error_of(config), "accepted") << "as wide as its class is by default";
    config = small_llama();
    config["num_key_value_heads"] = 4;
    EXPECT_THAT(error_of(config),
                HasSubstr("`num_key_value_heads`: is 4, expected a divisor of num_attention_heads = 6"));
}

TEST_F(ModelWorkload, RefusesShapesByName) {
    EXPECT_THAT(error_of(small_llama(), {.batch = 0, .sequence = 64}),
                HasSubstr("`--batch`: is 0, expected 1 to 65536"));
    EXPECT_THAT(error_of(small_llama(), {.batch = 1, .sequence = 60}),
                HasSubstr("`--sequence`: is 60, expected a multiple of 16 from 16 to 1048576"));
    EXPECT_THAT(error_of(small_llama(), {.batch = 60000, .sequence = 512, .phase = Phase::kPrefill}),
                HasSubstr("`--batch`: is 60000, expected at most 32768 sequences of 512 new tokens"));
    EXPECT_THAT(error_of(small_llama(), {.batch = 65537, .sequence = 64}), HasSubstr("`--batch`: is 65537"));
    EXPECT_THROW((void)model_workload("/nowhere/config.json", {}), Error);
}

/// The operator of the layer with this name.
const WorkOperator& operator_named(const Workload& workload, const std::string& name) {
    const auto found = std::find_if(workload.operators.begin(), workload.operators.end(),
                                    [&](const WorkOperator& op) { return op.name == name; });
    EXPECT_NE(found, workload.operators.end()) << name;
    return *found;
}

/// Weights and tables that a step reads once, whatever its phase.
constexpr int64_t kLayerWeights = 48 * 48 * 2 + 16 * 48 * 2 + 3 * 48 * 80 + 2 * 48;

TEST_F(ModelWorkload, PrefillReadsNoCacheAndStoresIt) {
    const Workload workload =
        model_workload(write(small_llama()), {.batch = 3, .sequence = 32, .phase = Phase::kPrefill});
    const int64_t tokens = 3 * 32, rotary = 2 * 2 * 32 * 4, outer = tokens * 48 + 48 + 100 * 48;
    EXPECT_EQ(hbm_bytes(workload).read, 5 * (2 * kLayerWeights + 4 * rotary) + 2 * outer);
    EXPECT_EQ(hbm_bytes(workload).written, 5 * 2 * tokens * 16 * 2);
    // The last token of each sequence.
    const WorkOperator& selected = operator_named(workload, "selected");
    EXPECT_EQ(selected.bound.extents.iterators[0], 3);
    const WorkOperator& scores = operator_named(workload, "layer_attention_scores");
    EXPECT_THAT(scores.places, ElementsAre(Place::kOnChip, Place::kOnChip, Place::kOnChip));
    EXPECT_THAT(scores.bound.extents.iterators, ElementsAre(3, 2, 3, 32, 32, 8));
    // Keys and values wait on the chip until attention reads them.
    EXPECT_GE(workload.carried_bytes, tokens * 48 * 4 + tokens * 16 * 2);
}

TEST_F(ModelWorkload, TrainingHasNoCacheAndLogitsOfAllTokens) {
    const Workload workload =
        model_workload(write(small_llama()), {.batch = 3, .sequence = 32, .phase = Phase::kTraining});
    EXPECT_EQ(hbm_bytes(workload).written, 0);
    EXPECT_EQ(operator_named(workload, "logits").bound.extents.iterators[0], 3 * 32);
    const Workload prefill =
        model_workload(write(small_llama()), {.batch = 3, .sequence = 32, .phase = Phase::kPrefill});
    EXPECT_EQ(hbm_bytes(workload).read, hbm_bytes(prefill).read);
    EXPECT_EQ(workload.sequence.size(), prefill.sequence.size());
}

TEST_F(ModelWorkload, HasNoIndexOperandsInAnyPhase) {
    for (const Phase phase : kPhases)
        for (const WorkOperator& op :
             model_workload(write(small_llama()), {.batch = 2, .sequence = 32, .phase = phase}).operators)
            for (const TensorDecl& tensor : op.bound.definition.tensors)
                EXPECT_NE(tensor.role, Role::kIndex) << name(phase) << " " << op.name;
}

TEST_F(ModelWorkload, PhasesHaveNames) {
    for (const Phase phase : kPhases) EXPECT_EQ(phase_of(name(phase)), phase);
    EXPECT_EQ(phase_of("backward"), std::nullopt);
}

TEST_F(ModelWorkload, OfOptHasBiasesAndPositions) {
    const json opt = {{"architectures", {"OPTForCausalLM"}},
                      {"model_type", "opt"},
                      {"hidden_size", 48},
                      {"ffn_dim", 80},
                      {"num_attention_heads", 6},
                      {"num_hidden_layers", 5},
                      {"vocab_size", 100},
                      {"max_position_embeddings", 128},
                      {"word_embed_proj_dim", 48},
                      {"torch_dtype", "float16"}};
    const Workload workload = model_workload(write(opt), {.batch = 4, .sequence = 64});
    const int64_t layer = 4 * (48 * 48 + 48) + 2 * 48 * 80 + 80 + 48 + 4 * 48, cache = 2 * 4 * 64 * 48;
    // Tokens, one position for all sequences, the last norm, and the table as head.
    const int64_t outer = 4 * 48 + 48 + 2 * 48 + 100 * 48;
    EXPECT_EQ(hbm_bytes(workload).read, 2 * (5 * (layer + cache) + outer));
}

TEST_F(ModelWorkload, OfGemmaHasLayersOfTwoKinds) {
    json gemma = small_llama();
    gemma["architectures"] = {"Gemma2ForCausalLM"};
    gemma["model_type"] = "gemma2";
    gemma["head_dim"] = 8;
    gemma["num_hidden_layers"] = 6;
    gemma["sliding_window"] = 32;
    gemma["hidden_activation"] = "gelu_pytorch_tanh";
    const Workload workload = model_workload(write(gemma), {.batch = 4, .sequence = 64});
    ASSERT_EQ(workload.repeats.size(), 1u);
    EXPECT_EQ(workload.repeats[0].count, 3u);
    EXPECT_EQ(operator_named(workload, "logits").bound.definition.name, "soft_cap");
    const int64_t norms = 4 * 48, projections = 48 * 48 * 2 + 16 * 48 * 2, feed_forward = 3 * 48 * 80;
    const int64_t whole = 2 * 4 * 64 * 16, rotary = 2 * 2 * 4;
    const int64_t outer = 4 * 48 + 48 + 100 * 48;
    // A layer with a window reads that part of the cache only.
    EXPECT_EQ(
        hbm_bytes(workload).read,
        2 * (6 * (projections + feed_forward + norms) + 3 * whole + 3 * whole / 2 + outer) + 6 * 4 * rotary);
}

json small_dit() {
    return {{"_class_name", "DiTTransformer2DModel"},
            {"num_layers", 3},
            {"num_attention_heads", 2},
            {"attention_head_dim", 8},
            {"patch_size", 2},
            {"sample_size", 8},
            {"in_channels", 4},
            {"num_embeds_ada_norm", 10},
            {"torch_dtype", "float16"}};
}

TEST_F(ModelWorkload, OfADiffusionTransformerReadsEachWeightOnce) {
    const Workload workload = model_workload(write(small_dit()), {.batch = 4});
    const int64_t d = 16, modulated = 7 * d, attention = 4 * (d * d + d), feed_forward = 8 * d * d + 5 * d;
    const int64_t layer = d * modulated - d * d + 6 * d + attention + feed_forward;
    const int64_t embedded = 16 * d + d + 16 * d + 257 * d + d * d + d + 4 * d;
    const int64_t head = 2 * d * d + 2 * d + 16 * d + 16;
    EXPECT_EQ(hbm_bytes(workload).read, 2 * (embedded + 3 * layer + head));
    EXPECT_EQ(hbm_bytes(workload).written, 0);
    ASSERT_EQ(workload.repeats.size(), 1u);
    EXPECT_EQ(workload.repeats[0].count, 3u);
}

TEST_F(ModelWorkload, OfADiffusionTransformerHasNoPhasesAndSequences) {
    EXPECT_THAT(error_of(small_dit(), {.batch = 4, .sequence = 64}),
                HasSubstr("the rows of this model are the 16 patches of an image"));
    EXPECT_THAT(error_of(small_dit(), {.batch = 4, .phase = Phase::kPrefill}),
                HasSubstr("`--phase`: is prefill, but this model has no phases"));
}

}  // namespace
}  // namespace tessera::partition
