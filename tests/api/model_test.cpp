// The public library on a model that is known by heart. Nothing but its own headers is needed to use it.
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/toy_model.h"
#include "tessera/tessera.h"

namespace tessera {
namespace {

using ::testing::HasSubstr;

constexpr const char* kLetters =
    R"({"version": "1.0", "added_tokens": [], "normalizer": null, "pre_tokenizer": null, "post_processor": null,
 "decoder": null, "model": {"type": "BPE", "merges": [], "vocab": {"a": 0, "b": 1, "c": 2, "d": 3, "e": 4, "f": 5,
 "g": 6, "h": 7, "i": 8, "j": 9, "k": 10, "l": 11, "m": 12, "n": 13, "o": 14, "p": 15, "q": 16, "r": 17, "s": 18,
 "t": 19, "u": 20, "v": 21, "w": 22}}})";

class PublicModel : public ::testing::Test {
protected:
    Model open(const ModelSettings& settings = {}) const {
        const auto path = folder_.path() / "toy.tsr";
        toy_.write(path);
        return Model(path, settings);
    }
    std::vector<TokenId> greedy(std::vector<TokenId> tokens, size_t count) const {
        const auto prompt = static_cast<std::ptrdiff_t>(tokens.size());
        for (size_t i = 0; i < count; ++i) tokens.push_back(static_cast<TokenId>(toy_.answer(tokens)));
        return {tokens.begin() + prompt, tokens.end()};
    }

    runtime::ToyModel toy_;
    TemporaryFolder folder_;
    const std::vector<TokenId> prompt_ = {2, 0, 1};
};

TEST_F(PublicModel, SaysWhatItIs) {
    Model model = open({.context = 40});
    EXPECT_EQ(model.file().name(), "toy");
    EXPECT_EQ(model.file().vocabulary(), toy_.vocabulary);
    EXPECT_EQ(model.context(), 40);
    EXPECT_EQ(model.file().context(), toy_.context);
    EXPECT_THAT(model.file().describe_memory({.context = 40}), HasSubstr("x 40"));
    EXPECT_GT(model.memory_bytes(), 0);
    model.file().verify_weights();
    const Model moved = std::move(model);
    EXPECT_EQ(moved.file().name(), "toy");
}

TEST_F(PublicModel, LogitsOfEveryId) {
    const std::vector<TokenId> ids = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8};
    for (const int64_t chunk : {0, 1, 3, 5}) {
        Model model = open({.chunk = chunk});
        for (int repetition = 0; repetition < 2; ++repetition) {
            std::vector<float> found;
            model.logits(
                ids, [&](std::span<const float> row) { found.insert(found.end(), row.begin(), row.end()); });
            EXPECT_EQ(found, toy_.logits(ids)) << "chunk " << chunk;
        }
    }
}

TEST_F(PublicModel, IdsWithoutATokenizer) {
    Model model = open();
    std::vector<TokenId> told;
    const Generation result =
        model.generate(prompt_, {.max_tokens = 9, .on_token = [&](TokenId id) { told.push_back(id); }});
    EXPECT_EQ(result.ids, greedy(prompt_, 9));
    EXPECT_EQ(told, result.ids);
    EXPECT_EQ(result.reason, StopReason::kMaxTokens);
    try {
        (void)model.file().encode("cab");
        FAIL();
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("has no tokenizer"));
    }
    EXPECT_FALSE(model.file().has_tokenizer());
    EXPECT_THROW(model.generate(prompt_, {.on_text = [](std::string_view) {}}), Error);
    EXPECT_THROW(model.generate(prompt_, {.stop_strings = {"a"}}), Error);
}

TEST_F(PublicModel, TextWithATokenizer) {
    toy_.tokenizer = {{"tokenizer.json", kLetters}};
    Model model = open();
    EXPECT_TRUE(model.file().has_tokenizer());
    EXPECT_EQ(model.file().encode("cab"), prompt_);
    EXPECT_EQ(model.file().decode(prompt_), "cab");
    std::string told;
    const Generation result =
        model.generate("cab", {.max_tokens = 9, .on_text = [&](std::string_view text) { told += text; }});
    EXPECT_EQ(result.ids, greedy(prompt_, 9));
    EXPECT_EQ(told, model.file().decode(result.ids));
    EXPECT_EQ(result.text, told);
}

TEST_F(PublicModel, StopsWhereTheModelSaysAndWhereItIsTold) {
    const std::vector<TokenId> all = greedy(prompt_, 9);
    EXPECT_EQ(open().generate(prompt_, {.max_tokens = 9, .stop_ids = {all[3]}}).reason, StopReason::kStopId);
    toy_.eos = {all[2]};
    EXPECT_EQ(open().generate(prompt_, {.max_tokens = 9}).reason, StopReason::kStopId);
    EXPECT_EQ(open().generate(prompt_, {.max_tokens = 9, .past_end = true}).ids, all);
    EXPECT_EQ(open().generate(prompt_, {.should_stop = [] { return true; }}).reason,
              StopReason::kInterrupted);
}

// A fault leaves the model as it was: the memory of its only sequence is free again.
TEST_F(PublicModel, WorksOnAfterAFault) {
    Model model = open({.context = 8});
    const std::vector<TokenId> unknown = {99}, none, too_long(9, 1);
    EXPECT_THROW(model.logits(unknown, [](std::span<const float>) {}), Error);
    EXPECT_THROW(model.logits(too_long, [](std::span<const float>) {}), Error);
    EXPECT_THROW(model.logits(none, [](std::span<const float>) {}), Error);
    EXPECT_THROW(model.generate(none), Error);
    EXPECT_EQ(model.generate(prompt_, {.max_tokens = 4}).ids, greedy(prompt_, 4));
}

TEST(PublicCompile, RefusesWhatIsNotThere) {
    const TemporaryFolder folder;
    const CompileSettings settings{.include_directory = TESSERA_SOURCE_DIR "/include",
                                   .cache_directory = folder.path() / "cache"};
    EXPECT_THROW(compile(folder.path() / "model", folder.path() / "out.tsr", settings), Error);
    EXPECT_THROW(retarget(folder.path() / "model.tsr", folder.path() / "out.tsr", settings), Error);
    CompileSettings other = settings;
    other.context = 16;
    try {
        retarget(folder.path() / "model.tsr", folder.path() / "out.tsr", other);
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.kind, ErrorKind::kUsage);
    }
}

TEST(PublicCompile, AProgramTakesNoSettingsOfModels) {
    const TemporaryFolder folder;
    CompileSettings settings{.include_directory = TESSERA_SOURCE_DIR "/include",
                             .cache_directory = folder.path() / "cache"};
    const auto problem = [&] {
        try {
            compile_program(folder.path() / "a.ir", {}, folder.path() / "out.tsr", settings);
        } catch (const Error& error) {
            return std::pair(error.kind, error.entity);
        }
        return std::pair(ErrorKind::kFailure, std::string("none"));
    };
    EXPECT_EQ(problem(), std::pair(ErrorKind::kFailure, std::string())) << "there is no such file";
    settings.quantize = "q8_0";
    EXPECT_EQ(problem(), std::pair(ErrorKind::kUsage, std::string("quantize")));
    settings.quantize = "";
    settings.context = 16;
    EXPECT_EQ(problem(), std::pair(ErrorKind::kUsage, std::string("context")));
}

}  // namespace
}  // namespace tessera
