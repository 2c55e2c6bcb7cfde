// Every verb that computes names the parts of a checkpoint that the model does not compute, and `check` and
// `compile` agree on whether a model can be compiled.

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "cli/toy_bench.h"
#include "import/random_checkpoint.h"

namespace tessera {
namespace {

using Json = nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class CheckpointFindings : public ToyBench {
protected:
    void SetUp() override {
        decoder_.layers = 1;
        decoder_.fill(1);
        std::filesystem::create_directories(folder_.path() / "model");
        write_config();
        write_weights();
        write("model/tokenizer.json", letters_tokenizer());
        write("ids.json", "[1, 7, 3]");
    }
    /// The models differ in settings and weights: one cache lets them share the C++ compiler's output.
    ProcessResult tessera(std::vector<std::string> arguments) const {
        static const TemporaryFolder cache;
        arguments.insert(arguments.begin(), {"-C", folder_.path().string(), "TESSERA_SEARCH_EFFORT=0",
                                             "XDG_CACHE_HOME=" + cache.path().string(), TESSERA_PROGRAM});
        return run_process({.program = "/usr/bin/env", .arguments = std::move(arguments)});
    }
    void write_config(const Json& patch = Json::object()) const {
        Json config = testing::config_of(decoder_);
        config.merge_patch(patch);
        write("model/config.json", config.dump());
    }
    void write_weights() const {
        write("model/model.safetensors", testing::safetensors_of(decoder_.tensors));
    }
    void write_gguf(std::function<void(test::GgufBuilder&)> add) const {
        testing::write_gguf(decoder_, folder_.path() / "model.gguf", {.without = {}, .add = std::move(add)});
    }

    /// Both exit codes; the output of `check`.
    std::string expect_agreement(const std::string& model, bool is_supported) const {
        const ProcessResult check = tessera({"check", model});
        const ProcessResult compile = tessera({"compile", model, "-o", "out.tsr"});
        EXPECT_EQ(check.exit_code, is_supported ? 0 : 1) << check.output << check.errors;
        EXPECT_EQ(compile.exit_code, is_supported ? 0 : 1) << compile.errors;
        return check.output + check.errors + compile.errors;
    }

    testing::RandomDecoder decoder_;
};

TEST_F(CheckpointFindings, EveryVerbThatComputesWarns) {
    write_config({{"tie_word_embeddings", true}, {"eos_token_id", 99}, {"an_invention", 1}});
    const auto warns = [](const ProcessResult& result) {
        EXPECT_EQ(result.exit_code, 0) << result.output << result.errors;
        for (const char* what : {"lm_head.weight differs from", "eos_token_id = 99", "an_invention = 1"})
            EXPECT_THAT(result.errors, HasSubstr(what));
        EXPECT_THAT(result.errors, HasSubstr("warning: "));
    };
    warns(tessera({"compile", "model", "-o", "out.tsr"}));
    warns(tessera({"compile", "model", "-o", "out.tsr", "--quiet"}));
    for (const char* model : {"model", "out.tsr"}) {
        for (int use = 0; use < 2; ++use)  // the second time the cache has it
            warns(tessera({"logits", model, "--ids", "ids.json", "--out", "logits.bin"}));
        warns(tessera({"verify", model, "--ids", "ids.json", "--logits", "logits.bin"}));
        warns(tessera({"run", model, "-p", "abc", "-n", "2"}));
        warns(tessera({"bench", model, "--prefill", "4", "--decode", "2", "--repeat", "1"}));
    }
    warns(tessera({"retarget", "out.tsr", "-o", "again.tsr"}));
    EXPECT_THAT(tessera({"inspect", "again.tsr"}).output, HasSubstr("warning     lm_head.weight differs"));
    EXPECT_THAT(tessera({"check", "model"}).output, HasSubstr("warning       lm_head.weight differs"));
}

TEST_F(CheckpointFindings, WithoutAnythingToSayNothingIsSaid) {
    EXPECT_THAT(expect_agreement("model", true), Not(HasSubstr("warning")));
}

TEST_F(CheckpointFindings, CheckAndCompileAgree) {
    write_config({{"is_causal", false}, {"hidden_act", "mish"}});
    EXPECT_THAT(expect_agreement("model", false),
                AllOf(HasSubstr("is_causal = false"), HasSubstr("hidden_act = \"mish\"")));
    write_config({{"num_key_value_heads", {2, 2, 1}}, {"num_hidden_layers", 3}});
    EXPECT_THAT(expect_agreement("model", false), HasSubstr("num_key_value_heads = [2,2,1]"));
    write_config({{"eos_token_id", {-1, 4294967295u}}});
    EXPECT_THAT(expect_agreement("model", true), HasSubstr("eos_token_id = -1"));

    decoder_.tensors.erase("lm_head.weight");
    write_config();
    write_weights();
    EXPECT_THAT(expect_agreement("model", false), HasSubstr("lm_head.weight is missing"));
    decoder_.fill(1);
    decoder_.tensors["model.layers.0.self_attn.k_proj.bias"] = {.shape = {12},
                                                                .values = std::vector<float>(12)};
    write_weights();
    EXPECT_THAT(expect_agreement("model", false), HasSubstr("k_proj.bias"));
}

TEST_F(CheckpointFindings, CheckImportsWhatCompileImports) {
    decoder_.tensors["rope_freqs.weight"] = {.shape = {3}, .values = {1, -1, 1}};
    write_gguf({});
    EXPECT_THAT(expect_agreement("model.gguf", false), HasSubstr("element 1 is -1, expected a positive"));
}

TEST_F(CheckpointFindings, OfGgufFiles) {
    write_gguf([](test::GgufBuilder& b) { b.u32("tokenizer.ggml.eos_token_id", 0xffffffff); });
    EXPECT_THAT(expect_agreement("model.gguf", true), HasSubstr("eos_token_id = 4294967295"));
    write_gguf([](test::GgufBuilder& b) { b.boolean("llama.attention.causal", false); });
    EXPECT_THAT(expect_agreement("model.gguf", false), HasSubstr("llama.attention.causal = false"));
    testing::write_split_gguf(decoder_, folder_.path(), "model");
    for (const char* part : {"model-00001-of-00002.gguf", "model-00002-of-00002.gguf"})
        EXPECT_THAT(expect_agreement(part, true), HasSubstr("2 files"));
    std::filesystem::remove(folder_.path() / "model-00002-of-00002.gguf");
    EXPECT_THAT(expect_agreement("model-00001-of-00002.gguf", false),
                HasSubstr("model-00002-of-00002.gguf: is missing"));
}

TEST_F(CheckpointFindings, ATokenizerThatCannotBeUsedLeavesTheIds) {
    write("model/tokenizer.json", R"({"model": {"type": "Characters", "vocab": {}}})");
    EXPECT_THAT(expect_agreement("model", true),
                AllOf(HasSubstr("the tokenizer cannot be used"), HasSubstr("Characters")));
    const ProcessResult logits = tessera({"logits", "model", "--ids", "ids.json", "--out", "logits.bin"});
    EXPECT_EQ(logits.exit_code, 0);
    EXPECT_THAT(logits.errors, HasSubstr("the tokenizer cannot be used"));
}

TEST_F(CheckpointFindings, PointersAndPagesAreNamed) {
    const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 9\n";
    write("pointer.gguf", pointer);
    EXPECT_THAT(expect_agreement("pointer.gguf", false),
                AllOf(HasSubstr("pointer.gguf: is a pointer of git-lfs"), HasSubstr("git lfs pull")));
    EXPECT_THAT(tessera({"run", "pointer.gguf", "-p", "a"}).errors, HasSubstr("is a pointer of git-lfs"));
    EXPECT_THAT(tessera({"tokenize", "pointer.gguf", "a"}).errors, HasSubstr("is a pointer of git-lfs"));
    write("model/model.safetensors", pointer);
    EXPECT_THAT(expect_agreement("model", false), HasSubstr("model.safetensors: is a pointer of git-lfs"));
    write_weights();
    write("model/tokenizer.json", pointer);
    EXPECT_THAT(expect_agreement("model", false), HasSubstr("tokenizer.json: is a pointer of git-lfs"));
    write("model/tokenizer.json", letters_tokenizer());
    write("model/config.json", "<!DOCTYPE html><html><body>Sign in</body></html>");
    EXPECT_THAT(expect_agreement("model", false), HasSubstr("config.json: is a page of a web site"));
    write("model/config.json", "");
    EXPECT_THAT(expect_agreement("model", false), HasSubstr("config.json: is empty"));
}

TEST_F(CheckpointFindings, APromptIsNeverEnded) {
    Json tokenizer = Json::parse(letters_tokenizer());
    tokenizer["post_processor"] = {
        {"type", "TemplateProcessing"},
        {"single",
         {{{"SpecialToken", {{"id", "b"}, {"type_id", 0}}}},
          {{"Sequence", {{"id", "A"}, {"type_id", 0}}}},
          {{"SpecialToken", {{"id", "c"}, {"type_id", 0}}}}}},
        {"special_tokens", {{"b", {{"id", "b"}, {"ids", {1}}}}, {"c", {{"id", "c"}, {"ids", {2}}}}}}};
    write("model/tokenizer.json", tokenizer.dump());
    ASSERT_EQ(tessera({"compile", "model", "-o", "out.tsr"}).exit_code, 0);
    write("ids.json", "[1, 3, 4]");  // b in front of "de", no c behind
    for (const char* model : {"model", "out.tsr"}) {
        const ProcessResult text = tessera({"run", model, "-p", "de", "-n", "4"});
        ASSERT_EQ(text.exit_code, 0) << text.errors;
        EXPECT_EQ(text.output, tessera({"run", model, "--ids", "ids.json", "-n", "4"}).output);
    }
}

}  // namespace
}  // namespace tessera
