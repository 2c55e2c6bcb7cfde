#include "run/llm/chat_template.h"

#include <algorithm>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "run/llm/fixtures.h"
#include "run/llm/load_tokenizer.h"
#include "support/error.h"
#include "support/temporary_folder.h"

namespace tessera::llm {
namespace {

constexpr const char* kTemplate =
    "{{ bos_token }}{% for m in messages %}<r>{{ m.role[0] }}{{ m.content | trim }}<e>{% endfor %}"
    "{% if add_generation_prompt %}<r>a{% endif %}";

/// A tokenizer of letters and brackets, with the special tokens <s> 100, <r> 101 and <e> 102.
std::string brackets_tokenizer() {
    nlohmann::ordered_json vocabulary;
    const std::string characters = "abcdefghijklmnopqrstuvwxyz<>";
    for (size_t i = 0; i < characters.size(); ++i) vocabulary[std::string(1, characters[i])] = i;
    nlohmann::ordered_json added = nlohmann::ordered_json::array();
    for (const auto& [id, content] : {std::pair{100, "<s>"}, {101, "<r>"}, {102, "<e>"}})
        added.push_back({{"id", id}, {"content", content}, {"special", true}, {"normalized", false}});
    const nlohmann::ordered_json all = {
        {"version", "1.0"},
        {"added_tokens", added},
        {"normalizer", nullptr},
        {"pre_tokenizer", nullptr},
        {"post_processor", nullptr},
        {"decoder", {{"type", "Fuse"}}},
        {"model", {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", nlohmann::ordered_json::array()}}}};
    return all.dump();
}

std::vector<runtime::NamedFile> files_with(const nlohmann::ordered_json& config) {
    return {{"tokenizer.json", brackets_tokenizer()}, {"tokenizer_config.json", config.dump()}};
}

nlohmann::ordered_json config_with(const nlohmann::ordered_json& chat_template) {
    return {{"bos_token", "<s>"}, {"eos_token", {{"content", "<e>"}}}, {"chat_template", chat_template}};
}

std::string shown(const std::vector<runtime::NamedFile>& files, const std::vector<ChatMessage>& messages) {
    const Tokenizer tokenizer = load_tokenizer(files, "m");
    const ChatTemplate chat(*read_chat_template(files, "m"));
    std::string text;
    for (const TokenId id : chat.encode(tokenizer, messages, {}))
        text += tokenizer.is_special(id) ? "[" + tokenizer.token_bytes(id) + "]" : tokenizer.token_bytes(id);
    return text;
}

TEST(ChatTemplate, SpecialTokensComeFromTheTemplateAlone) {
    EXPECT_EQ(shown(files_with(config_with(kTemplate)),
                    {{"user", "hi"}, {"assistant", "a<e>b"}, {"user", "<r>s <s>"}}),
              "[<s>][<r>]uhi[<e>][<r>]aa<e>b[<e>][<r>]u<r>s<s>[<e>][<r>]a");
    // Neither do both together spell one.
    EXPECT_EQ(shown(files_with(config_with("<{{ messages[0].content }}><e>")), {{"user", "e"}}), "<e>[<e>]");
}

TEST(ChatTemplate, TheNewerPlaceCounts) {
    const auto source = [](std::vector<runtime::NamedFile> files) { return read_chat_template(files, "m"); };
    EXPECT_FALSE(source({{"tokenizer.json", brackets_tokenizer()}}).has_value());
    EXPECT_FALSE(source(files_with({{"bos_token", "<s>"}})).has_value());
    std::vector<runtime::NamedFile> files = files_with(config_with("old"));
    EXPECT_EQ(source(files)->text, "old");
    EXPECT_EQ(source(files)->where, "m/tokenizer_config.json: chat_template");
    EXPECT_EQ(source(files)->special_tokens,
              (std::vector<std::pair<std::string, std::string>>{{"bos_token", "<s>"}, {"eos_token", "<e>"}}));
    files.push_back({"chat_template.json", R"({"chat_template": "newer"})"});
    EXPECT_EQ(source(files)->text, "newer");
    files.push_back({"chat_template.jinja", "newest"});
    EXPECT_EQ(source(files)->text, "newest");
    EXPECT_EQ(source(files)->where, "m/chat_template.jinja");
}

TEST(ChatTemplate, OfAGgufFile) {
    const test::TemporaryFolder folder("chat");
    test::GgufBuilder builder;
    builder.string("tokenizer.ggml.model", "gpt2")
        .string("tokenizer.ggml.pre", "gpt-2")
        .strings("tokenizer.ggml.tokens", {"a", "b", "<s>", "<r>", "<e>"})
        .numbers<int32_t>("tokenizer.ggml.token_type", 5, {1, 1, 3, 3, 3})
        .strings("tokenizer.ggml.merges", {})
        .u32("tokenizer.ggml.bos_token_id", 2)
        .u32("tokenizer.ggml.eos_token_id", 4)
        .u32("tokenizer.ggml.padding_token_id", 99);
    EXPECT_FALSE(read_chat_template(folder.write("none.gguf", builder.build())).has_value());
    builder.string("tokenizer.chat_template",
                   "{{ bos_token }}{{ messages[0].content }}{{ eos_token }}{{ pad_token }}");
    const std::filesystem::path model = folder.write("model.gguf", builder.build());
    const auto source = read_chat_template(model);
    ASSERT_TRUE(source.has_value());
    EXPECT_EQ(source->where, model.string() + ": tokenizer.chat_template");
    EXPECT_EQ(source->special_tokens,
              (std::vector<std::pair<std::string, std::string>>{{"bos_token", "<s>"}, {"eos_token", "<e>"}}));
    const std::vector<ChatMessage> messages = {{"user", "a<e>"}};
    const Tokenizer tokenizer = load_tokenizer(model);
    const std::vector<TokenId> ids = ChatTemplate(*source).encode(tokenizer, messages, {});
    EXPECT_EQ(ids.front(), 2);
    EXPECT_EQ(std::count(ids.begin(), ids.end(), 4), 1);
    EXPECT_EQ(ids.back(), 4);
    // An artefact carries the template with the tokenizer.
    const auto files = tokenizer_files(model);
    EXPECT_EQ(read_chat_template(files, "m")->text, source->text);
    EXPECT_EQ(read_chat_template(files, "m")->special_tokens, source->special_tokens);
}

TEST(ChatTemplate, OfAListTheDefaultCounts) {
    const nlohmann::ordered_json list = {{{"name", "tool_use"}, {"template", "t"}},
                                         {{"name", "default"}, {"template", "d"}}};
    EXPECT_EQ(read_chat_template(files_with(config_with(list)), "m")->text, "d");
    try {
        (void)read_chat_template(files_with(config_with({{{"name", "rag"}, {"template", "t"}}})), "m");
        ADD_FAILURE();
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(),
                     "m/tokenizer_config.json: `chat_template`: has no template with the name default "
                     "(write the one to use into chat_template.jinja)");
    }
}

TEST(ChatTemplate, AFaultNamesFileRowAndColumn) {
    try {
        (void)ChatTemplate(*read_chat_template(files_with(config_with("a\n{{ b | unknown }}")), "m"));
        ADD_FAILURE();
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(),
                     "m/tokenizer_config.json: chat_template:2:8: there is no filter `unknown`");
    }
}

TEST(ChatTemplate, AFaultIsARemarkForWhoeverCompiles) {
    const TemporaryFolder folder;
    const auto write = [&](const char* name, const std::string& text) {
        std::ofstream(folder.path() / name) << text;
    };
    write("tokenizer.json", brackets_tokenizer());
    EXPECT_FALSE(inspect_tokenizer(folder.path()).has_chat_template);
    write("chat_template.jinja", "{% if %}");
    const ModelTokenizer found = inspect_tokenizer(folder.path());
    EXPECT_TRUE(found.has_chat_template);
    EXPECT_EQ(found.problem, "");
    EXPECT_EQ(found.chat_problem,
              "the chat template cannot be used, so that texts are continued only: "
              "chat_template.jinja:1:7: expected an expression, found \"%}\"");
    write("chat_template.jinja", "{{ messages[0].content }}");
    EXPECT_EQ(inspect_tokenizer(folder.path()).chat_problem, "");
    EXPECT_EQ(inspect_tokenizer(folder.path()).files.size(), 2U);
}

TEST(ChatTemplate, FindsTheTokenThatEndsATurn) {
    const auto files = files_with(config_with(kTemplate));
    const Tokenizer tokenizer = load_tokenizer(files, "m");
    EXPECT_EQ(ChatTemplate(*read_chat_template(files, "m")).turn_ends(tokenizer, {}),
              (std::vector<TokenId>{102}));
    for (const char* other : {"{{ messages[-1].content }}", "x", "{{ raise_exception('no') }}"})
        EXPECT_TRUE(ChatTemplate({other, "t", {}}).turn_ends(tokenizer, {}).empty()) << other;
    // The first one behind the answer, also where text is between, or where only another turn brings it.
    for (const char* other :
         {"{{ messages[1].content }}x<e>", "{{ messages[1].content }}<e><s>",
          "{% for m in messages %}<r>{{ m.content }}{% if not loop.last %}<e>{% endif %}{% endfor %}"})
        EXPECT_EQ(ChatTemplate({other, "t", {}}).turn_ends(tokenizer, {}), (std::vector<TokenId>{102}))
            << other;
    // Both where they differ.
    EXPECT_EQ(
        ChatTemplate({"{% for m in messages %}{{ m.content }}{{ '<e>' if loop.last else '<r>' }}{% endfor %}",
                      "t",
                      {}})
            .turn_ends(tokenizer, {}),
        (std::vector<TokenId>{101, 102}));
}

// As the tunes in ChatML that added tokens without the flag, and distills of DeepSeek-R1.
TEST(ChatTemplate, AddedTokensOfItsTextAreControlTokens) {
    std::string document = brackets_tokenizer();
    const std::string flagged = R"("special":true)";
    for (size_t at = 0; (at = document.find(flagged, at)) != std::string::npos;)
        document.replace(at, flagged.size(), R"("special":false)");
    const std::vector<runtime::NamedFile> files = {{"tokenizer.json", document}};
    const Tokenizer tokenizer = load_tokenizer(files, "m");
    const auto ids = [&](ChatTemplateSource source, const std::string& content) {
        return ChatTemplate(std::move(source)).encode(tokenizer, {{{"user", content}}}, {});
    };
    using Ids = std::vector<TokenId>;
    const std::string own = "<r>{{ messages[0].content }}{{ '<e>' }}";
    EXPECT_EQ(ids({own, "t", {}}, "a<e>"), (Ids{101, 0, 26, 4, 27, 102}));
    EXPECT_EQ(ids({own, "t", {}}, "a<s>"), (Ids{101, 0, 100, 102})) << "is no token of the template";
    EXPECT_EQ(ids({own, "t", {}, {{"<s>"}}}, "<e><s>"), (Ids{101, 102, 26, 18, 27, 102})) << "a list counts";
    EXPECT_EQ(ChatTemplate({own, "t", {}}).turn_ends(tokenizer, {}), Ids{}) << "has no answer";
    EXPECT_EQ(ChatTemplate({"{% for m in messages %}{{ m.content }}<e>{% endfor %}", "t", {}})
                  .turn_ends(tokenizer, {}),
              Ids{102});
}

TEST(ChatTemplate, TokensWithRolesComeFromBothFiles) {
    const auto tokens = [](const char* config, const char* map) {
        std::vector<runtime::NamedFile> files = {{"tokenizer.json", brackets_tokenizer()},
                                                 {"tokenizer_config.json", config},
                                                 {"chat_template.jinja", "x"}};
        if (map != nullptr) files.push_back({"special_tokens_map.json", map});
        return read_chat_template(files, "m")->special_tokens;
    };
    using Named = std::vector<std::pair<std::string, std::string>>;
    EXPECT_EQ(tokens(R"({"bos_token": "<s>"})", R"({"bos_token": "<r>", "eos_token": {"content": "<e>"}})"),
              (Named{{"bos_token", "<r>"}, {"eos_token", "<e>"}}));
    EXPECT_EQ(tokens(R"({"bos_token": "<s>", "added_tokens_decoder": {}})", R"({"bos_token": "<r>"})"),
              (Named{{"bos_token", "<s>"}}))
        << "the map is older than the decoder";
    EXPECT_EQ(
        tokens(R"({"image_token": "<r>", "add_bos_token": true, "extra_special_tokens": {"x_token": "<e>"}})",
               nullptr),
        (Named{{"image_token", "<r>"}, {"x_token", "<e>"}}));
}

TEST(ChatTemplate, CanSwitchThinkingOffAndHasAClock) {
    const ChatTemplate chat(
        {"{{ enable_thinking is defined }}{{ tools is none }}{{ strftime_now('%Y') }}", "t", {}});
    ChatSettings settings;
    settings.now = [] {
        std::tm time{};
        time.tm_year = 70;
        return time;
    };
    EXPECT_EQ(chat.render({}, settings).bytes(), "FalseTrue1970");
    settings.thinks = false;
    EXPECT_EQ(chat.render({}, settings).bytes(), "TrueTrue1970");
}

}  // namespace
}  // namespace tessera::llm
