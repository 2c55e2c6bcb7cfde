#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/gguf/gguf_file.h"
#include "run/llm/fixtures.h"
#include "run/llm/load_tokenizer.h"
#include "run/runtime/artefact.h"
#include "support/error.h"

// The files of a tokenizer that an artefact carries, and reading them back from memory.

namespace tessera::llm {
namespace {

using ::testing::HasSubstr;

std::vector<std::string> names(const std::vector<runtime::NamedFile>& files) {
    std::vector<std::string> result;
    for (const runtime::NamedFile& file : files) result.push_back(file.name);
    return result;
}

void expect_same(const Tokenizer& a, const Tokenizer& b, const nlohmann::json& cases) {
    for (const auto& item : cases) {
        const auto text = item.at("text").get<std::string>();
        EXPECT_EQ(a.encode(text, {.add_special = true}), b.encode(text, {.add_special = true})) << item;
    }
    EXPECT_EQ(a.bos(), b.bos());
    EXPECT_EQ(a.eos(), b.eos());
    EXPECT_EQ(a.vocabulary_size(), b.vocabulary_size());
}

TEST(TokenizerFiles, OfAFolder) {
    for (const char* name : {"llama3", "qwen2"}) {
        const auto folder = test::fixtures() / name;
        const std::vector<runtime::NamedFile> files = tokenizer_files(folder);
        expect_same(load_tokenizer(files, "model.tsr"), load_tokenizer(folder),
                    test::read_json(folder / "cases.json"));
    }
    EXPECT_THAT(names(tokenizer_files(test::fixtures() / "qwen2")),
                ::testing::ElementsAre("vocab.json", "merges.txt", "tokenizer_config.json"));
}

TEST(TokenizerFiles, OfAGgufFileWithoutItsWeights) {
    const std::string weights(1 << 16, 'w');
    const test::TemporaryFolder folder("tokenizer_files");
    const auto path =
        folder.write("model.gguf", test::GgufBuilder()
                                       .string("general.architecture", "llama")
                                       .string("tokenizer.ggml.model", "llama")
                                       .strings("tokenizer.ggml.tokens", {"<unk>", "\u2581", "a", "\u2581a"})
                                       .numbers<float>("tokenizer.ggml.scores", 6, {0, -1, -2, -3})
                                       .numbers<int32_t>("tokenizer.ggml.token_type", 5, {2, 1, 1, 1})
                                       .u32("tokenizer.ggml.unknown_token_id", 0)
                                       .u32("tokenizer.ggml.eos_token_id", 2)
                                       .tensor("w", {1 << 14}, 0, 0)
                                       .data(weights)
                                       .build());
    const std::vector<runtime::NamedFile> files = tokenizer_files(path);
    ASSERT_THAT(names(files), ::testing::ElementsAre("tokenizer.gguf"));
    EXPECT_LT(files[0].bytes.size(), 1000u);
    const import::GgufFile kept = import::GgufFile::parse(std::as_bytes(std::span(files[0].bytes)), "kept");
    EXPECT_FALSE(kept.metadata().contains("general.architecture"));
    EXPECT_TRUE(kept.tensors().empty());
    const Tokenizer tokenizer = load_tokenizer(files, "model.tsr");
    EXPECT_EQ(tokenizer.encode("a a?"), (std::vector<TokenId>{3, 3, 0}));
    EXPECT_EQ(tokenizer.eos(), std::vector<TokenId>{2});
}

TEST(TokenizerFiles, AModelWithoutTokenizerHasNone) {
    const test::TemporaryFolder folder("no_tokenizer");
    folder.write("config.json", "{}");
    EXPECT_TRUE(tokenizer_files(folder.path()).empty());
    EXPECT_TRUE(tokenizer_files(folder.write("m.gguf", test::GgufBuilder().u32("a.b", 1).build())).empty());
    try {
        load_tokenizer(std::vector<runtime::NamedFile>{}, "model.tsr");
        FAIL();
    } catch (const Error& error) {
        EXPECT_THAT(error.what(),
                    HasSubstr("model.tsr: has no tokenizer: the model that was compiled had none"));
    }
}

TEST(TokenizerFiles, DamageNamesTheFileInTheArtefact) {
    const std::vector<runtime::NamedFile> files = {{"tokenizer.json", "{"}};
    try {
        load_tokenizer(files, "model.tsr");
        FAIL();
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), ::testing::StartsWith("model.tsr/tokenizer.json@"));
    }
}

}  // namespace
}  // namespace tessera::llm
