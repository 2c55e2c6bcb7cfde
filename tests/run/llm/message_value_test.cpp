#include "run/llm/message_value.h"

#include <string>

#include <gtest/gtest.h>

#include "tessera/error.h"

namespace tessera::llm {
namespace {

jinja::Value field(const jinja::Value& value, const std::string& name) {
    for (const auto& [key, item] : value.dict()->items)
        if (key.text()->bytes() == name) return item;
    return {};
}

std::string message_problem(const std::string& fields) {
    try {
        message_value({.role = {}, .content = {}, .fields = fields});
    } catch (const Error& error) {
        return error.what();
    }
    return "is fine";
}

TEST(MessageValue, HasRoleAndContent) {
    const jinja::Value value = message_value({.role = "user", .content = "a<|b|>", .fields = {}});
    EXPECT_EQ(field(value, "role").text()->bytes(), "user");
    EXPECT_TRUE(field(value, "role").text()->foreign().empty());
    EXPECT_EQ(field(value, "content").text()->foreign().front().end, 6u);
    EXPECT_TRUE(field(value, "name").is_undefined());
}

/// All but the role of the message is foreign, `role` inside of other fields, too.
TEST(MessageValue, HasAllFieldsOfJson) {
    const jinja::Value value = message_value(
        {.role = {},
         .content = {},
         .fields =
             R"({"role": "tool", "content": null, "calls": [{"role": "x", "n": 1, "m": -2, "r": 0.5, "b": true}]})"});
    EXPECT_EQ(field(value, "role").text()->bytes(), "tool");
    EXPECT_TRUE(field(value, "role").text()->foreign().empty());
    EXPECT_TRUE(field(value, "content").is_none());
    const jinja::Value call = field(value, "calls").list()->items.front();
    EXPECT_EQ(field(call, "role").text()->foreign().size(), 1u);
    EXPECT_EQ(field(call, "n").integer(), 1);
    EXPECT_EQ(field(call, "m").integer(), -2);
    EXPECT_EQ(field(call, "r").real(), 0.5);
    EXPECT_TRUE(*field(call, "b").boolean());
}

TEST(MessageValue, RefusesWhatIsNoMessage) {
    EXPECT_EQ(message_problem("[1]"), "message: is no JSON object (write {\"role\": .., ..})");
    EXPECT_NE(message_problem("{\"content\": \"a\"}").find("`role`: is missing"), std::string::npos);
    EXPECT_NE(message_problem("{\"role\": 1}").find("`role`: is missing"), std::string::npos);
    EXPECT_NE(message_problem("{\"role\": \"a\", \"n\": 18446744073709551615}").find("64 bits"),
              std::string::npos);
    EXPECT_NE(message_problem("{").find("message"), std::string::npos);
    EXPECT_NE(message_problem(std::string(100, '[') + std::string(100, ']')).find("message"),
              std::string::npos);
}

}  // namespace
}  // namespace tessera::llm
