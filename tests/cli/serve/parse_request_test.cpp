#include "cli/serve/parse_request.h"

#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera::serve {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <typename Parse>
ApiError refusal(Parse parse, const std::string& body) {
    try {
        (void)parse(body);
    } catch (const ApiError& error) {
        return error;
    }
    ADD_FAILURE() << "accepted " << body;
    return {};
}
CompletionRequest completion(const std::string& body) {
    return parse_completion(body);
}
ChatRequest chat(const std::string& body) {
    return parse_chat(body);
}
ApiError completion_refusal(const std::string& fields) {
    return refusal(completion, R"({"prompt": "a", )" + fields + "}");
}
ApiError chat_refusal(const std::string& fields) {
    return refusal(chat, R"({"messages": [{"role": "user", "content": "a"}], )" + fields + "}");
}

TEST(ParseRequest, DefaultsOfACompletion) {
    const CompletionRequest request = parse_completion(R"({"prompt": "Once"})");
    EXPECT_THAT(request.prompts, ElementsAre(Prompt("Once")));
    EXPECT_FALSE(request.echoes || request.text.streams || request.text.includes_usage);
    EXPECT_FALSE(request.text.max_tokens || request.text.seed || request.text.likeliest);
    EXPECT_EQ(request.text.sampling.temperature, 1);
    EXPECT_EQ(request.text.sampling.top_p, 1);
    EXPECT_TRUE(request.text.stop.empty());
}

TEST(ParseRequest, GrammarsAndSchemas) {
    const CompletionRequest rules = parse_completion(R"({"prompt": "a", "grammar": "root ::= [0-9]+"})");
    ASSERT_TRUE(rules.text.grammar);
    EXPECT_TRUE(rules.text.grammar->accepts("12"));
    EXPECT_FALSE(rules.text.grammar->accepts("x"));
    const std::string messages = R"({"messages": [{"role": "user", "content": "a"}], "response_format": )";
    const ChatRequest any = parse_chat(messages + R"({"type": "json_object"}})");
    EXPECT_TRUE(any.text.grammar->accepts("{\"a\": [1]}"));
    EXPECT_FALSE(any.text.grammar->accepts("[1]"));
    // Members keep the order of the request.
    const ChatRequest schema = parse_chat(messages + R"({"type": "json_schema", "json_schema": {"name": "n",
        "strict": true, "schema": {"type": "object", "properties": {"z": {"type": "integer"}, "a": {"const": null}},
        "required": ["z", "a"], "additionalProperties": false}}}})");
    EXPECT_TRUE(schema.text.grammar->accepts(R"({"z": 1, "a": null})"));
    EXPECT_FALSE(schema.text.grammar->accepts(R"({"a": null, "z": 1})"));
    EXPECT_FALSE(parse_chat(messages + R"({"type": "text"}})").text.grammar);
    EXPECT_TRUE(
        parse_chat(messages + R"({"type": "json_schema", "json_schema": {"name": "n", "schema": null}}})")
            .text.grammar->accepts("{}"));
    // As clients of llama.cpp write it.
    const ChatRequest other = parse_chat(messages + R"({"type": "json_object", "schema": {"type": "object",
        "properties": {"z": {"type": "integer"}, "a": {"const": null}}, "required": ["z", "a"],
        "additionalProperties": false}}})");
    EXPECT_TRUE(other.text.grammar->accepts(R"({"z": 1, "a": null})"));
    EXPECT_FALSE(other.text.grammar->accepts(R"({"a": null, "z": 1})"));
    const CompletionRequest alone =
        parse_completion(R"({"prompt": "a", "json_schema": {"type": "integer", "maximum": 3}})");
    EXPECT_TRUE(alone.text.grammar->accepts("2"));
    EXPECT_FALSE(alone.text.grammar->accepts("4"));
}

TEST(ParseRequest, GrammarsThatAreWrong) {
    const auto expect = [](const ApiError& error, const std::string& param, const std::string& message) {
        EXPECT_EQ(error.status, 400);
        EXPECT_EQ(error.param, param);
        EXPECT_THAT(error.message, HasSubstr(message));
    };
    expect(chat_refusal(R"("grammar": "root ::= (")"), "grammar", "grammar:1:11: expected `)`");
    expect(chat_refusal(R"("grammar": "root ::= \"a\"", "response_format": {"type": "json_object"})"),
           "grammar", "send one of them");
    expect(chat_refusal(R"("response_format": {"type": "xml"})"), "response_format.type",
           "json_object or json_schema");
    expect(chat_refusal(R"("response_format": {"type": "json_schema", "json_schema": {"schema": {"properties":
               {"d": {"format": "phone"}}}}})"),
           "response_format.json_schema.schema",
           "`properties.d.format`: the format \"phone\" is not supported");
    expect(
        chat_refusal(R"("response_format": {"type": "json_schema", "json_schema": {"schema": {}, "x": 1}})"),
        "response_format.json_schema.x", "unknown field");
}

TEST(ParseRequest, EveryFieldOfACompletion) {
    const CompletionRequest request = parse_completion(R"({
        "model": "m", "prompt": [[1, 2], "b"], "max_tokens": 7, "temperature": 0.5, "top_p": 0, "top_k": 4,
        "min_p": 0.1, "typical_p": 0.9, "frequency_penalty": 1, "presence_penalty": -1, "seed": -3,
        "repetition_penalty": 1.5, "logit_bias": {"5": -100}, "stop": ["x", "yz"], "stream": true,
        "stream_options": {"include_usage": true}, "echo": true, "logprobs": 2, "n": 1, "best_of": 1,
        "user": "u", "suffix": null, "tools": [], "response_format": {"type": "text"}})");
    EXPECT_THAT(request.prompts, ElementsAre(Prompt(std::vector<TokenId>{1, 2}), Prompt("b")));
    EXPECT_TRUE(request.echoes && request.text.streams && request.text.includes_usage);
    EXPECT_EQ(request.text.max_tokens, 7);
    EXPECT_EQ(request.text.seed, static_cast<uint64_t>(-3));
    EXPECT_EQ(request.text.likeliest, 2);
    EXPECT_THAT(request.text.stop, ElementsAre("x", "yz"));
    const SamplingOptions& sampling = request.text.sampling;
    EXPECT_EQ(sampling.temperature, 0.5);
    EXPECT_EQ(sampling.top_p, std::numeric_limits<double>::min());
    EXPECT_EQ(sampling.top_k, 4);
    EXPECT_EQ(sampling.min_p, 0.1);
    EXPECT_EQ(sampling.typical_p, 0.9);
    EXPECT_EQ(sampling.frequency_penalty, 1);
    EXPECT_EQ(sampling.presence_penalty, -1);
    EXPECT_EQ(sampling.repetition_penalty, 1.5);
    EXPECT_THAT(sampling.logit_bias, ElementsAre(std::pair<TokenId, double>(5, -100)));
}

TEST(ParseRequest, Chats) {
    const ChatRequest request = parse_chat(R"({
        "messages": [{"role": "developer", "content": "Be brief."},
                     {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
                     {"role": "assistant", "content": "c", "tool_calls": null}],
        "max_completion_tokens": 3, "logprobs": true, "top_logprobs": 4, "tool_choice": "auto",
        "chat_template_kwargs": {"enable_thinking": false}})");
    EXPECT_THAT(request.messages, ElementsAre(ChatMessage{"system", "Be brief."}, ChatMessage{"user", "ab"},
                                              ChatMessage{"assistant", "c"}));
    EXPECT_EQ(request.text.max_tokens, 3);
    EXPECT_EQ(request.text.likeliest, 4);
    EXPECT_EQ(request.thinks, false);
    EXPECT_EQ(
        parse_chat(R"({"messages": [{"role": "user", "content": ""}], "logprobs": true})").text.likeliest, 0);
}

TEST(ParseRequest, Tools) {
    const ChatRequest request = parse_chat(R"({
        "messages": [{"role": "user", "content": "a"},
                     {"role": "assistant", "content": null, "tool_calls": [{"id": "i", "type": "function",
                      "function": {"name": "f", "arguments": ""}}]},
                     {"role": "tool", "tool_call_id": "i", "content": [{"type": "text", "text": "r"}]}],
        "tools": [{"type": "function", "function": {"name": "f", "description": "d", "strict": true,
                   "parameters": {"type": "object", "properties": {"z": {}, "a": {}}}}},
                  {"type": "function", "function": {"name": "g", "parameters": null}}],
        "parallel_tool_calls": false})");
    // Members keep the order of the request.
    EXPECT_THAT(request.tools,
                ElementsAre(Tool{"f", "d", R"({"type":"object","properties":{"z":{},"a":{}}})"}, Tool{"g"}));
    EXPECT_EQ(request.tool_choice.use, ToolChoice::Use::kAuto);
    EXPECT_FALSE(request.tool_choice.is_parallel);
    EXPECT_THAT(request.messages[1].tool_calls, ElementsAre(ToolCall{"i", "f", "{}"}));
    EXPECT_EQ(request.messages[2].tool_call_id, "i");
    EXPECT_EQ(request.messages[2].content, "r");
}

TEST(ParseRequest, ToolChoices) {
    const auto choice = [](const std::string& json) {
        return parse_chat(R"({"messages": [{"role": "user", "content": "a"}], "tools": [{"type": "function",
            "function": {"name": "f"}}], "tool_choice": )" +
                          json + "}")
            .tool_choice;
    };
    using Use = ToolChoice::Use;
    EXPECT_EQ(choice(R"("none")").use, Use::kNone);
    EXPECT_EQ(choice("null").use, Use::kAuto);
    EXPECT_EQ(choice(R"("required")").use, Use::kRequired);
    const ToolChoice named = choice(R"({"type": "function", "function": {"name": "f"}})");
    EXPECT_EQ(named.use, Use::kRequired);
    EXPECT_THAT(named.allowed, ElementsAre("f"));
    EXPECT_FALSE(named.is_parallel);
    const ToolChoice allowed = choice(R"({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools":
        [{"type": "function", "function": {"name": "f"}}]}})");
    EXPECT_EQ(allowed.use, Use::kAuto);
    EXPECT_THAT(allowed.allowed, ElementsAre("f"));
    EXPECT_TRUE(allowed.is_parallel);
}

TEST(ParseRequest, WhatTheServerDoesNotHaveIsRefusedByName) {
    const auto expect = [](const ApiError& error, const std::string& param, const std::string& message) {
        EXPECT_EQ(error.status, 400);
        EXPECT_EQ(error.code, "unsupported_parameter") << error.message;
        EXPECT_EQ(error.param, param);
        EXPECT_THAT(error.message, HasSubstr(message));
    };
    expect(chat_refusal(R"("tools": [{"type": "custom", "custom": {"name": "c"}}])"), "tools[0].type",
           "only functions are supported");
    expect(chat_refusal(R"("functions": [{"name": "f"}])"), "functions", "send tools");
    expect(chat_refusal(R"("function_call": {"name": "f"})"), "function_call", "send tool_choice");
    expect(completion_refusal(R"("tools": [{"type": "function", "function": {"name": "f"}}])"), "tools",
           "/v1/chat/completions");
    expect(chat_refusal(R"("modalities": ["text", "audio"])"), "modalities", "text alone");
    expect(completion_refusal(R"("n": 2, "best_of": 3)"), "best_of", "as large as n");
    expect(chat_refusal(R"("moderation": {"model": "m"})"), "moderation", "nothing judges texts");
    expect(completion_refusal(R"("suffix": "x")"), "suffix", "not supported");
    expect(refusal(chat, R"({"messages": [{"role": "function", "content": "x"}]})"), "messages[0].role",
           "the role tool");
    expect(refusal(chat, R"({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]})"),
           "messages[0].content[0].type", "text alone");
}

TEST(ParseRequest, WhatOrdinaryClientsSendIsAccepted) {
    for (const char* fields :
         {R"("reasoning_effort": "low")", R"("verbosity": "high")", R"("prediction": null)",
          R"("audio": null)", R"("web_search_options": null)", R"("a_field_of_tomorrow": null)",
          R"("top_logprobs": 0)", R"("logprobs": null, "top_logprobs": null)",
          R"("functions": [], "function_call": "none")",
          R"("prediction": {"type": "content", "content": "a guess"})", R"("n": 2.0, "stop": null)",
          R"("moderation": null, "prompt_cache_options": {"mode": "implicit"})",
          R"("modalities": ["text"], "logit_bias": {}, "stop": [], "seed": null, "max_tokens": null)",
          R"("response_format": null, "stream_options": null, "tools": null, "tool_choice": "auto")"})
        (void)parse_chat(R"({"messages": [{"role": "user", "content": "a"}], )" + std::string(fields) + "}");
    EXPECT_EQ(chat_refusal(R"("audio": {"voice": "x"})").param, "audio");
    EXPECT_EQ(chat_refusal(R"("web_search_options": {})").param, "web_search_options");
    EXPECT_EQ(chat_refusal(R"("reasoning_effort": 3)").param, "reasoning_effort");
}

TEST(ParseRequest, WhatTheModelIsAskedToBegin) {
    EXPECT_THAT(parse_completion(R"({"prompt": null})").prompts, ElementsAre(Prompt("")));
    EXPECT_EQ(refusal(completion, "{}").param, "prompt");
}

TEST(ParseRequest, SeveralChoices) {
    EXPECT_EQ(parse_completion(R"({"prompt": "a"})").text.choices, 1);
    EXPECT_EQ(parse_completion(R"({"prompt": "a", "n": 3, "best_of": 3})").text.choices, 3);
    EXPECT_EQ(chat_refusal(R"("n": 0)").param, "n");
    EXPECT_EQ(chat_refusal(R"("n": 129)").param, "n");
    std::string many = R"({"n": 128, "prompt": ["a")";
    for (int i = 0; i < 16; ++i) many += ", \"a\"";
    EXPECT_THAT(refusal(completion, many + "]}").message, HasSubstr("at most 2048 choices in all"));
}

TEST(ParseRequest, MessagesOfEveryForm) {
    const ChatRequest request = parse_chat(R"({"reasoning_effort": "none", "messages": [
        {"role": "user", "name": "Ann", "content": [
            {"type": "text", "text": "a", "prompt_cache_breakpoint": {"mode": "explicit"}}]},
        {"role": "assistant", "content": null, "refusal": "No."},
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "Never."}]}]})");
    EXPECT_THAT(request.messages,
                ElementsAre(ChatMessage{"user", "a", R"({"content":"a","name":"Ann","role":"user"})"},
                            ChatMessage{"assistant", "No."}, ChatMessage{"assistant", "Never."}));
    EXPECT_EQ(request.thinks, false);
}

TEST(ParseRequest, WholeNumbersHoweverTheyAreWritten) {
    const CompletionRequest request = parse_completion(
        R"({"prompt": [[1.0, 2e0]], "max_tokens": 1e9, "seed": 1.0, "logprobs": 2.0, "top_k": 4.0})");
    EXPECT_THAT(request.prompts, ElementsAre(Prompt(std::vector<TokenId>{1, 2})));
    EXPECT_EQ(request.text.max_tokens, 1'000'000'000);
    EXPECT_EQ(request.text.seed, 1U);
    EXPECT_EQ(request.text.likeliest, 2);
    EXPECT_EQ(request.text.sampling.top_k, 4);
    EXPECT_EQ(parse_completion(R"({"prompt": "a", "max_tokens": 2147483647})").text.max_tokens, 2147483647);
    EXPECT_THAT(completion_refusal(R"("max_tokens": 3.5)").message, HasSubstr("is 3.5, expected an integer"));
    EXPECT_EQ(completion_refusal(R"("seed": 1e300)").param, "seed");
}

TEST(ParseRequest, WrongFieldsAreNamed) {
    const auto expect = [](const ApiError& error, const std::string& param) {
        EXPECT_EQ(error.status, 400);
        EXPECT_EQ(error.param, param) << error.message;
        EXPECT_THAT(error.message, HasSubstr(param));
    };
    expect(completion_refusal(R"("temperature": -1)"), "temperature");
    expect(completion_refusal(R"("temperature": "hot")"), "temperature");
    expect(completion_refusal(R"("max_tokens": -1)"), "max_tokens");
    expect(completion_refusal(R"("max_tokens": 1e30)"), "max_tokens");
    expect(completion_refusal(R"("stop": [""])"), "stop");
    expect(completion_refusal(R"("stop": 3)"), "stop");
    expect(completion_refusal(R"("logit_bias": {"x": 1})"), "logit_bias");
    expect(completion_refusal(R"("logprobs": 21)"), "logprobs");
    expect(completion_refusal(R"("streams": true)"), "streams");
    expect(chat_refusal(R"("top_logprobs": 2)"), "top_logprobs");
    expect(refusal(completion, R"({"prompt": []})"), "prompt");
    expect(refusal(completion, R"({"prompt": [-1]})"), "prompt[0]");
    expect(refusal(chat, R"({"messages": []})"), "messages");
    expect(refusal(chat, R"({"messages": [{"role": "tool", "content": "x"}]})"), "messages[0].tool_call_id");
    expect(refusal(chat, R"({"messages": [{"role": "assistant"}]})"), "messages[0].content");
    expect(chat_refusal(R"("tool_choice": "required")"), "tool_choice");
    expect(chat_refusal(R"("tool_choice": "any")"), "tool_choice");
    expect(chat_refusal(R"("tools": [{"type": "function"}])"), "tools[0].function");
    expect(chat_refusal(R"("tools": [{"type": "function", "function": {"name": "f", "parameters": 1}}])"),
           "tools[0].function.parameters");
    expect(refusal(chat, R"({"messages": [{"role": "robot", "content": "x"}]})"), "messages[0].role");
    expect(refusal(chat, R"({"messages": [{"role": "user"}]})"), "messages[0].content");
}

TEST(ParseRequest, BodiesThatAreNoObjects) {
    for (const char* body : {"", "{", "[]", "1", "{\"prompt\": \"a\", \"prompt\": \"b\"}", "\xff", "{}"}) {
        EXPECT_EQ(refusal(completion, body).status, 400) << body;
        EXPECT_EQ(refusal(chat, body).status, 400) << body;
    }
    EXPECT_EQ(refusal(chat, std::string(100'000, '[')).status, 400);
}

TEST(ParseRequest, ErrorsAreInTheFormOfOpenAi) {
    EXPECT_EQ(print(ApiError{.message = "no \xff", .param = "n", .code = "c"}),
              R"({"error":{"message":"no �","type":"invalid_request_error","param":"n","code":"c"}})");
    EXPECT_EQ(print(ApiError{.status = 503, .message = "m"}),
              R"({"error":{"message":"m","type":"overloaded_error","param":null,"code":null}})");
}

TEST(ParseRequest, Embeddings) {
    const EmbeddingRequest plain = parse_embedding(R"({"input": "Once", "model": "m", "user": "u"})");
    EXPECT_THAT(plain.inputs, ElementsAre(Prompt("Once")));
    EXPECT_EQ(plain.pooling, std::nullopt);
    EXPECT_FALSE(plain.is_base64 || plain.dimensions);
    const EmbeddingRequest all = parse_embedding(
        R"({"input": ["a", [1, 2]], "encoding_format": "base64", "pooling": "last", "dimensions": 8})");
    EXPECT_THAT(all.inputs, ElementsAre(Prompt("a"), Prompt(std::vector<TokenId>{1, 2})));
    EXPECT_EQ(all.pooling, Pooling::kLast);
    EXPECT_TRUE(all.is_base64);
    EXPECT_EQ(all.dimensions, 8);
    const auto refused = [](const std::string& fields) {
        return refusal(parse_embedding, R"({"input": "a", )" + fields + "}").message;
    };
    EXPECT_THAT(refused(R"("encoding_format": "int8")"), HasSubstr("expected float or base64"));
    EXPECT_THAT(refused(R"("pooling": "rank")"), HasSubstr("expected one of mean"));
    EXPECT_THAT(refused(R"("dimensions": 0)"), HasSubstr("dimensions"));
    EXPECT_THAT(refused(R"("stream": true)"), HasSubstr("unknown field: stream"));
    EXPECT_THAT(refusal(parse_embedding, "{}").message, HasSubstr("input"));
    EXPECT_THAT(refusal(parse_embedding, R"({"input": []})").message, HasSubstr("is empty"));
}

}  // namespace
}  // namespace tessera::serve
