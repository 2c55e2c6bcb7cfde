// The public library on a model that is known by heart. Nothing but its own headers is needed to use it.
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/runtime/toy_model.h"
#include "tessera/tessera.h"

namespace tessera {
namespace {

using ::testing::HasSubstr;

constexpr const char* kLetters =
    R"({"version": "1.0", "added_tokens": [], "normalizer": null, "pre_tokenizer": null, "post_processor": null,
 "decoder": {"type": "Fuse"}, "model": {"type": "BPE", "merges": [], "vocab": {"a": 0, "b": 1, "c": 2, "d": 3, "e": 4, "f": 5,
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

TEST_F(PublicModel, AConversationIsAPrompt) {
    toy_.tokenizer = {{"tokenizer.json", kLetters}};
    EXPECT_FALSE(open().file().has_chat_template());
    EXPECT_THROW((void)open().file().encode_chat({}), Error);
    toy_.tokenizer.push_back({"chat_template.jinja",
                              "{% for m in messages %}{{ m.role[0] }}{{ m.content }}{% endfor %}"
                              "{% if add_generation_prompt %}a{% endif %}"});
    const Model model = open();
    const std::vector<ChatMessage> messages = {{"system", "b"}, {"user", "cd"}};
    EXPECT_TRUE(model.file().has_chat_template());
    EXPECT_EQ(model.file().encode_chat(messages), (std::vector<TokenId>{18, 1, 20, 2, 3, 0}));
    EXPECT_EQ(model.file().encode_chat(messages, {.begins_answer = false}),
              (std::vector<TokenId>{18, 1, 20, 2, 3}));
    EXPECT_EQ(model.file().encode_chat(messages, {.chat_template = "{{ messages[1].content }}"}),
              (std::vector<TokenId>{2, 3}));
    EXPECT_TRUE(model.file().chat_ends().empty());
}

TEST_F(PublicModel, APrefixThatIsKnownIsNotComputedAgain) {
    Model model = open();
    const GenerateOptions how{.max_tokens = 4, .reuse_prefix = true};
    std::vector<TokenId> prompt = prompt_;
    int64_t known = 0;
    for (int turn = 0; turn < 4; ++turn) {
        const Generation result = model.generate(prompt, how);
        EXPECT_EQ(result.ids, greedy(prompt, 4));
        // A step of one token at the end of a prompt has code of its own, and is not used again.
        EXPECT_LE(result.statistics.reused_tokens, known);
        EXPECT_GE(result.statistics.reused_tokens, known - 1);
        EXPECT_EQ(result.statistics.prompt_tokens + result.statistics.reused_tokens,
                  static_cast<int64_t>(prompt.size()));
        known = static_cast<int64_t>(prompt.size());  // what was decoded is computed again
        prompt.insert(prompt.end(), result.ids.begin(), result.ids.end());
        prompt.insert(prompt.end(), {7, 8});
    }
    // The same prompt again, a shorter one, another one; the last id is always computed.
    const std::vector<TokenId> shorter(prompt.begin(), prompt.begin() + 5);
    (void)model.generate(prompt, how);
    Generation again = model.generate(prompt, how);
    EXPECT_LE(again.statistics.prompt_tokens, 2);
    EXPECT_EQ(again.ids, greedy(prompt, 4));
    again = model.generate(shorter, how);
    EXPECT_GE(again.statistics.reused_tokens, 3);
    EXPECT_EQ(again.ids, greedy(shorter, 4));
    again = model.generate(std::vector<TokenId>{5, 0}, how);
    EXPECT_EQ(again.statistics.reused_tokens, 0);
    EXPECT_EQ(again.ids, greedy({5, 0}, 4));
    // Calls without it, and logits, forget it; a fault as well.
    (void)model.generate(prompt_, {.max_tokens = 1});
    EXPECT_EQ(model.generate(std::vector<TokenId>{5, 0}, how).statistics.reused_tokens, 0);
    model.logits(prompt_, [](std::span<const float>) {});
    EXPECT_EQ(model.generate(std::vector<TokenId>{5, 0}, how).statistics.reused_tokens, 0);
    EXPECT_THROW((void)model.generate(std::vector<TokenId>{5, 99}, how), Error);
    EXPECT_EQ(model.generate(std::vector<TokenId>{5, 0}, how).statistics.reused_tokens, 0);
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
