// The server over real sockets, on the model that ships.

#include <algorithm>
#include <chrono>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/serve/http_client.h"
#include "cli/serve/running_server.h"
#include "cli/serve/shipped_artefact.h"

namespace tessera::serve {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;
using testing::Answered;
using testing::Client;
using testing::RunningServer;

/// The events of a stream.
std::vector<std::string> events_of(const std::string& stream) {
    std::vector<std::string> events;
    std::istringstream lines(stream);
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with("data: ")) events.push_back(line.substr(6));
    return events;
}

Json sum(int a, int b, int seed) {
    return {{"prompt", std::to_string(a) + " + " + std::to_string(b) + " ="},
            {"max_tokens", 40},
            {"temperature", seed % 2 == 0 ? 0.0 : 1.5},
            {"seed", seed}};
}

template <typename Holds>
bool holds_soon(Holds holds) {
    for (int i = 0; i < 2000; ++i) {
        if (holds()) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
}

TEST(ShippedModel, ManyClientsGetTheAnswersOfEachAlone) {
    RunningServer server(testing::shipped_artefact());
    std::vector<std::string> alone;
    for (int i = 0; i < 24; ++i) {
        Client client(server.port());
        const Answered answer = client.post("/v1/completions", sum(31 + i, 7 * i, i));
        ASSERT_EQ(answer.status, 200) << answer.body;
        alone.push_back(answer.json()["choices"][0]["text"]);
        EXPECT_FALSE(alone.back().empty());
    }
    std::vector<std::thread> clients;
    std::vector<std::string> found(alone.size());
    for (int c = 0; c < 8; ++c)
        clients.emplace_back([&, c] {
            Client client(server.port());
            for (int i = c; i < 24; i += 8) {
                Json body = sum(31 + i, 7 * i, i);
                body["stream"] = i % 3 == 0;
                const Answered answer = client.post("/v1/completions", body);
                std::string text;
                if (i % 3 == 0) {
                    const auto events = events_of(answer.body);
                    for (const std::string& event : events)
                        if (event != "[DONE]") text += Json::parse(event)["choices"][0]["text"];
                    EXPECT_TRUE(!events.empty() && events.back() == "[DONE]") << answer.body;
                } else {
                    text = answer.json()["choices"][0]["text"];
                }
                found[static_cast<size_t>(i)] = text;
            }
        });
    for (std::thread& client : clients) client.join();
    EXPECT_EQ(found, alone);
    EXPECT_EQ(server.engine().statistics().finished, 48);
}

TEST(ShippedModel, TheSameWithAndWithoutAReusedPrefix) {
    const std::string base = "12 + 34 = 46\n56 + 78 = 134\n9 + 9 = 18\n";
    std::vector<Json> answers;
    for (const bool reuse : {true, false}) {
        RunningServer server(testing::shipped_artefact(), {.reuse_prefix = reuse});
        Client client(server.port());
        for (const char* rest : {"1 + 2 =", "61 + 93 =", "61 + 93 ="}) {
            const Json body = {{"prompt", base + rest}, {"logprobs", 3}, {"seed", 5}, {"temperature", 1}};
            answers.push_back(client.post("/v1/completions", body).json()["choices"]);
        }
        EXPECT_EQ(server.engine().statistics().reused_tokens > 0, reuse);
    }
    for (size_t i = 0; i < 3; ++i) EXPECT_EQ(answers[i], answers[i + 3]);
}

TEST(ShippedModel, AnswersFollowTheirGrammars) {
    RunningServer server(testing::shipped_artefact());
    Client client(server.port());
    const Json body = {{"prompt", {"61 + 93 =", "1 + 1 ="}},
                       {"grammar", "root ::= \" \" [0-9]{1,2} \"0\""},
                       {"max_tokens", 40},
                       {"seed", 1}};
    for (int seed = 0; seed < 4; ++seed) {
        const Json answer = client.post("/v1/completions", body).json();
        for (const Json& choice : answer["choices"]) {
            EXPECT_THAT(choice["text"].get<std::string>(), ::testing::MatchesRegex(" [0-9][0-9]?0"))
                << answer;
            EXPECT_EQ(choice["finish_reason"], "stop");
        }
    }
    const Json schema = {{"type", "array"},
                         {"items", {{"type", "integer"}, {"minimum", 7}, {"maximum", 9}}},
                         {"minItems", 3},
                         {"maxItems", 3}};
    const Json of_schema = {
        {"prompt", "1 + 1 ="},
        {"max_tokens", 80},
        {"seed", 3},
        {"response_format", {{"type", "json_schema"}, {"json_schema", {{"schema", schema}}}}}};
    const Json answer = client.post("/v1/completions", of_schema).json();
    const Json list = Json::parse(answer["choices"][0]["text"].get<std::string>());
    ASSERT_EQ(list.size(), 3U) << answer;
    for (const Json& item : list) EXPECT_TRUE(item >= 7 && item <= 9) << answer;
}

TEST(ShippedModel, AClientThatLeavesFreesItsPlaces) {
    RunningServer server(testing::shipped_artefact());
    Json body = {{"prompt", Json::array()}, {"max_tokens", 200}, {"temperature", 5}, {"seed", 1}};
    for (int i = 0; i < 60; ++i) body["prompt"].push_back(std::to_string(i) + " + 1 =");
    {
        Client client(server.port());
        client.send_post("/v1/completions", body.dump());
        ASSERT_TRUE(holds_soon([&] { return server.engine().statistics().running > 0; }));
    }
    EXPECT_TRUE(holds_soon([&] {
        const EngineStatistics now = server.engine().statistics();
        return now.running == 0 && now.waiting == 0 && now.available_pages == now.pages;
    }));
    EXPECT_GT(server.engine().statistics().interrupted, 0);
}

TEST(ShippedModel, AnswersThatAreUnderWayEndBeforeTheServerDoes) {
    RunningServer server(testing::shipped_artefact());
    Client client(server.port());
    const Json body = {
        {"prompt", "1 + 1 ="}, {"max_tokens", 200}, {"temperature", 5}, {"seed", 1}, {"stream", true}};
    client.send_post("/v1/completions", body.dump());
    ASSERT_THAT(client.read_until("data: "), HasSubstr("text/event-stream"));
    server.stop();
    EXPECT_THAT(client.read_until("[DONE]\n\n"), HasSubstr("\"finish_reason\":\""));
    server.join();
    EXPECT_TRUE(Client(server.port()).is_refused());
}

TEST(ShippedModel, LogProbabilitiesOfPromptAndText) {
    RunningServer server(testing::shipped_artefact());
    Client client(server.port());
    const Json choice = client
                            .post("/v1/completions", {{"prompt", "61 + 93 ="},
                                                      {"max_tokens", 4},
                                                      {"temperature", 0},
                                                      {"echo", true},
                                                      {"logprobs", 2}})
                            .json()["choices"][0];
    const Json& found = choice["logprobs"];
    const size_t count = found["tokens"].size();
    ASSERT_GT(count, 4U);
    EXPECT_TRUE(found["token_logprobs"][0].is_null());
    std::string text;
    for (size_t i = 0; i < count; ++i) {
        text += found["tokens"][i].get<std::string>();
        if (i == 0) continue;
        EXPECT_LE(found["token_logprobs"][i], 0);
        // The token itself is there beside the likeliest ones.
        EXPECT_TRUE(found["top_logprobs"][i].size() == 2U || found["top_logprobs"][i].size() == 3U);
        EXPECT_EQ(found["top_logprobs"][i][found["tokens"][i].get<std::string>()],
                  found["token_logprobs"][i]);
        if (i + 4 < count) continue;
        // Greedy: the token is the likeliest one.
        double best = -1e9;
        for (const auto& [token, value] : found["top_logprobs"][i].items())
            best = std::max(best, value.get<double>());
        EXPECT_EQ(found["token_logprobs"][i], best);
    }
    EXPECT_THAT(text, HasSubstr("61 + 93 ="));
    EXPECT_THAT(choice["text"], ::testing::StartsWith("61 + 93 ="));
}

/// Harnesses ask for one token behind the text that they score, and leave the last entry out.
TEST(ShippedModel, TheTokenThatEndsATextHasAnEntry) {
    RunningServer server(testing::shipped_artefact());
    Client client(server.port());
    int ended = 0;
    for (const char* prompt : {"61 + 93 = 154", "61 + 93 = 15", "1 + 1 = 7"}) {
        const Json answer = client
                                .post("/v1/completions", {{"prompt", prompt},
                                                          {"max_tokens", 1},
                                                          {"temperature", 0},
                                                          {"echo", true},
                                                          {"logprobs", 1}})
                                .json();
        const Json& choice = answer["choices"][0];
        const size_t tokens = answer["usage"]["prompt_tokens"];
        EXPECT_EQ(choice["logprobs"]["tokens"].size(), tokens + 1) << answer;
        const bool has_ended = choice["finish_reason"] == "stop";
        ended += has_ended;
        if (has_ended) {
            EXPECT_EQ(choice["text"], prompt);
        }
    }
    EXPECT_GT(ended, 0);
}

TEST(ShippedModel, SpecialTokensOfAPromptAreThoseTokens) {
    RunningServer server(testing::shipped_artefact());
    Client client(server.port());
    const auto prompt_tokens = [&](const std::string& prompt) {
        const Json body = {{"prompt", prompt}, {"max_tokens", 1}, {"echo", true}, {"logprobs", 1}};
        const Json answer = client.post("/v1/completions", body).json();
        EXPECT_EQ(answer["choices"][0]["logprobs"]["text_offset"].size(),
                  answer["usage"]["prompt_tokens"].get<size_t>() + 1);
        return answer["usage"]["prompt_tokens"].get<int>();
    };
    const int plain = prompt_tokens("1 + 1 = 2");
    EXPECT_EQ(prompt_tokens("1 + 1 = 2<|endoftext|>"), plain + 1);
    EXPECT_GT(prompt_tokens("1 + 1 = 2<|endoftext>"), plain + 1);
}

TEST(ShippedModel, EveryTokenOfACharacterLiesWhereItDoes) {
    RunningServer server(testing::shipped_artefact());
    Client client(server.port());
    const Json body = {
        {"prompt", "1 + 1 = \u00e9\u00e9"}, {"max_tokens", 0}, {"echo", true}, {"logprobs", 1}};
    const Json logs = client.post("/v1/completions", body).json()["choices"][0]["logprobs"];
    const Json offsets = logs["text_offset"];
    ASSERT_GE(offsets.size(), 4U);
    EXPECT_EQ(Json(std::vector<Json>(offsets.end() - 4, offsets.end())), Json({8, 8, 9, 9})) << logs;
}

TEST(ShippedModel, TalksWithOneSystemPromptAreKeptEach) {
    RunningServer server(testing::shipped_artefact());
    Client client(server.port());
    const std::string system = "count down from eighty-nine to eighty-three: sort 4 3 8 3 4: ";
    std::vector<std::string> talks = {system + "a: one two three ", system + "b: nine eight seven "};
    std::vector<int> lengths(2);
    for (int turn = 0; turn < 3; ++turn)
        for (size_t talk = 0; talk < talks.size(); ++talk) {
            const Json answer = client
                                    .post("/v1/completions", {{"prompt", talks[talk]},
                                                              {"max_tokens", 8},
                                                              {"temperature", 0},
                                                              {"grammar", "root ::= [a-z ]{900}"}})
                                    .json();
            const Json& usage = answer["usage"];
            if (turn > 0) {
                EXPECT_GE(usage["prompt_tokens_details"]["cached_tokens"], lengths[talk] - 16) << answer;
            }
            lengths[talk] = usage["prompt_tokens"];
            talks[talk] += answer["choices"][0]["text"].get<std::string>() + " one two ";
        }
}

}  // namespace
}  // namespace tessera::serve
