#include <filesystem>
#include <fstream>
#include <vector>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "cli/toy_bench.h"

namespace tessera {
namespace {

using ::testing::HasSubstr;

/// Its figures are tested in tests/python, beside the library's.
using EmbedVerb = ToyBench;

TEST_F(EmbedVerb, NeedsEmbeddingsAndAText) {
    const ProcessResult without = tessera({"embed", "toy.tsr", "-p", "a"});
    EXPECT_EQ(without.exit_code, 2);
    EXPECT_THAT(without.errors,
                HasSubstr("toy.tsr: was compiled without embeddings (compile the model again with "
                          "--embeddings)"));
    const ProcessResult none = tessera({"embed", "toy.tsr"});
    EXPECT_EQ(none.exit_code, 2);
    EXPECT_THAT(none.errors, HasSubstr("`TEXT`: is missing"));
    EXPECT_EQ(tessera({"embed", "toy.tsr", "-p", "a", "--pooling", "attention"}).exit_code, 2);
}

TEST_F(EmbedVerb, WritesTheVectorsOfAllTokens) {
    namespace fs = std::filesystem;
    fs::copy(TESSERA_SOURCE_DIR "/models/tessera-tiny", path("model"), fs::copy_options::recursive);
    write("ids.json", "[5, 6, 7]");
    const ProcessResult rows =
        tessera({"embed", "model", "--ids", "ids.json", "--pooling", "none", "--out", "v.bin"});
    ASSERT_EQ(rows.exit_code, 0) << rows.errors;
    const ProcessResult last =
        tessera({"embed", "model", "--ids", "ids.json", "--pooling", "last", "--keep-length", "--json"});
    ASSERT_EQ(last.exit_code, 0) << last.errors;
    const auto expected = nlohmann::json::parse(last.output).at("embeddings").at(0).at("embedding");
    ASSERT_EQ(fs::file_size(path("v.bin")), 3 * expected.size() * sizeof(float));
    std::vector<float> all(3 * expected.size());
    std::ifstream(path("v.bin"), std::ios::binary)
        .read(reinterpret_cast<char*>(all.data()), static_cast<std::streamsize>(all.size() * sizeof(float)));
    for (size_t i = 0; i < expected.size(); ++i)
        EXPECT_NEAR(all[2 * expected.size() + i], expected[i].get<float>(), 1e-4F);
    EXPECT_EQ(tessera({"embed", "model", "--ids", "ids.json", "--pooling", "none"}).exit_code, 2);
    EXPECT_EQ(tessera({"embed", "model", "--ids", "ids.json", "--out", "v.bin"}).exit_code, 2);
    const ProcessResult pair =
        tessera({"logits", "model", "--ids", "ids.json", "--decoder-ids", "ids.json", "--out", "l.bin"});
    EXPECT_EQ(pair.exit_code, 2);
    EXPECT_THAT(pair.errors, HasSubstr("makes no text of another"));
}

TEST_F(EmbedVerb, FollowsTheModelsFiles) {
    namespace fs = std::filesystem;
    fs::copy(TESSERA_SOURCE_DIR "/models/tessera-tiny", path("model"), fs::copy_options::recursive);
    fs::create_directory(path("model/1_Pooling"));
    write("model/1_Pooling/config.json",
          R"({"pooling_mode_lasttoken": true, "pooling_mode_mean_tokens": false})");
    const auto embedded = [&](std::vector<std::string> more) {
        more.insert(more.begin(), {"embed", "model", "-p", "61 + 93 = 154", "--json"});
        const ProcessResult result = tessera(more);
        EXPECT_EQ(result.exit_code, 0) << result.errors;
        return nlohmann::json::parse(result.output);
    };
    const nlohmann::json last = embedded({});
    EXPECT_EQ(last.at("pooling"), "last");
    EXPECT_EQ(last.at("normalised"), true);
    EXPECT_EQ(last.at("embeddings"), embedded({"--pooling", "last"}).at("embeddings"));
    EXPECT_NE(last.at("embeddings"), embedded({"--pooling", "mean"}).at("embeddings"));

    // A post-processor that ends a text, as embedders have it.
    nlohmann::json tokenizer = nlohmann::json::parse(std::ifstream(path("model/tokenizer.json")));
    const std::string end = tokenizer.at("added_tokens").at(0).at("content");
    tokenizer["post_processor"] = {
        {"type", "TemplateProcessing"},
        {"single",
         {{{"Sequence", {{"id", "A"}, {"type_id", 0}}}}, {{"SpecialToken", {{"id", end}, {"type_id", 0}}}}}},
        {"pair", nlohmann::json::array()},
        {"special_tokens",
         {{end, {{"id", end}, {"ids", {tokenizer.at("added_tokens").at(0).at("id")}}, {"tokens", {end}}}}}}};
    write("model/tokenizer.json", tokenizer.dump());
    write("model/1_Pooling/config.json",
          R"({"pooling_mode_cls_token": true, "pooling_mode_max_tokens": true})");
    const ProcessResult two = tessera({"embed", "model", "-p", "a"});
    EXPECT_EQ(two.exit_code, 2);
    EXPECT_THAT(two.errors, HasSubstr("is \"cls and max\", which is not supported"));
    const auto tokens = [](const nlohmann::json& all) {
        return all.at("embeddings").at(0).at("tokens").get<int>();
    };
    EXPECT_EQ(tokens(embedded({"--pooling", "last"})), tokens(last) + 1);
}

}  // namespace
}  // namespace tessera
