#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/serve/http_client.h"
#include "cli/serve/running_server.h"
#include "run/llm/tool_templates.h"
#include "run/runtime/toy_model.h"
#include "support/temporary_folder.h"

namespace tessera::serve {
namespace {

using Json = nlohmann::json;
using testing::Answered;
using testing::Client;
using ::testing::HasSubstr;
using testing::RunningServer;

constexpr const char* kSchema = R"({"type": "object", "properties": {"unit": {"enum": ["C", "F"]},
    "days": {"type": "integer", "minimum": 1, "maximum": 9}}, "required": ["unit", "days"],
    "additionalProperties": false})";

/// A model that writes anything, with a template that knows tools.
class Tools : public ::testing::Test {
protected:
    explicit Tools(const std::string& chat_template = template_without_thoughts()) {
        toy_.tokenizer = llm::testing::ascii_files(
            chat_template, {"<s>", "</s>", "<|im_start|>", "<|im_end|>"}, {"<tool_call>", "</tool_call>"});
        toy_.vocabulary = 102;
        toy_.context = 2048;
        toy_.write(folder_.path() / "toy.tsr");
        server_.emplace(folder_.path() / "toy.tsr", EngineSettings{.batch_invariant = false});
    }

    /// Calls come at once: this model would think for ever.
    static std::string template_without_thoughts() {
        std::string text = llm::testing::kTagged;
        const std::string thoughts = ".split('</think>')[-1]";
        return text.replace(text.find(thoughts), thoughts.size(), "");
    }
    static Json question(const Json& more) {
        Json body = {
            {"messages", {{{"role", "user"}, {"content", "How warm?"}}}},
            {"tools",
             {{{"type", "function"},
               {"function", {{"name", "weather"}, {"strict", true}, {"parameters", Json::parse(kSchema)}}}},
              {{"type", "function"}, {"function", {{"name", "now"}, {"description", "The time."}}}}}},
            {"temperature", 2},
            {"max_tokens", 400}};
        body.update(more);
        return body;
    }
    Answered post(const Json& body) { return Client(server_->port()).post("/v1/chat/completions", body); }
    Json choice(const Json& more) {
        const Answered answer = post(question(more));
        EXPECT_EQ(answer.status, 200) << answer.body;
        return Json::parse(answer.body)["choices"][0];
    }
    /// The message and the reason, put together as clients do.
    Json streamed_choice(Json more) {
        more["stream"] = true;
        Json message = {{"role", nullptr}, {"content", nullptr}}, reason;
        std::istringstream lines(post(question(more)).body);
        for (std::string line; std::getline(lines, line);) {
            if (!line.starts_with("data: {")) continue;
            const Json choice = Json::parse(line.substr(6))["choices"][0];
            reason = choice["finish_reason"];
            for (const auto& [key, value] : choice["delta"].items()) {
                if (key == "tool_calls") {
                    add_call(message["tool_calls"], value[0]);
                } else if (value.is_string()) {
                    message[key] = message[key].is_null()
                                       ? value.get<std::string>()
                                       : message[key].get<std::string>() + value.get<std::string>();
                }
            }
        }
        return {{"message", message}, {"finish_reason", reason}};
    }

    static void add_call(Json& calls, const Json& delta) {
        if (delta.contains("id")) {
            EXPECT_EQ(delta["index"], calls.size());
            EXPECT_EQ(delta["function"]["arguments"], "");
            calls.push_back(delta);
            return;
        }
        std::string arguments = calls[delta["index"].get<size_t>()]["function"]["arguments"];
        calls[delta["index"].get<size_t>()]["function"]["arguments"] =
            arguments + delta["function"]["arguments"].get<std::string>();
    }

    runtime::ToyModel toy_;
    TemporaryFolder folder_;
    std::optional<RunningServer> server_;
};

TEST_F(Tools, CallsAreOfTheirSchemas) {
    const Grammar schema = Grammar::json_schema(Json::parse(kSchema).dump());
    std::set<std::string> ids, names;
    for (int seed = 0; seed < 8; ++seed) {
        const Json answer = choice({{"tool_choice", "required"}, {"seed", seed}});
        EXPECT_EQ(answer["finish_reason"], "tool_calls") << answer;
        EXPECT_TRUE(answer["message"]["content"].is_null());
        ASSERT_TRUE(answer["message"].contains("tool_calls"));
        for (const Json& call : answer["message"]["tool_calls"]) {
            EXPECT_EQ(call["type"], "function");
            EXPECT_TRUE(ids.insert(call["id"]).second);
            const std::string name = call["function"]["name"], arguments = call["function"]["arguments"];
            names.insert(name);
            EXPECT_TRUE(name == "weather" ? schema.accepts(arguments)
                                          : Json::parse(arguments) == Json::object())
                << call;
        }
    }
    EXPECT_EQ(names, (std::set<std::string>{"now", "weather"}));
}

TEST_F(Tools, AStreamIsTheSame) {
    for (const char* use : {"required", "auto"})
        for (int seed = 0; seed < 6; ++seed) {
            const Json more = {{"tool_choice", use}, {"seed", seed}};
            Json whole = choice(more), streamed = streamed_choice(more);
            EXPECT_EQ(streamed["finish_reason"], whole["finish_reason"]);
            EXPECT_EQ(streamed["message"]["content"], whole["message"]["content"]);
            Json& calls = whole["message"]["tool_calls"];
            EXPECT_EQ(streamed["message"]["tool_calls"].size(), calls.size());
            for (size_t i = 0; i < calls.size(); ++i)
                EXPECT_EQ(streamed["message"]["tool_calls"][i]["function"], calls[i]["function"]);
        }
}

TEST_F(Tools, TheChoiceIsKept) {
    const Json named = {{"type", "function"}, {"function", {{"name", "now"}}}};
    for (int seed = 0; seed < 4; ++seed) {
        const Json none = choice({{"tool_choice", "none"}, {"seed", seed}, {"max_tokens", 60}});
        EXPECT_FALSE(none["message"].contains("tool_calls"));
        const Json one = choice({{"tool_choice", named}, {"seed", seed}});
        ASSERT_TRUE(one["message"].contains("tool_calls"));
        ASSERT_EQ(one["message"]["tool_calls"].size(), 1U);
        EXPECT_EQ(one["message"]["tool_calls"][0]["function"]["name"], "now");
        const Json allowed = choice(
            {{"tool_choice",
              {{"type", "allowed_tools"}, {"allowed_tools", {{"mode", "required"}, {"tools", {named}}}}}},
             {"seed", seed},
             {"parallel_tool_calls", false}});
        EXPECT_EQ(allowed["message"]["tool_calls"].size(), 1U);
        EXPECT_EQ(allowed["message"]["tool_calls"][0]["function"]["name"], "now");
    }
}

TEST_F(Tools, ResultsAreSentBack) {
    Json body = question({{"seed", 3}, {"max_tokens", 20}, {"tool_choice", "none"}});
    body["messages"].push_back(
        {{"role", "assistant"},
         {"content", nullptr},
         {"tool_calls",
          {{{"id", "call_1"}, {"type", "function"}, {"function", {{"name", "now"}, {"arguments", "{}"}}}}}}});
    body["messages"].push_back(
        {{"role", "tool"}, {"tool_call_id", "call_1"}, {"content", {{{"type", "text"}, {"text", "noon"}}}}});
    const Answered answer = post(body);
    EXPECT_EQ(answer.status, 200) << answer.body;
    body["messages"][1]["tool_calls"][0]["function"]["arguments"] = "{";
    EXPECT_THAT(post(body).body, HasSubstr("messages[1].tool_calls[0].function.arguments"));
}

TEST_F(Tools, WhatIsNotThereIsNamed) {
    const auto problem = [&](const Json& more) { return Json::parse(post(question(more)).body)["error"]; };
    EXPECT_THAT(problem({{"tool_choice", {{"type", "function"}, {"function", {{"name", "x"}}}}}})["message"],
                HasSubstr("x: is chosen, and is none of them"));
    Json tools = {
        {{"type", "function"},
         {"function", {{"name", "f"}, {"parameters", {{"properties", {{"a", {{"uniqueItems", true}}}}}}}}}}};
    const Json schema = problem({{"tools", tools}});
    EXPECT_EQ(schema["code"], "invalid_tools");
    EXPECT_THAT(schema["message"], HasSubstr("f.parameters.properties.a"));
    EXPECT_THAT(problem({{"response_format", {{"type", "json_object"}}}})["message"], HasSubstr("beside"));
}

/// Sampled alike, the other APIs get the same calls.
TEST_F(Tools, OfOllama) {
    const Json options = {{"temperature", 2}, {"top_k", 0},          {"top_p", 1},
                          {"seed", 5},        {"repeat_penalty", 1}, {"num_predict", 400}};
    Json body = question({{"model", "toy"}, {"options", options}, {"tool_choice", "required"}});
    for (const char* unused : {"temperature", "max_tokens"}) body.erase(unused);
    const Json calls = choice({{"tool_choice", "required"}, {"seed", 5}})["message"]["tool_calls"];
    ASSERT_FALSE(calls.empty());
    Client client(server_->port());
    Json whole = body;
    whole["stream"] = false;
    const Json message = Json::parse(client.post("/api/chat", whole).body)["message"];
    Json streamed = Json::array();
    std::istringstream lines(client.post("/api/chat", body).body);
    for (std::string line; std::getline(lines, line);) {
        const Json piece = Json::parse(line)["message"];
        if (piece.contains("tool_calls"))
            for (const Json& call : piece["tool_calls"]) streamed.push_back(call);
    }
    ASSERT_EQ(message["tool_calls"].size(), calls.size());
    ASSERT_EQ(streamed.size(), calls.size());
    for (size_t i = 0; i < calls.size(); ++i) {
        const Json function = {
            {"name", calls[i]["function"]["name"]},
            {"arguments", Json::parse(calls[i]["function"]["arguments"].get<std::string>())}};
        EXPECT_EQ(message["tool_calls"][i]["function"], function);
        EXPECT_EQ(streamed[i]["function"], function);
    }
    // Calls go back without ids.
    body["messages"].push_back(message);
    body["messages"].push_back({{"role", "tool"}, {"tool_name", "now"}, {"content", "noon"}});
    body["tool_choice"] = "none";
    EXPECT_EQ(client.post("/api/chat", body).status, 200);
    const Json shown = Json::parse(client.post("/api/show", {{"model", "toy"}}).body);
    EXPECT_THAT(shown["capabilities"], ::testing::Contains("tools"));
}

TEST_F(Tools, OfResponses) {
    Json tools = question(Json::object())["tools"];
    for (Json& tool : tools) {
        const Json function = tool["function"];
        tool.erase("function");
        tool.update(function);
    }
    const Json body = {{"input", "How warm?"},     {"tools", tools}, {"temperature", 2},
                       {"max_output_tokens", 400}, {"seed", 5},      {"tool_choice", "required"}};
    const Json calls = choice({{"tool_choice", "required"}, {"seed", 5}})["message"]["tool_calls"];
    Client client(server_->port());
    const Answered answer = client.post("/v1/responses", body);
    ASSERT_EQ(answer.status, 200) << answer.body;
    Json output = Json::parse(answer.body)["output"];
    ASSERT_EQ(output.size(), calls.size()) << output;
    for (size_t i = 0; i < calls.size(); ++i) {
        EXPECT_EQ(output[i]["name"], calls[i]["function"]["name"]);
        EXPECT_EQ(output[i]["arguments"], calls[i]["function"]["arguments"]);
    }
    // And back again, beside what has been called.
    Json next = body;
    next["tool_choice"] = {{"type", "function"}, {"name", "now"}};
    next["input"] = {{{"role", "user"}, {"content", "How warm?"}}};
    for (const Json& call : output) next["input"].push_back(call);
    for (const Json& call : output)
        next["input"].push_back(
            {{"type", "function_call_output"}, {"call_id", call["call_id"]}, {"output", "noon"}});
    const Answered second = client.post("/v1/responses", next);
    ASSERT_EQ(second.status, 200) << second.body;
    output = Json::parse(second.body)["output"];
    ASSERT_EQ(output.size(), 1U);
    EXPECT_EQ(output[0]["name"], "now");
}

/// A model whose template says nothing of tools.
class NoTools : public Tools {
protected:
    NoTools() : Tools("{% for m in messages %}<|im_start|>{{ m.content }}<|im_end|>{% endfor %}") {}
};

TEST_F(NoTools, AreRefused) {
    const Answered answer = post(question(Json::object()));
    EXPECT_EQ(answer.status, 400);
    const Json error = Json::parse(answer.body)["error"];
    EXPECT_EQ(error["param"], "tools");
    EXPECT_EQ(error["code"], "unsupported_parameter");
    EXPECT_THAT(error["message"], HasSubstr("the chat template does not tell the model of functions"));
    EXPECT_THAT(error["message"], HasSubstr("Qwen2.5"));
}

/// But another template may.
TEST_F(NoTools, AnotherTemplate) {
    RunningServer server(folder_.path() / "toy.tsr", {.batch_invariant = false},
                         {.chat_template = template_without_thoughts()});
    const Answered answer =
        Client(server.port()).post("/v1/chat/completions", question({{"tool_choice", "required"}}));
    EXPECT_EQ(answer.status, 200) << answer.body;
}

}  // namespace
}  // namespace tessera::serve
