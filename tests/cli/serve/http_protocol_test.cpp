// The server's HTTP, on a model that is known by heart: its tokens are the letters a to w.

#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/serve/http_client.h"
#include "cli/serve/running_server.h"
#include "cli/serve/toy_fixture.h"

namespace tessera::serve {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;
using testing::Answered;
using testing::Client;
using testing::RunningServer;

class HttpProtocol : public testing::ToyFixture {};

TEST_F(HttpProtocol, AnswersCompletionsAndChats) {
    RunningServer server(artefact(), settings_);
    Client client(server.port());
    const Answered answer =
        client.post("/v1/completions", {{"prompt", {"cab", "dad"}}, {"max_tokens", 5}, {"temperature", 0}});
    ASSERT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(answer.header("Content-Type"), "application/json");
    const Json json = answer.json();
    EXPECT_EQ(json["object"], "text_completion");
    EXPECT_EQ(json["model"], "toy");
    EXPECT_EQ(json["choices"][0]["text"], greedy("cab", 5));
    EXPECT_EQ(json["choices"][1]["text"], greedy("dad", 5));
    EXPECT_EQ(json["choices"][1]["finish_reason"], "length");
    EXPECT_EQ(json["usage"]["prompt_tokens"], 6);
    EXPECT_EQ(json["usage"]["completion_tokens"], 10);

    const std::string text = greedy("ucaba", 9);
    const Json chat =
        client
            .post("/v1/chat/completions", {{"messages", {{{"role", "user"}, {"content", "cab"}}}},
                                           {"temperature", 0},
                                           {"stop", text.substr(5, 2)},
                                           {"logprobs", true},
                                           {"top_logprobs", 1}})
            .json();
    EXPECT_EQ(chat["object"], "chat.completion");
    const Json& choice = chat["choices"][0];
    EXPECT_EQ(choice["message"]["content"], text.substr(0, text.find(text.substr(5, 2))));
    EXPECT_EQ(choice["finish_reason"], "stop");
    EXPECT_EQ(choice["logprobs"]["content"][0]["token"], text.substr(0, 1));
    EXPECT_EQ(choice["logprobs"]["content"][0]["top_logprobs"][0]["token"], text.substr(0, 1));
}

TEST_F(HttpProtocol, StreamsChats) {
    RunningServer server(artefact(), settings_);
    Client client(server.port());
    for (int repetition = 0; repetition < 2; ++repetition) {  // on one connection
        const Answered answer =
            client.post("/v1/chat/completions", {{"messages", {{{"role", "user"}, {"content", "cab"}}}},
                                                 {"temperature", 0},
                                                 {"max_tokens", 4},
                                                 {"stream", true},
                                                 {"stream_options", {{"include_usage", true}}}});
        ASSERT_EQ(answer.status, 200);
        EXPECT_EQ(answer.header("Content-Type"), "text/event-stream; charset=utf-8");
        std::vector<Json> events;
        std::istringstream lines(answer.body);
        for (std::string line; std::getline(lines, line) && line != "data: [DONE]";)
            if (line.starts_with("data: ")) events.push_back(Json::parse(line.substr(6)));
        ASSERT_EQ(events.size(), 7U) << answer.body;
        EXPECT_EQ(events[0]["choices"][0]["delta"]["role"], "assistant");
        std::string text;
        for (size_t i = 1; i < 5; ++i) text += events[i]["choices"][0]["delta"]["content"];
        EXPECT_EQ(text, greedy("ucaba", 4));
        EXPECT_EQ(events[5]["choices"][0]["finish_reason"], "length");
        EXPECT_TRUE(events[6]["choices"].empty());
        EXPECT_EQ(events[6]["usage"]["completion_tokens"], 4);
    }
}

TEST_F(HttpProtocol, OtherEndpoints) {
    RunningServer server(artefact(), settings_);
    Client client(server.port());
    EXPECT_EQ(client.get("/health").body, R"({"status":"ok"})");
    EXPECT_EQ(client.get("/v1/models").json()["data"][0]["id"], "toy");
    EXPECT_EQ(client.get("/v1/models/t%6Fy?x=1").json()["context_length"], 128);
    EXPECT_EQ(client.get("/v1/models/").json()["data"][0]["id"], "toy");
    EXPECT_EQ(client.get("/v1/models/toy/").json()["id"], "toy");
    EXPECT_EQ(client.get("http://any.host:1/v1/models?x").json()["data"][0]["id"], "toy");
    EXPECT_EQ(client.get("/v1/models/other").status, 404);
    const Answered embedding = client.post("/v1/embeddings", {{"input", "a"}});
    EXPECT_EQ(embedding.status, 501);
    EXPECT_THAT(embedding.body, HasSubstr("compile --embeddings"));
    EXPECT_EQ(client.get("/nothing").status, 404);
    const Answered wrong_method = client.get("/v1/completions");
    EXPECT_EQ(wrong_method.status, 405);
    EXPECT_EQ(wrong_method.header("Allow"), "POST, OPTIONS");
    EXPECT_EQ(Client(server.port()).post("/health", {}).header("Allow"), "GET, HEAD, OPTIONS");
    EXPECT_THAT(wrong_method.header("Date"), ::testing::EndsWith(" GMT"));
    (void)client.post("/v1/completions", {{"prompt", "abc"}, {"max_tokens", 2}});
    const std::string metrics = client.get("/metrics").body;
    EXPECT_THAT(metrics, HasSubstr("\ntessera_requests_total{outcome=\"finished\"} 1\n"));
    EXPECT_THAT(metrics, HasSubstr("\ntessera_generated_tokens_total 2\n"));
    EXPECT_THAT(metrics, HasSubstr("\ntessera_http_replies_total{status=\"404\"} 2\n"));
}

TEST_F(HttpProtocol, AsksForItsKey) {
    RunningServer server(artefact(), settings_, {.api_key = "secret"});
    Client client(server.port());
    for (const char* scheme : {"Bearer", "bearer", "BEARER"})
        EXPECT_EQ(client.get("/v1/models", fmt::format("Authorization: {} secret\r\n", scheme)).status, 200);
    for (const char* header :
         {"", "Authorization: Bearer secre\r\n", "Authorization: Bearer secretsecret\r\n",
          "Authorization: Bearer \r\n", "Authorization: secret\r\n"}) {
        const Answered answer = client.get("/v1/models", header);
        EXPECT_EQ(answer.status, 401) << header;
        EXPECT_EQ(answer.json()["error"]["code"], "invalid_api_key");
    }
    EXPECT_EQ(client.get("/health").status, 200);
}

TEST_F(HttpProtocol, ARequestLargerThanTheQueueIsServedInTurns) {
    RunningServer server(artefact(), {.sequences = 1, .waiting = 2, .batch_invariant = false});
    Client client(server.port());
    const Answered whole = client.post(
        "/v1/completions", {{"prompt", {"a", "b", "c", "d", "e"}}, {"max_tokens", 2}, {"temperature", 0}});
    ASSERT_EQ(whole.status, 200) << whole.body;
    ASSERT_EQ(whole.json()["choices"].size(), 5U);
    EXPECT_EQ(whole.json()["choices"][4]["text"], greedy("e", 2));

    Client large(server.port());
    const Json many = {{"prompt", std::vector<std::string>(2048, "a")}, {"max_tokens", 100}};
    large.send_post("/v1/completions", many.dump());
    while (server.engine().statistics().waiting < 3) std::this_thread::yield();
    const Answered full = client.post("/v1/completions", {{"prompt", "a"}, {"max_tokens", 2}});
    EXPECT_EQ(full.status, 503);
    EXPECT_EQ(full.header("Retry-After"), "1");
    EXPECT_EQ(full.json()["error"]["code"], "queue_full");
}

TEST_F(HttpProtocol, RefusesRequestsThatCannotBeComputed) {
    RunningServer server(artefact(), settings_);
    Client client(server.port());
    const auto error = [&](const Json& body) {
        const Answered answer = client.post("/v1/completions", body);
        EXPECT_EQ(answer.status, 400) << answer.body;
        return answer.json()["error"];
    };
    EXPECT_EQ(error({{"prompt", std::string(129, 'a')}})["code"], "context_length_exceeded");
    EXPECT_THAT(error({{"prompt", {1, 23}}})["message"], HasSubstr("token 23 is not of the vocabulary"));
    EXPECT_THAT(error({{"prompt", ""}})["message"], HasSubstr("prompt: has no token"));
    EXPECT_THAT(error({{"prompt", "a"}, {"logit_bias", {{"99", 1}}}})["message"], HasSubstr("token 99"));
    const Answered refused = client.post(
        "/v1/chat/completions", {{"messages", {{{"role", "user"}, {"content", "a"}}}},
                                 {"tools", {{{"type", "function"}, {"function", {{"name", "f"}}}}}}});
    EXPECT_EQ(refused.status, 400);
    EXPECT_EQ(refused.json()["error"]["param"], "tools");
}

TEST_F(HttpProtocol, MalformedRequests) {
    ServerSettings settings;
    settings.body_bytes = 1000;
    settings.header_bytes = 500;
    RunningServer server(artefact(), settings_, {}, settings);
    const auto status = [&](const std::string& bytes) {
        Client client(server.port());
        client.send(bytes);
        const Answered answer = client.read_answer();
        EXPECT_EQ(answer.json().contains("error"), answer.status >= 400) << answer.body;
        return answer.status;
    };
    const std::string post = "POST /v1/completions HTTP/1.1\r\nHost: x\r\n";
    EXPECT_EQ(status("hello\r\n\r\n"), 400);
    EXPECT_EQ(status("GET / HTTP/9.9\r\n\r\n"), 400);
    EXPECT_EQ(status("GET / HTTP/1.1\r\nBad Header\r\n\r\n"), 400);
    EXPECT_EQ(status("GET / HTTP/1.1\r\nA: " + std::string(600, 'b') + "\r\n\r\n"), 431);
    EXPECT_EQ(status(post + "Content-Length: 2000\r\n\r\n" + std::string(2000, ' ')), 413);
    EXPECT_EQ(
        status(post + "Transfer-Encoding: chunked\r\n\r\n7d0\r\n" + std::string(2000, ' ') + "\r\n0\r\n\r\n"),
        413);
    EXPECT_EQ(status(post + "Content-Length: x\r\n\r\n"), 400);
    EXPECT_EQ(status(post + "Transfer-Encoding: chunked\r\n\r\nzz\r\n"), 400);
    EXPECT_EQ(status(post + "Content-Length: 3\r\n\r\n{]}"), 400);
    EXPECT_EQ(status(post + "Content-Length: 0\r\n\r\n"), 400);
    EXPECT_EQ(status(post + "Expect: magic\r\nContent-Length: 3\r\n\r\n{}"), 417);
    EXPECT_EQ(status(post + "Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}"), 415);
    EXPECT_EQ(status("BREW /v1/completions HTTP/1.1\r\n\r\n"), 405);
    EXPECT_EQ(status("GET /health HTTP/1.0\r\n\r\n"), 200);
}

TEST_F(HttpProtocol, BodiesThatAreAskedForAndRequestsAtOnce) {
    RunningServer server(artefact(), settings_);
    const std::string body = R"({"prompt": "cab", "max_tokens": 1})";
    const std::string post =
        fmt::format("POST /v1/completions HTTP/1.1\r\nContent-Length: {}\r\n", body.size());
    Client client(server.port());
    client.send(post + "Expect: 100-continue\r\n\r\n");
    EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
    client.send(body);
    EXPECT_EQ(client.read_answer().status, 200);
    for (int i = 0; i < 3; ++i) client.send(post + "\r\n" + body);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(client.read_answer().status, 200);
}

TEST_F(HttpProtocol, EveryChoiceHasItsOwnDraws) {
    RunningServer server(artefact(), settings_);
    Client client(server.port());
    const auto texts = [&](const Json& seed) {
        const Json body = {{"prompt", std::vector<std::string>(8, "cab")},
                           {"max_tokens", 30},
                           {"temperature", 3},
                           {"seed", seed}};
        const Answered answer = client.post("/v1/completions", body);
        EXPECT_EQ(answer.status, 200) << answer.body;
        const Json json = answer.json();
        std::vector<std::string> all;
        for (const Json& choice : json["choices"]) all.push_back(choice["text"]);
        return all;
    };
    for (const Json& seed : {Json(), Json(5)}) {
        const std::vector<std::string> all = texts(seed);
        EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), 8U);
    }
    EXPECT_EQ(texts(5), texts(5));
    EXPECT_NE(texts(Json()), texts(Json()));
    const Json alone = {{"prompt", "cab"}, {"max_tokens", 30}, {"temperature", 3}, {"seed", 5}};
    EXPECT_EQ(client.post("/v1/completions", alone).json()["choices"][0]["text"], texts(5).at(0));
}

TEST_F(HttpProtocol, SeveralChoicesOfOnePrompt) {
    RunningServer server(artefact(), settings_);
    Client client(server.port());
    const Json body = {
        {"prompt", {"cab", "dad"}}, {"max_tokens", 30}, {"temperature", 3}, {"seed", 5}, {"n", 3}};
    const Json json = client.post("/v1/completions", body).json();
    ASSERT_EQ(json["choices"].size(), 6U) << json;
    std::set<std::string> texts;
    for (size_t i = 0; i < 6; ++i) {
        EXPECT_EQ(json["choices"][i]["index"], i);
        texts.insert(json["choices"][i]["text"]);
    }
    EXPECT_EQ(texts.size(), 6U);
    EXPECT_EQ(json["usage"]["prompt_tokens"], 6) << "those of each prompt count once";
    EXPECT_EQ(json["usage"]["completion_tokens"], 180);

    Json chat = {{"messages", {{{"role", "user"}, {"content", "cab"}}}},
                 {"max_tokens", 9},
                 {"temperature", 0},
                 {"n", 2},
                 {"stream", true}};
    const std::string stream = client.post("/v1/chat/completions", chat).body;
    EXPECT_THAT(stream, HasSubstr(R"("index":1,"delta":{"role":"assistant","content":""})"));
    chat["stream"] = false;
    const Json whole = client.post("/v1/chat/completions", chat).json();
    ASSERT_EQ(whole["choices"].size(), 2U);
    EXPECT_EQ(whole["choices"][1]["message"]["content"], greedy("ucaba", 9));
    EXPECT_EQ(whole["usage"]["prompt_tokens"], 5);
}

TEST_F(HttpProtocol, RequestsThatSayNothingAreDrawnAsTheModelsFilesSay) {
    toy_.tokenizer.push_back({"generation_config.json", R"({"do_sample": false})"});
    toy_.write(artefact());
    RunningServer server(artefact(), settings_);
    Client client(server.port());
    Json body = {{"prompt", "cab"}, {"max_tokens", 30}};
    EXPECT_EQ(client.post("/v1/completions", body).json()["choices"][0]["text"], greedy("cab", 30));
    body["temperature"] = 3;
    EXPECT_NE(client.post("/v1/completions", body).json()["choices"][0]["text"], greedy("cab", 30));
}

TEST_F(HttpProtocol, TheDrawnTokenIsAmongTheAlternatives) {
    RunningServer server(artefact(), settings_);
    Client client(server.port());
    for (const int count : {0, 1, 3}) {
        const Json body = {
            {"prompt", "cab"}, {"max_tokens", 40}, {"temperature", 5}, {"seed", 3}, {"logprobs", count}};
        const Json logs = client.post("/v1/completions", body).json()["choices"][0]["logprobs"];
        ASSERT_EQ(logs["tokens"].size(), 40U);
        EXPECT_EQ(logs["text_offset"][0], 3);  // behind the prompt
        EXPECT_EQ(logs["text_offset"][39], 42);
        for (size_t i = 0; i < 40; ++i) {
            const Json& top = logs["top_logprobs"][i];
            EXPECT_EQ(top.value(logs["tokens"][i].get<std::string>(), 1.0), logs["token_logprobs"][i]);
            EXPECT_TRUE(top.size() == static_cast<size_t>(count) ||
                        top.size() == static_cast<size_t>(count) + 1);
        }
    }
}

TEST_F(HttpProtocol, PagesOfOtherOrigins) {
    ServerSettings settings;
    settings.origins = {"https://chat.example"};
    RunningServer server(artefact(), settings_, {.api_key = "secret"}, settings);
    Client client(server.port());
    const auto ask = [&](const std::string& origin) {
        client.send(
            fmt::format("OPTIONS /v1/chat/completions HTTP/1.1\r\nHost: x\r\nOrigin: {}\r\n"
                        "Access-Control-Request-Method: POST\r\n"
                        "Access-Control-Request-Headers: authorization,content-type\r\n\r\n",
                        origin));
        const Answered answer = client.read_answer();
        EXPECT_EQ(answer.status, 204);
        EXPECT_EQ(answer.header("Access-Control-Allow-Headers"), "authorization,content-type");
        EXPECT_THAT(answer.header("Access-Control-Allow-Methods"), HasSubstr("POST"));
        return answer.header("Access-Control-Allow-Origin");
    };
    for (const char* allowed : {"http://localhost:3000", "https://localhost", "http://127.0.0.1:80",
                                "http://[::1]:5173", "https://chat.example"}) {
        EXPECT_EQ(ask(allowed), allowed);
        const Answered answer = client.get("/v1/models", fmt::format("Origin: {}\r\n", allowed));
        EXPECT_EQ(answer.status, 401);  // which the page can read
        EXPECT_EQ(answer.header("Access-Control-Allow-Origin"), allowed);
        EXPECT_EQ(answer.header("Vary"), "Origin");
    }
    for (const char* other :
         {"https://example.org", "http://localhost.example", "null", "https://chat.example.org",
          "http://localhost@example.org", "http://chat.example"})
        EXPECT_EQ(ask(other), "") << other;
}

}  // namespace
}  // namespace tessera::serve
