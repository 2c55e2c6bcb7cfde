#include "run/llm/conversation_file.h"

#include <gtest/gtest.h>

#include "support/error.h"

namespace tessera::llm {
namespace {

std::string error_of(std::string_view json) {
    try {
        (void)parse_conversation(json, "talk.json");
        return "no error";
    } catch (const Error& error) {
        return error.what();
    }
}

TEST(ConversationFile, IsReadAsItWasWritten) {
    const std::vector<ChatMessage> messages = {
        {"system", ""}, {"user", "a\n\"b\" <|im_end|>"}, {"assistant", "é"}};
    EXPECT_EQ(parse_conversation(print_conversation("m", messages), "talk.json"), messages);
    EXPECT_EQ(parse_conversation(print_conversation("m", {{"user", "\xff"}}), ""),
              (std::vector<ChatMessage>{{"user", "\xEF\xBF\xBD"}}));
}

TEST(ConversationFile, RolesAreThoseOfAConversation) {
    EXPECT_EQ(
        error_of(R"({"conversation_version": 1, "messages": [{"role": "<|im_start|>", "content": ""}]})"),
        "talk.json: `messages[0].role`: is \"<|im_start|>\", expected system, user, assistant or tool");
    EXPECT_EQ(error_of(R"({"conversation_version": 2, "messages": []})"),
              "talk.json: `conversation_version`: is 2, expected 1");
    EXPECT_EQ(error_of(R"({"conversation_version": 1})"), "talk.json: `messages`: is missing");
}

}  // namespace
}  // namespace tessera::llm
