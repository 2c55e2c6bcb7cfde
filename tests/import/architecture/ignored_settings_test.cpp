#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "import/architecture/own_text.h"
#include "import/architecture/parse_architecture.h"
#include "import/hf/config.h"
#include "import/random_checkpoint.h"
#include "support/error.h"

namespace tessera::import {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Findings findings_of(const json& config, const std::string& text = "") {
    const TemporaryFolder folder;
    testing::write_file(folder.path() / "config.json", config.dump());
    testing::write_file(folder.path() / "own.arch", text);
    const std::filesystem::path file = folder.path() / "own.arch";
    const Architectures known = text.empty() ? Architectures() : Architectures({&file, 1});
    Findings findings;
    (void)read_hf_config((folder.path() / "config.json").string(), known, findings);
    return findings;
}

constexpr const char* kOwn = R"(arch own like llama
class "OwnForCausalLM"
set hidden hf = 8, heads hf = 2, feed_forward hf = 12
ignore "norm_kind" = "rms", "mlp_gated" = true, "mlp_width" = feed_forward, "rope_share" = 0.5, "attn_words"
)";

TEST(IgnoredSettings, HaveNoEffectAtTheValueOfTheText) {
    const json stated = {{"model_type", "own"}, {"norm_kind", "rms"}, {"mlp_gated", true},
                         {"mlp_width", 12},     {"rope_share", 0.5},  {"attn_words", "any"}};
    EXPECT_THAT(findings_of(stated, kOwn).unsupported, IsEmpty());
    json lists = stated;
    lists["mlp_width"] = {12, 12};
    lists["norm_kind"] = nullptr;
    EXPECT_THAT(findings_of(lists, kOwn).unsupported, IsEmpty());
    const auto refusal = [&](const char* name, const json& value) {
        json other = stated;
        other[name] = value;
        return ::testing::PrintToString(findings_of(other, kOwn).unsupported);
    };
    EXPECT_THAT(refusal("norm_kind", "layer"), HasSubstr("norm_kind = \\\"layer\\\": expected \\\"rms\\\""));
    EXPECT_THAT(refusal("mlp_gated", false), HasSubstr("mlp_gated = false: expected true"));
    EXPECT_THAT(refusal("mlp_width", {12, 13}), HasSubstr("expected 12"));
    EXPECT_THAT(refusal("rope_share", 1), HasSubstr("rope_share = 1: expected 0.5"));
}

TEST(IgnoredSettings, ArePrintedAndTakeThePlaceOfOlderOnes) {
    const auto other = [](std::string_view name) -> std::string_view {
        return name == "old"     ? "arch old like llama\nignore \"a\", \"b\" = 1\n"
               : name == "llama" ? "arch llama\n"
                                 : "";
    };
    const Architecture found =
        parse_architecture("arch own like old\nignore \"a\" = true, \"c\"\n", "own.arch", other);
    EXPECT_THAT(print(found), HasSubstr("ignore \"a\" = true, \"b\" = 1, \"c\"\n"));
}

TEST(IgnoredSettings, AreMadeOfKnownNames) {
    EXPECT_THROW((void)findings_of({{"model_type", "own"}}, std::string(kOwn) + "ignore \"x\" = nobody\n"),
                 Error);
}

/// Beside what a class reads, published folders have what earlier versions of it read, or the code of their
/// authors.
TEST(IgnoredSettings, PublishedFoldersAreRead) {
    const json plain = {{"rope_type", "default"}, {"rope_theta", 1e4}};
    const std::vector<std::pair<std::string, json>> published = {
        {"afmoe", {{"num_expert_groups", 1}, {"num_limited_groups", 1}, {"n_group", 1}, {"topk_group", 1}}},
        {"apertus", {{"post_norm", false}, {"qk_norm", true}, {"rope_parameters", plain}}},
        {"cohere2",
         {{"layer_switch", 4},
          {"order_of_interleaved_layers", "local_attn_first"},
          {"rotary_pct", 1.0},
          {"position_embedding_type", "rope_gptj"},
          {"use_parallel_block", true}}},
        {"exaone4", {{"sliding_window_pattern", "LLLG"}}},
        {"falcon", {{"apply_residual_connection_post_layernorm", false}}},
        {"falcon_h1", {{"mamba_use_mlp", true}, {"mlp_expansion_factor", 8}}},
        {"gpt_oss", {{"experts_per_token", 4}, {"initial_context_length", 4096}, {"rope_parameters", plain}}},
        {"granitemoehybrid", {{"normalization_function", "rmsnorm"}, {"logits_to_keep", 1}}},
        {"hunyuan_v1_dense", {{"use_qk_norm", true}, {"norm_type", "rms"}, {"use_cla", false}}},
        {"kimi_k2", {{"n_group", 1}, {"topk_group", 1}}},
        {"lfm2", {{"block_dim", 2560}, {"block_use_swiglu", true}, {"num_heads", 32}, {"use_pos_enc", true}}},
        {"mamba", {{"n_layer", 32}, {"rms_norm", true}, {"fused_add_norm", true}}},
        {"mamba2", {{"rms_norm", true}, {"norm_before_gate", true}}},
        {"minimax_m2", {{"layernorm_mlp_beta", 1.0}, {"shared_moe_mode", "sigmoid"}, {"rotary_dim", 64}}},
        {"modernbert", {{"position_embedding_type", "absolute"}, {"layer_norm_eps", 1e-5}}},
        {"nomic_bert",
         {{"n_embd", 768}, {"n_head", 12}, {"n_layer", 12}, {"causal", false}, {"rotary_emb_base", 1000}}},
        {"phi3", {{"full_attn_mod", 1}, {"interpolate_factor", 1}, {"lm_head_bias", false}}},
        {"stablelm", {{"norm_eps", 1e-5}, {"rotary_scaling_factor", 1.0}}},
        {"starcoder2", {{"mlp_type", "default"}, {"norm_type", "layer_norm"}, {"scale_attn_weights", true}}},
    };
    for (const auto& [type, settings] : published) {
        json config = settings;
        config["model_type"] = type;
        EXPECT_THAT(findings_of(config).unsupported, IsEmpty()) << type;
    }
    EXPECT_THAT(findings_of({{"model_type", "apertus"}, {"post_norm", true}}).unsupported,
                Contains(HasSubstr("post_norm = true: expected false")));
    for (const char* letters : {"LGLG", "GGGL", "LLLL", ""})
        EXPECT_THROW((void)findings_of({{"model_type", "exaone4"}, {"sliding_window_pattern", letters}}),
                     Error)
            << letters;
}

}  // namespace
}  // namespace tessera::import
