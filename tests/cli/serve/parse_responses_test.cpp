#include "cli/serve/parse_responses.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera::serve {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ApiError responses_refusal(const std::string& fields) {
    try {
        (void)parse_responses(R"({"input": "a", )" + fields + "}");
    } catch (const ApiError& error) {
        return error;
    }
    ADD_FAILURE() << "accepted " << fields;
    return {};
}

TEST(ParseResponses, DefaultsAreThoseOfOpenAi) {
    const ResponsesRequest request = parse_responses(R"({"model": "m", "input": "Hello"})");
    EXPECT_THAT(request.chat.messages, ElementsAre(ChatMessage{"user", "Hello"}));
    const TextRequest& text = request.chat.text;
    EXPECT_FALSE(text.max_tokens || text.grammar || text.likeliest || text.streams || text.seed);
    EXPECT_EQ(text.sampling.temperature, 1);
    EXPECT_EQ(request.echo["temperature"], 1);
    EXPECT_EQ(request.echo["text"]["format"]["type"], "text");
    EXPECT_EQ(request.echo["store"], false);
}

TEST(ParseResponses, ItemsOfAConversation) {
    const ResponsesRequest request = parse_responses(R"({"instructions": "Be brief.", "input": [
        {"role": "user", "content": "a"},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": null},
        {"type": "message", "id": "msg_1", "status": "completed", "role": "assistant",
         "content": [{"type": "output_text", "text": "b", "annotations": [], "logprobs": []}]},
        {"role": "developer", "content": [{"type": "input_text", "text": "c"}, {"type": "input_text", "text": "d"}]}]})");
    EXPECT_THAT(request.chat.messages,
                ElementsAre(ChatMessage{"system", "Be brief."}, ChatMessage{"user", "a"},
                            ChatMessage{"assistant", "b"}, ChatMessage{"system", "cd"}));
    EXPECT_EQ(request.echo["instructions"], "Be brief.");
}

TEST(ParseResponses, ToolsAndCalls) {
    const ResponsesRequest request = parse_responses(R"({"input": [{"role": "user", "content": "a"},
        {"type": "message", "role": "assistant", "content": "b"},
        {"type": "function_call", "id": "fc_1", "call_id": "1", "name": "f", "arguments": "{\"z\": 1}", "status": "completed"},
        {"type": "function_call", "call_id": "2", "name": "g", "arguments": ""},
        {"type": "function_call_output", "call_id": "1", "output": "c"},
        {"type": "function_call_output", "call_id": "2", "output": [{"type": "input_text", "text": "d"}]}],
        "tools": [{"type": "function", "name": "f", "strict": true, "parameters": {"type": "object"}},
                  {"type": "function", "name": "g"}],
        "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "g"}]},
        "parallel_tool_calls": false})");
    const ChatRequest& chat = request.chat;
    EXPECT_THAT(chat.tools, ElementsAre(Tool{"f", "", R"({"type":"object"})"}, Tool{"g"}));
    EXPECT_THAT(chat.tool_choice.allowed, ElementsAre("g"));
    EXPECT_FALSE(chat.tool_choice.is_parallel);
    ASSERT_EQ(chat.messages.size(), 4U);
    EXPECT_EQ(chat.messages[1].content, "b");
    EXPECT_THAT(chat.messages[1].tool_calls,
                ElementsAre(ToolCall{"1", "f", R"({"z": 1})"}, ToolCall{"2", "g", "{}"}));
    EXPECT_EQ(chat.messages[3].role, "tool");
    EXPECT_EQ(chat.messages[3].content, "d");
    EXPECT_EQ(chat.messages[3].tool_call_id, "2");
    EXPECT_EQ(request.echo["tools"][0]["name"], "f");
    EXPECT_EQ(request.echo["tool_choice"]["type"], "allowed_tools");
    EXPECT_EQ(responses_refusal(R"("tool_choice": "required")").param, "tool_choice");
}

TEST(ParseResponses, EveryFieldThatIsCarriedOut) {
    const ResponsesRequest request =
        parse_responses(R"({"input": "a", "max_output_tokens": 20.0, "temperature": 0.5,
        "top_p": 0.25, "stream": true, "include": ["message.output_text.logprobs"], "top_logprobs": 3, "seed": 4,
        "text": {"verbosity": "low", "format": {"type": "json_schema", "name": "n", "strict": true, "schema":
            {"type": "object", "properties": {"z": {"type": "integer"}, "a": {"const": 1}}, "required": ["z", "a"],
             "additionalProperties": false}}}})");
    const TextRequest& text = request.chat.text;
    EXPECT_EQ(text.max_tokens, 20);
    EXPECT_EQ(text.sampling.temperature, 0.5);
    EXPECT_EQ(text.sampling.top_p, 0.25);
    EXPECT_EQ(text.likeliest, 3);
    EXPECT_EQ(text.seed, 4U);
    EXPECT_TRUE(text.streams);
    EXPECT_TRUE(text.grammar->accepts(R"({"z": 1, "a": 1})"));
    EXPECT_FALSE(text.grammar->accepts(R"({"a": 1, "z": 1})"));
    EXPECT_EQ(request.echo["text"]["format"]["schema"]["required"][0], "z");
    EXPECT_EQ(request.echo["max_output_tokens"], 20.0);
}

TEST(ParseResponses, WhatOrdinaryClientsSendIsAccepted) {
    for (
        const char* fields :
        {R"("store": true, "background": false, "previous_response_id": null, "conversation": null)",
         R"("metadata": {"a": "b"}, "user": "u", "service_tier": "auto", "safety_identifier": "s")",
         R"("reasoning": {"effort": "low", "summary": "auto"}, "truncation": "disabled", "tools": [])",
         R"("include": ["reasoning.encrypted_content"], "tool_choice": "auto", "parallel_tool_calls": true)",
         R"("text": {"format": {"type": "text"}}, "max_tool_calls": null, "prompt_cache_key": "k", "prompt": null)",
         R"("stream_options": {"include_obfuscation": false}, "a_field_of_tomorrow": null)"})
        EXPECT_EQ(parse_responses(R"({"input": "a", )" + std::string(fields) + "}").chat.messages.size(), 1U);
}

TEST(ParseResponses, WhatTheServerDoesNotHaveIsRefusedByName) {
    const auto expect = [](const ApiError& error, const std::string& param, const std::string& message) {
        EXPECT_EQ(error.status, 400);
        EXPECT_EQ(error.param, param) << error.message;
        EXPECT_THAT(error.message, HasSubstr(message));
    };
    expect(responses_refusal(R"("previous_response_id": "resp_1")"), "previous_response_id",
           "keeps no answers");
    expect(responses_refusal(R"("conversation": "conv_1")"), "conversation", "keeps no answers");
    expect(responses_refusal(R"("background": true)"), "background", "keeps no answers");
    expect(responses_refusal(R"("prompt": {"id": "p"})"), "prompt", "keeps no prompts");
    expect(responses_refusal(R"("truncation": "auto")"), "truncation", "not cut");
    expect(responses_refusal(R"("tools": [{"type": "web_search"}])"), "tools[0].type", "expected function");
    expect(responses_refusal(R"("max_output_tokens": 0)"), "max_output_tokens", "expected");
    expect(responses_refusal(R"("max_tokens": 5)"), "max_tokens", "unknown field");
    expect(responses_refusal(R"("text": {"format": {"type": "xml"}})"), "text.format.type", "json_schema");
    const auto item = [](const std::string& one) {
        try {
            (void)parse_responses(R"({"input": [)" + one + "]}");
        } catch (const ApiError& error) {
            return error;
        }
        return ApiError{};
    };
    expect(item(R"({"type": "item_reference", "id": "i"})"), "input[0].type", "keeps no items");
    expect(item(R"({"type": "web_search_call", "id": "i"})"), "input[0].type", "only messages");
    expect(item(R"({"role": "user", "content": [{"type": "input_image"}]})"), "input[0].content[0].type",
           "text alone");
    expect(item(R"({"role": "robot", "content": "a"})"), "input[0].role", "expected system");
    expect(item(""), "input", "is empty");
}

}  // namespace
}  // namespace tessera::serve
