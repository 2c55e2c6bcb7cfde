#include "cli/serve/parse_ollama.h"

#include <limits>
#include <string>
#include <variant>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera::serve {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <typename Parse>
ApiError ollama_refusal(Parse parse, const std::string& fields) {
    try {
        (void)parse(R"({"model": "m", )" + fields + "}");
    } catch (const ApiError& error) {
        return error;
    }
    ADD_FAILURE() << "accepted " << fields;
    return {};
}

TEST(ParseOllama, DefaultsAreThoseOfOllama) {
    const OllamaChatRequest request =
        parse_ollama_chat(R"({"model": "m:latest", "messages": [{"role": "user", "content": "a"}]})");
    EXPECT_EQ(request.common.model, "m:latest");
    EXPECT_FALSE(request.common.context || request.common.unloads);
    EXPECT_THAT(request.chat.messages, ElementsAre(ChatMessage{"user", "a"}));
    EXPECT_FALSE(request.chat.thinks || request.chat.text.max_tokens || request.chat.text.seed);
    EXPECT_TRUE(request.chat.text.streams);
    const SamplingOptions& sampling = request.chat.text.sampling;
    EXPECT_EQ(sampling.temperature, 0.8);
    EXPECT_EQ(sampling.top_k, 40);
    EXPECT_EQ(sampling.top_p, 0.9);
    EXPECT_EQ(sampling.min_p, 0);
    EXPECT_EQ(sampling.repetition_penalty, 1.1);
    EXPECT_EQ(sampling.repetition_window, 64);
}

TEST(ParseOllama, EveryOption) {
    const OllamaChatRequest request = parse_ollama_chat(R"({
        "model": "m", "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "a", "images": null}],
        "stream": false, "think": "high", "keep_alive": "5m", "logprobs": true, "top_logprobs": 2, "truncate": false,
        "shift": false, "tools": [],
        "options": {"temperature": 0, "top_k": 3, "top_p": 0.5, "min_p": 0.1, "typical_p": 0.7, "seed": 7,
                    "num_predict": 9, "num_ctx": 64, "stop": ["x", "y"], "repeat_penalty": 1.3, "repeat_last_n": -1,
                    "presence_penalty": 1, "frequency_penalty": 2, "mirostat": 0, "mirostat_tau": 5.0, "tfs_z": 1,
                    "penalize_newline": true, "num_gpu": 1, "num_thread": 8, "use_mmap": true, "num_keep": 4}})");
    EXPECT_EQ(request.common.context, 64);
    const TextRequest& text = request.chat.text;
    EXPECT_FALSE(text.streams);
    EXPECT_EQ(text.likeliest, 2);
    EXPECT_EQ(request.chat.thinks, true);
    EXPECT_EQ(text.max_tokens, 9);
    EXPECT_EQ(text.seed, 7U);
    EXPECT_THAT(text.stop, ElementsAre("x", "y"));
    EXPECT_EQ(text.sampling.temperature, 0);
    EXPECT_EQ(text.sampling.top_k, 3);
    EXPECT_EQ(text.sampling.top_p, 0.5);
    EXPECT_EQ(text.sampling.min_p, 0.1);
    EXPECT_EQ(text.sampling.typical_p, 0.7);
    EXPECT_EQ(text.sampling.repetition_penalty, 1.3);
    EXPECT_EQ(text.sampling.repetition_window, std::numeric_limits<int64_t>::max());
    EXPECT_EQ(text.sampling.presence_penalty, 1);
    EXPECT_EQ(text.sampling.frequency_penalty, 2);
    const OllamaChatRequest open = parse_ollama_chat(
        R"({"model": "m", "options": {"num_predict": -1, "seed": -1}, "keep_alive": "0s"})");
    EXPECT_FALSE(open.chat.text.max_tokens || open.chat.text.seed);
    EXPECT_TRUE(open.common.unloads && open.chat.messages.empty());
}

TEST(ParseOllama, FormatsAreGrammars) {
    const auto grammar = [](const std::string& format) {
        return parse_ollama_chat(R"({"model": "m", "format": )" + format + "}").chat.text.grammar;
    };
    EXPECT_FALSE(grammar("null") || grammar(R"("")"));
    EXPECT_TRUE(grammar(R"("json")")->accepts(R"({"a": 1})"));
    const auto schema =
        grammar(R"({"type": "object", "properties": {"z": {"type": "integer"}, "a": {"const": 1}},
                                    "required": ["z", "a"], "additionalProperties": false})");
    EXPECT_TRUE(schema->accepts(R"({"z": 5, "a": 1})"));
    EXPECT_FALSE(schema->accepts(R"({"a": 1, "z": 5})"));
    EXPECT_THAT(ollama_refusal(parse_ollama_chat, R"("format": "xml")").message,
                HasSubstr("json or a schema"));
    EXPECT_EQ(ollama_refusal(parse_ollama_chat, R"("format": {"format": "phone"})").code, "invalid_grammar");
}

TEST(ParseOllama, PromptsBehindTheTemplateOrRaw) {
    const auto request = [](const std::string& fields) {
        return parse_ollama_generate(R"({"model": "m", )" + fields + "}").request;
    };
    EXPECT_THAT(std::get<ChatRequest>(request(R"("prompt": "a", "system": "s", "think": false)")).messages,
                ElementsAre(ChatMessage{"system", "s"}, ChatMessage{"user", "a"}));
    EXPECT_THAT(std::get<CompletionRequest>(request(R"("prompt": "<|im_start|>", "raw": true)")).prompts,
                ElementsAre(Prompt("<|im_start|>")));
    EXPECT_TRUE(
        std::get<ChatRequest>(request(R"("system": "s", "suffix": "", "template": "")")).messages.empty());
    EXPECT_TRUE(std::get<CompletionRequest>(request(R"("raw": true)")).prompts.empty());
}

TEST(ParseOllama, Embeddings) {
    const EmbeddingRequest several =
        parse_ollama_embed(R"({"model": "m", "input": ["a", "b"], "options": {}, "dimensions": 0})")
            .embedding;
    EXPECT_THAT(several.inputs, ElementsAre(Prompt("a"), Prompt("b")));
    EXPECT_TRUE(several.truncates);
    EXPECT_EQ(several.normalises, true);
    EXPECT_FALSE(several.dimensions);
    EXPECT_FALSE(
        parse_ollama_embed(R"({"model": "m", "input": "a", "truncate": false})").embedding.truncates);
    EXPECT_TRUE(parse_ollama_embed(R"({"model": "m", "input": []})").embedding.inputs.empty());
    const EmbeddingRequest one = parse_ollama_embeddings(R"({"model": "m", "prompt": "a"})").embedding;
    EXPECT_THAT(one.inputs, ElementsAre(Prompt("a")));
    EXPECT_EQ(one.normalises, false);
}

TEST(ParseOllama, ToolsAndCalls) {
    const ChatRequest request =
        parse_ollama_chat(R"({"model": "m", "messages": [{"role": "user", "content": "a"},
        {"role": "assistant", "tool_calls": [{"function": {"index": 0, "name": "f", "arguments": {"z": 1, "a": {}}}},
                                             {"id": "given", "function": {"name": "g", "arguments": {}}}]},
        {"role": "tool", "tool_name": "g", "content": "of g"}, {"role": "tool", "content": "of f"}],
        "tools": [{"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}}]})")
            .chat;
    EXPECT_THAT(request.tools, ElementsAre(Tool{"f", "d", R"({"type":"object"})"}));
    ASSERT_EQ(request.messages.size(), 4U);
    const std::vector<ToolCall>& calls = request.messages[1].tool_calls;
    ASSERT_EQ(calls.size(), 2U);
    EXPECT_EQ(calls[0], (ToolCall{"call00001", "f", R"({"z":1,"a":{}})"}));
    EXPECT_EQ(calls[1], (ToolCall{"given", "g", "{}"}));
    EXPECT_EQ(request.messages[2].tool_call_id, "given");
    EXPECT_EQ(request.messages[3].tool_call_id, "call00001");
    const auto refused = [](const std::string& message) {
        return ollama_refusal(parse_ollama_chat, R"("messages": [)" + message + "]").param;
    };
    EXPECT_EQ(
        refused(R"({"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]})"),
        "messages[0].tool_calls[0].function.arguments");
    EXPECT_EQ(refused(R"({"role": "user", "tool_calls": [{}]})"), "messages[0].tool_calls");
}

TEST(ParseOllama, NamesOfModels) {
    EXPECT_EQ(parse_ollama_show(R"({"model": "m", "verbose": true})"), "m");
    EXPECT_EQ(parse_ollama_show(R"({"name": "n"})"), "n");
    EXPECT_THROW(parse_ollama_show("{}"), ApiError);
    EXPECT_THROW(parse_ollama_chat(R"({"messages": []})"), ApiError);
}

TEST(ParseOllama, WhatIsNotCarriedOutIsRefusedByName) {
    const auto expect = [](const ApiError& error, const std::string& param) {
        EXPECT_EQ(error.status, 400);
        EXPECT_EQ(error.param, param) << error.message;
        EXPECT_THAT(error.message, HasSubstr(param));
    };
    for (const char* option :
         {R"("mirostat": 1)", R"("tfs_z": 0.5)", R"("penalize_newline": false)", R"("num_ctx": 0)",
          R"("top_kk": 1)", R"("temperature": -1)", R"("repeat_last_n": -2)"}) {
        const std::string name(option + 1, std::string(option).find('"', 1) - 1);
        expect(ollama_refusal(parse_ollama_chat, std::string(R"("options": {)") + option + "}"),
               "options." + name);
    }
    expect(ollama_refusal(parse_ollama_chat, R"("tools": [{}])"), "tools[0].type");
    expect(ollama_refusal(parse_ollama_chat, R"("truncate": true)"), "truncate");
    expect(ollama_refusal(parse_ollama_chat, R"("shift": true)"), "shift");
    expect(ollama_refusal(parse_ollama_chat, R"("think": "much")"), "think");
    expect(ollama_refusal(parse_ollama_chat,
                          R"("messages": [{"role": "user", "content": "a", "images": ["x"]}])"),
           "messages[0].images");
    expect(ollama_refusal(parse_ollama_generate, R"("prompt": "a", "template": "{{ .Prompt }}")"),
           "template");
    expect(ollama_refusal(parse_ollama_generate, R"("prompt": "a", "context": [1, 2])"), "context");
    expect(ollama_refusal(parse_ollama_generate, R"("prompt": "a", "images": ["x"])"), "images");
    expect(ollama_refusal(parse_ollama_generate, R"("prompt": "a", "suffix": "b")"), "suffix");
    expect(ollama_refusal(parse_ollama_generate, R"("prompt": "a", "raw": true, "system": "s")"), "system");
    expect(ollama_refusal(parse_ollama_generate, R"("prompts": "a")"), "prompts");
    expect(ollama_refusal(parse_ollama_embed, R"("input": [1.5])"), "input[0]");
}

}  // namespace
}  // namespace tessera::serve
