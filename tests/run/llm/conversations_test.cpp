// Prompts of conversations that spell control tokens, and texts with `legacy`, beside those of
// `transformers`: tests/run/llm/data/make_conversations.py.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "run/llm/chat_template.h"
#include "run/llm/fixtures.h"
#include "run/llm/load_tokenizer.h"

namespace tessera::llm {
namespace {

TEST(Conversations, HaveTheIdsOfTransformers) {
    const nlohmann::json all = test::read_json(test::fixtures() / "conversations.json");
    const ChatTemplate chat(
        {.text = all.at("template"), .where = "template", .special_tokens = {{"bos_token", "<|bos|>"}}});
    for (const auto& group : all.at("groups")) {
        const std::string name = group.at("tokenizer");
        nlohmann::json document = test::read_json(test::fixtures() / name / "tokenizer.json");
        TokenId id = group.at("first_added");
        for (nlohmann::json added : all.at("added")) {
            added["id"] = id++;
            added["normalized"] = false;
            document["added_tokens"].push_back(added);
        }
        const test::TemporaryFolder folder("conversations");
        const Tokenizer tokenizer = load_tokenizer(folder.write("tokenizer.json", document.dump()));
        for (const auto& item : group.at("cases")) {
            std::vector<ChatMessage> messages;
            for (const auto& content : item.at("messages"))
                messages.push_back({messages.size() % 2 == 0 ? "user" : "assistant", content});
            EXPECT_EQ(chat.encode(tokenizer, messages, {}), item.at("ids").get<std::vector<TokenId>>())
                << name << ": " << item;
        }
    }
}

TEST(SentencePiece, FollowsTheSettingLegacy) {
    for (const auto& group : test::read_json(test::fixtures() / "legacy.json")) {
        const std::string name = group.at("tokenizer");
        const test::TemporaryFolder folder("legacy");
        folder.write("tokenizer.model", test::read_file(test::fixtures() / name / "tokenizer.model"));
        folder.write("tokenizer_config.json", group.at("config").dump());
        const Tokenizer tokenizer = load_tokenizer(folder.path());
        for (const auto& item : group.at("cases"))
            EXPECT_EQ(tokenizer.encode(item.at("text").get<std::string>()),
                      item.at("ids").get<std::vector<TokenId>>())
                << name << ", legacy " << group.at("config").at("legacy") << ", prefix "
                << group.at("config").at("add_prefix_space") << ": " << item;
    }
}

}  // namespace
}  // namespace tessera::llm
