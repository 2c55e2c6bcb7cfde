// Poolings that the files of a model state.
#include "run/llm/read_pooling.h"

#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/llm/fixtures.h"
#include "support/error.h"

namespace tessera::llm {
namespace {

using ::testing::HasSubstr;

constexpr const char* kModules =
    R"([{"path": "", "type": "sentence_transformers.models.Transformer"},
        {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"})";

/// The pooling of a folder with these files; empty ones are missing.
StatedPooling stated(const std::string& config, const std::string& modules) {
    const test::TemporaryFolder folder("pooling");
    std::filesystem::create_directory(folder.path() / "1_Pooling");
    if (!config.empty()) folder.write("1_Pooling/config.json", config);
    if (!modules.empty()) folder.write("modules.json", modules);
    return read_pooling(folder.path());
}

TEST(ReadPooling, OfSentenceTransformers) {
    EXPECT_EQ(stated("", "").pooling, "");
    EXPECT_TRUE(stated("", "").normalises);
    for (const auto& [config, pooling] : std::vector<std::pair<std::string, std::string>>{
             {R"({"pooling_mode_lasttoken": true, "pooling_mode_mean_tokens": false})", "last"},
             {R"({"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false})", "cls"},
             {R"({"pooling_mode_mean_tokens": true, "include_prompt": true})", "mean"},
             {R"({"pooling_mode_max_tokens": true})", "max"},
             {R"({"pooling_mode_mean_sqrt_len_tokens": true})", "mean_sqrt_len"},
             {R"({"pooling_mode_weightedmean_tokens": true})", "weightedmean"},
             {R"({"pooling_mode": "lasttoken"})", "last"},
             {R"({"pooling_mode": "cls"})", "cls"},
             {R"({"word_embedding_dimension": 4})", "mean"},
             {R"({"pooling_mode_mean_tokens": false})", "none"},
             {R"({"pooling_mode_attention": true})", "pooling_mode_attention"}})
        EXPECT_EQ(stated(config, "").pooling, pooling) << config;
    EXPECT_EQ(stated(R"({"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": true})", "").pooling,
              "cls and mean");
}

TEST(ReadPooling, ModulesSayWhetherVectorsAreNormalised) {
    const std::string last = R"({"pooling_mode_lasttoken": true})";
    EXPECT_FALSE(stated(last, std::string(kModules) + "]").normalises);
    const StatedPooling whole =
        stated(last, std::string(kModules) +
                         R"(, {"path": "2", "type": "sentence_transformers.models.Normalize"}])");
    EXPECT_TRUE(whole.normalises);
    EXPECT_EQ(whole.pooling, "last");
    try {
        stated(last, std::string(kModules) +
                         R"(, {"path": "2_Dense", "type": "sentence_transformers.models.Dense"}])");
        FAIL() << "a matrix behind the pooling is left out";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(),
                    HasSubstr("is sentence_transformers.models.Dense, which changes embeddings"));
    }
}

}  // namespace
}  // namespace tessera::llm
