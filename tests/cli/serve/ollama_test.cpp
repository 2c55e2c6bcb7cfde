// Ollama's API over real sockets, on a model that is known by heart: its tokens are the letters a to w.

#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/serve/http_client.h"
#include "cli/serve/running_server.h"
#include "cli/serve/toy_fixture.h"

namespace tessera::serve {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using Json = nlohmann::json;
using testing::Answered;
using testing::Client;
using testing::RunningServer;

class OllamaApi : public testing::ToyFixture {
protected:
    static Json greedy_options(int most) {
        return {{"temperature", 0}, {"repeat_penalty", 1}, {"num_predict", most}};
    }
    static Json chat(const std::string& text, int most) {
        return {{"model", "toy"},
                {"messages", {{{"role", "user"}, {"content", text}}}},
                {"options", greedy_options(most)}};
    }
    static std::vector<Json> lines_of(const std::string& body) {
        std::vector<Json> lines;
        std::istringstream stream(body);
        for (std::string line; std::getline(stream, line);) lines.push_back(Json::parse(line));
        return lines;
    }
};

TEST_F(OllamaApi, ChatsInLinesOfJsonOrAsAWhole) {
    RunningServer server(artefact(), settings_);
    Client client(server.port());
    const Answered streamed = client.post("/api/chat", chat("cab", 6));
    ASSERT_EQ(streamed.status, 200) << streamed.body;
    EXPECT_EQ(streamed.header("Content-Type"), "application/x-ndjson");
    const std::vector<Json> lines = lines_of(streamed.body);
    ASSERT_EQ(lines.size(), 7U) << streamed.body;
    std::string text;
    for (const Json& line : lines) {
        EXPECT_EQ(line["model"], "toy");
        EXPECT_THAT(line["created_at"].get<std::string>(), MatchesRegex("20..-..-..T..:..:..\\..........Z"));
        EXPECT_EQ(line["message"]["role"], "assistant");
        EXPECT_EQ(line["done"], &line == &lines.back());
        text += line["message"]["content"];
    }
    EXPECT_EQ(text, greedy("ucaba", 6));

    Json body = chat("cab", 6);
    body["stream"] = false;
    body["model"] = "toy:latest";
    const Answered answer = client.post("/api/chat", body);
    EXPECT_EQ(answer.header("Content-Type"), "application/json");
    const Json whole = answer.json();
    EXPECT_EQ(whole["model"], "toy:latest");
    EXPECT_EQ(whole["message"]["content"], text);
    for (const Json& last : {lines.back(), whole}) {
        EXPECT_EQ(last["done"], true);
        EXPECT_EQ(last["done_reason"], "length");
        EXPECT_EQ(last["prompt_eval_count"], 5);
        EXPECT_EQ(last["eval_count"], 6);
        int64_t parts = 0;
        for (const char* part : {"load_duration", "prompt_eval_duration", "eval_duration"}) {
            EXPECT_GE(last[part], 0);
            parts += last[part].get<int64_t>();
        }
        EXPECT_EQ(last["total_duration"], parts);
    }
}

TEST_F(OllamaApi, GeneratesBehindTheTemplateOrRaw) {
    RunningServer server(artefact(), settings_);
    Client client(server.port());
    Json body = {{"model", "toy"}, {"prompt", "cab"}, {"options", greedy_options(4)}, {"stream", false}};
    EXPECT_EQ(client.post("/api/generate", body).json()["response"], greedy("ucaba", 4));
    body["system"] = "de";
    EXPECT_EQ(client.post("/api/generate", body).json()["response"], greedy("sdeucaba", 4));
    body.erase("system");
    body["raw"] = true;
    const std::string text = greedy("cab", 4);
    EXPECT_EQ(client.post("/api/generate", body).json()["response"], text);
    body["options"]["stop"] = text.substr(2, 1);
    const Json stopped = client.post("/api/generate", body).json();
    EXPECT_EQ(stopped["response"], text.substr(0, text.find(text[2])));
    EXPECT_EQ(stopped["done_reason"], "stop");
    // Without a limit the text ends where the context does.
    body["options"] = {{"temperature", 0}, {"num_ctx", 128}};
    EXPECT_EQ(client.post("/api/generate", body).json()["eval_count"], 128 - 3 + 1);
}

TEST_F(OllamaApi, ReportsProbabilities) {
    RunningServer server(artefact(), settings_);
    Client client(server.port());
    Json body = chat("cab", 3);
    body["logprobs"] = true;
    body["top_logprobs"] = 2;
    const std::vector<Json> lines = lines_of(client.post("/api/chat", body).body);
    ASSERT_EQ(lines.size(), 4U);
    for (size_t i = 0; i < 3; ++i) {
        ASSERT_EQ(lines[i]["logprobs"].size(), 1U) << lines[i];
        EXPECT_EQ(lines[i]["logprobs"][0]["token"], lines[i]["message"]["content"]);
        EXPECT_EQ(lines[i]["logprobs"][0]["top_logprobs"].size(), 2U);
    }
}

TEST_F(OllamaApi, TellsOfItsModel) {
    RunningServer server(artefact(), settings_);
    Client client(server.port());
    for (const char* path : {"/api/tags", "/api/ps"}) {
        const Json model = client.get(path).json()["models"][0];
        EXPECT_EQ(model["name"], "toy:latest");
        EXPECT_EQ(model["model"], "toy:latest");
        EXPECT_EQ(model["size"], std::filesystem::file_size(artefact()));
        EXPECT_THAT(model["digest"].get<std::string>(), MatchesRegex("[0-9a-f]+"));
    }
    EXPECT_THAT(client.get("/api/tags").json()["models"][0]["modified_at"].get<std::string>(),
                ::testing::StartsWith("20"));
    EXPECT_EQ(client.get("/api/ps").json()["models"][0]["context_length"], 128);
    EXPECT_THAT(client.get("/api/version").json()["version"].get<std::string>(), MatchesRegex("[0-9.]+"));
    const Json shown = client.post("/api/show", {{"model", "toy:latest"}}).json();
    EXPECT_EQ(shown["model_info"]["tessera.context_length"], 128);
    EXPECT_EQ(shown["capabilities"], Json::array({"completion"}));
    client.send("HEAD / HTTP/1.1\r\n\r\n");  // which asks whether it is there
    EXPECT_THAT(client.read_until("\r\n\r\n"), ::testing::StartsWith("HTTP/1.1 200 "));
}

TEST_F(OllamaApi, RequestsForTheModelInMemory) {
    RunningServer server(artefact(), settings_);
    Client client(server.port());
    EXPECT_EQ(client.post("/api/chat", {{"model", "toy"}}).json()["done_reason"], "load");
    EXPECT_EQ(client.post("/api/generate", {{"model", "toy"}, {"prompt", ""}}).json()["response"], "");
    EXPECT_EQ(client.post("/api/generate", {{"model", "toy"}, {"keep_alive", 0}}).json()["done_reason"],
              "unload");
}

TEST_F(OllamaApi, ErrorsAreInItsForm) {
    RunningServer server(artefact(), settings_, {.api_key = "secret"});
    const std::string key = "Authorization: Bearer secret\r\n";
    const auto refused = [&](const std::string& path, const Json& body, int status) {
        const Answered answer = Client(server.port()).post(path, body, key);
        EXPECT_EQ(answer.status, status) << answer.body;
        return answer.json()["error"].get<std::string>();
    };
    EXPECT_THAT(refused("/api/chat", {{"model", "other"}}, 404), HasSubstr("there is no other, but toy"));
    EXPECT_THAT(refused("/api/show", {{"model", "toy:8b"}}, 404), HasSubstr("there is no toy:8b"));
    EXPECT_THAT(refused("/api/chat", {{"model", "toy"}, {"options", {{"num_ctx", 129}}}}, 400),
                HasSubstr("start it with --context 129"));
    Json body = chat("cab", 3);
    body["think"] = true;
    EXPECT_THAT(refused("/api/chat", body, 400), HasSubstr("think: toy does not think"));
    body["think"] = false;
    EXPECT_EQ(Client(server.port()).post("/api/chat", body, key).status, 200);
    EXPECT_THAT(refused("/api/chat", chat(std::string(200, 'a'), 3), 400), HasSubstr("context"));
    EXPECT_THAT(refused("/api/embed", {{"model", "toy"}, {"input", "a"}}, 501),
                HasSubstr("compile --embeddings"));
    EXPECT_THAT(refused("/api/pull", {{"model", "x"}}, 404), HasSubstr("the one model"));
    EXPECT_THAT(refused("/api/tags", {}, 405), HasSubstr("takes GET"));
    const Answered locked = Client(server.port()).post("/api/chat", chat("cab", 3));
    EXPECT_EQ(locked.status, 401);
    EXPECT_THAT(locked.json()["error"].get<std::string>(), HasSubstr("Authorization"));
}

}  // namespace
}  // namespace tessera::serve
