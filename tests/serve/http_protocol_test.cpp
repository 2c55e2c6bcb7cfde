// What the server makes of HTTP, on a model that is known by heart: its tokens are the letters a to w.

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/toy_model.h"
#include "serve/http_client.h"
#include "serve/running_server.h"

namespace tessera::serve {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;
using testing::Answered;
using testing::Client;
using testing::RunningServer;

class HttpProtocol : public ::testing::Test {
protected:
    HttpProtocol() {
        std::string vocabulary;
        for (int id = 0; id < 23; ++id)
            vocabulary += fmt::format("{}\"{}\": {}", id == 0 ? "" : ", ", static_cast<char>('a' + id), id);
        toy_.tokenizer = {
            {"tokenizer.json",
             fmt::format(R"({{"version": "1.0", "added_tokens": [], "normalizer": null, "pre_tokenizer": null,
 "post_processor": null, "decoder": {{"type": "Fuse"}}, "model": {{"type": "BPE", "vocab": {{{}}}, "merges": []}}}})",
                         vocabulary)},
            {"chat_template.jinja",
             "{% for m in messages %}{{ {'user': 'u', 'assistant': 'a', 'system': 's'}[m.role] }}"
             "{{ m.content }}{% endfor %}{% if add_generation_prompt %}a{% endif %}"}};
        toy_.write(artefact());
    }
    std::filesystem::path artefact() const { return folder_.path() / "toy.tsr"; }
    /// The text after a prompt in letters.
    std::string greedy(const std::string& prompt, size_t count) const {
        std::vector<int32_t> tokens;
        for (const char letter : prompt) tokens.push_back(letter - 'a');
        std::string text;
        for (size_t i = 0; i < count; ++i) {
            tokens.push_back(static_cast<int32_t>(toy_.answer(tokens)));
            text += static_cast<char>('a' + tokens.back());
        }
        return text;
    }

    runtime::ToyModel toy_;
    TemporaryFolder folder_;
    const EngineSettings settings_{.batch_invariant = false};  // the toy has no plan to ask
};

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
    EXPECT_EQ(client.get("/v1/models/other").status, 404);
    EXPECT_EQ(client.post("/v1/embeddings", {{"input", "a"}}).status, 501);
    EXPECT_EQ(client.get("/").status, 404);
    EXPECT_EQ(client.get("/v1/completions").status, 405);
    (void)client.post("/v1/completions", {{"prompt", "abc"}, {"max_tokens", 2}});
    const std::string metrics = client.get("/metrics").body;
    EXPECT_THAT(metrics, HasSubstr("\ntessera_requests_total{outcome=\"finished\"} 1\n"));
    EXPECT_THAT(metrics, HasSubstr("\ntessera_generated_tokens_total 2\n"));
    EXPECT_THAT(metrics, HasSubstr("\ntessera_http_replies_total{status=\"404\"} 2\n"));
}

TEST_F(HttpProtocol, AsksForItsKey) {
    RunningServer server(artefact(), settings_, {.api_key = "secret"});
    Client client(server.port());
    EXPECT_EQ(client.get("/v1/models", "Authorization: Bearer secret\r\n").status, 200);
    for (const char* header :
         {"", "Authorization: Bearer secre\r\n", "Authorization: Bearer secretsecret\r\n",
          "Authorization: Bearer \r\n", "Authorization: secret\r\n"}) {
        const Answered answer = client.get("/v1/models", header);
        EXPECT_EQ(answer.status, 401) << header;
        EXPECT_EQ(answer.json()["error"]["code"], "invalid_api_key");
    }
    EXPECT_EQ(client.get("/health").status, 200);
}

TEST_F(HttpProtocol, RefusesMoreThanTheQueueHolds) {
    RunningServer server(artefact(), {.sequences = 1, .waiting = 2, .batch_invariant = false});
    Client client(server.port());
    const Answered full =
        client.post("/v1/completions", {{"prompt", {"a", "b", "c", "d"}}, {"max_tokens", 2}});
    EXPECT_EQ(full.status, 503);
    EXPECT_EQ(full.header("Retry-After"), "1");
    EXPECT_EQ(full.json()["error"]["code"], "queue_full");
    EXPECT_EQ(client.post("/v1/completions", {{"prompt", {"a", "b", "c"}}, {"max_tokens", 2}}).status, 200);
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
    EXPECT_THAT(error({{"prompt", ""}})["message"], HasSubstr("empty prompt"));
    EXPECT_THAT(error({{"prompt", "a"}, {"logit_bias", {{"99", 1}}}})["message"], HasSubstr("token 99"));
    const Answered refused = client.post(
        "/v1/chat/completions",
        {{"messages", {{{"role", "user"}, {"content", "a"}}}}, {"tools", {{{"type", "function"}}}}});
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

}  // namespace
}  // namespace tessera::serve
