// /v1/responses over real sockets, on a model that is known by heart: its tokens are the letters a to w.

#include <set>
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

using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using Json = nlohmann::json;
using testing::Answered;
using testing::Client;
using testing::RunningServer;

class Responses : public testing::ToyFixture {};

TEST_F(Responses, AnswersAsAWhole) {
    RunningServer server(artefact(), settings_);
    Client client(server.port());
    const std::string text = greedy("sdeucaba", 9);
    const Json body = {{"model", "m"},
                       {"instructions", "de"},
                       {"input", "cab"},
                       {"temperature", 0},
                       {"metadata", {{"k", "v"}}},
                       {"max_output_tokens", 9},
                       {"include", {"message.output_text.logprobs"}}};
    const Answered answer = client.post("/v1/responses", body);
    ASSERT_EQ(answer.status, 200) << answer.body;
    const Json whole = answer.json();
    EXPECT_EQ(whole["object"], "response");
    EXPECT_EQ(whole["status"], "incomplete");
    EXPECT_EQ(whole["incomplete_details"]["reason"], "max_output_tokens");
    EXPECT_EQ(whole["instructions"], "de");
    EXPECT_EQ(whole["metadata"]["k"], "v");
    ASSERT_EQ(whole["output"].size(), 1U);
    const Json& message = whole["output"][0];
    EXPECT_EQ(message["type"], "message");
    EXPECT_EQ(message["role"], "assistant");
    EXPECT_EQ(message["content"][0]["text"], text);
    EXPECT_EQ(message["content"][0]["logprobs"].size(), 9U);
    EXPECT_EQ(whole["usage"]["input_tokens"], 8);
    EXPECT_EQ(whole["usage"]["output_tokens"], 9);
    EXPECT_EQ(whole["usage"]["total_tokens"], 17);
}

TEST_F(Responses, StreamsInTheOrderOfOpenAi) {
    RunningServer server(artefact(), settings_);
    Client client(server.port());
    const Answered answer = client.post(
        "/v1/responses", {{"input", "cab"}, {"temperature", 0}, {"max_output_tokens", 3}, {"stream", true}});
    ASSERT_EQ(answer.status, 200);
    EXPECT_EQ(answer.header("Content-Type"), "text/event-stream; charset=utf-8");
    std::vector<Json> events;
    std::istringstream lines(answer.body);
    std::string name;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("event: ")) name = line.substr(7);
        if (!line.starts_with("data: ")) continue;
        events.push_back(Json::parse(line.substr(6)));
        EXPECT_EQ(events.back()["type"], name);
        EXPECT_EQ(events.back()["sequence_number"], events.size() - 1);
    }
    std::vector<std::string> types;
    for (const Json& event : events) types.push_back(event["type"].get<std::string>().substr(9));
    ASSERT_THAT(
        types, ElementsAreArray({"created", "in_progress", "output_item.added", "content_part.added",
                                 "output_text.delta", "output_text.delta", "output_text.delta",
                                 "output_text.done", "content_part.done", "output_item.done", "incomplete"}));
    const std::string text = greedy("ucaba", 3);
    std::set<std::string> items;
    for (size_t i = 3; i < 9; ++i) items.insert(events[i]["item_id"].get<std::string>());
    EXPECT_THAT(items, ElementsAreArray({events[2]["item"]["id"].get<std::string>()}));
    for (size_t i = 0; i < 3; ++i) EXPECT_EQ(events[4 + i]["delta"], text.substr(i, 1));
    EXPECT_EQ(events[7]["text"], text);
    EXPECT_EQ(events[8]["part"]["text"], text);
    EXPECT_EQ(events[9]["item"]["content"][0]["text"], text);
    EXPECT_EQ(events[10]["response"]["output"][0], events[9]["item"]);
    EXPECT_EQ(events[10]["response"]["id"], events[0]["response"]["id"]);
    EXPECT_EQ(events[0]["response"]["status"], "in_progress");
}

TEST_F(Responses, IsCompletedWhereTheModelEndsTheText) {
    toy_.eos = {'w' - 'a'};
    toy_.write(artefact());
    RunningServer server(artefact(), settings_);
    Client client(server.port());
    const Json body = {{"input", "cab"}, {"temperature", 0}};
    const Json whole = client.post("/v1/responses", body).json();
    EXPECT_EQ(whole["status"], "completed");
    EXPECT_EQ(whole["incomplete_details"], nullptr);
    const std::string text = greedy("ucaba", 120);
    EXPECT_EQ(whole["output"][0]["content"][0]["text"], text.substr(0, text.find('w')));
}

TEST_F(Responses, KeepsNothing) {
    RunningServer server(artefact(), settings_);
    Client client(server.port());
    const Answered answer = client.get("/v1/responses/resp_1");
    EXPECT_EQ(answer.status, 404);
    EXPECT_THAT(answer.body, HasSubstr("keeps no answers"));
    client.send("DELETE /v1/responses/resp_1 HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(client.read_answer().status, 404);
    EXPECT_EQ(client.post("/v1/responses", {{"input", "a"}, {"previous_response_id", "r"}})
                  .json()["error"]["param"],
              "previous_response_id");
}

}  // namespace
}  // namespace tessera::serve
