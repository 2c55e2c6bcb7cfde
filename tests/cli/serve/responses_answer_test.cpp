#include "cli/serve/responses_answer.h"

#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/serve/written_answer.h"

namespace tessera::serve {
namespace {

using ::testing::ElementsAreArray;
using Json = nlohmann::json;
using testing::LetterReader;
using testing::Written;

Written responses_answer(bool streams, const std::vector<std::string>& pieces,
                         const EngineEnd& end = {.reason = StopReason::kStopId}) {
    Written written;
    ResponsesAnswer answer({.id = "1",
                            .model = "m",
                            .streams = streams,
                            .reader = std::make_shared<LetterReader>(),
                            .echo = Json::object()},
                           written.sink());
    for (const std::string& piece : pieces) answer.add(TokenReport{}, piece);
    if (answer.end(end)) answer.finish();
    return written;
}

std::vector<Json> streamed(const std::string& stream) {
    std::vector<Json> events;
    std::istringstream lines(stream);
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with("data: ")) events.push_back(Json::parse(line.substr(6)));
    return events;
}

TEST(ResponsesAnswer, ThoughtsTextsAndCallsAreItems) {
    const Json whole = responses_answer(false, {"h", "h", "tt", "c{}.", "d{1}."}).json();
    EXPECT_EQ(whole["status"], "completed");
    const Json& output = whole["output"];
    ASSERT_EQ(output.size(), 4U) << whole;
    EXPECT_EQ(output[0]["type"], "reasoning");
    EXPECT_EQ(output[0]["content"][0], (Json{{"type", "reasoning_text"}, {"text", "hh"}}));
    EXPECT_EQ(output[1]["content"][0]["text"], "tt");
    EXPECT_EQ(output[2]["type"], "function_call");
    EXPECT_EQ(output[2]["name"], "c");
    EXPECT_EQ(output[2]["arguments"], "{}");
    EXPECT_EQ(output[3]["arguments"], "{1}");
    EXPECT_NE(output[2]["call_id"], output[3]["call_id"]);
    EXPECT_EQ(whole["usage"]["output_tokens_details"]["reasoning_tokens"], 2);
}

TEST(ResponsesAnswer, StreamsItemsOneAfterTheOther) {
    const std::vector<Json> events = streamed(responses_answer(true, {"h", "t", "c{", "}."}).stream);
    std::vector<std::string> types;
    for (const Json& event : events) types.push_back(event["type"].get<std::string>().substr(9));
    ASSERT_THAT(types, ElementsAreArray({"created",
                                         "in_progress",  //
                                         "output_item.added",
                                         "content_part.added",
                                         "reasoning_text.delta",  //
                                         "reasoning_text.done",
                                         "content_part.done",
                                         "output_item.done",  //
                                         "output_item.added",
                                         "content_part.added",
                                         "output_text.delta",  //
                                         "output_text.done",
                                         "content_part.done",
                                         "output_item.done",  //
                                         "output_item.added",
                                         "function_call_arguments.delta",  //
                                         "function_call_arguments.delta",
                                         "function_call_arguments.done",  //
                                         "output_item.done",
                                         "completed"}));
    EXPECT_EQ(events[14]["item"]["arguments"], "");
    EXPECT_EQ(events[14]["item"]["name"], "c");
    EXPECT_EQ(events[17]["arguments"], "{}");
    EXPECT_EQ(events[17]["item_id"], events[14]["item"]["id"]);
    EXPECT_EQ(events[18]["item"]["arguments"], "{}");
    for (size_t i = 14; i < 19; ++i) EXPECT_EQ(events[i]["output_index"], 2);
    ASSERT_EQ(events[19]["response"]["output"].size(), 3U);
    EXPECT_EQ(events[19]["response"]["output"][2], events[18]["item"]);
}

TEST(ResponsesAnswer, EndsBeforeItsTime) {
    const Json cut = responses_answer(false, {"c{"}, {}).json();
    EXPECT_EQ(cut["status"], "incomplete");
    ASSERT_EQ(cut["output"].size(), 1U);
    EXPECT_EQ(cut["output"][0]["status"], "incomplete");
    const Json nothing = responses_answer(false, {}).json();
    EXPECT_EQ(nothing["output"][0]["content"][0]["text"], "");
    const EngineEnd late{.is_late = true};
    EXPECT_EQ(responses_answer(false, {"t"}, late).reply.status, 504);
    const Written stream = responses_answer(true, {"t"}, late);
    EXPECT_TRUE(stream.has_ended);
    const Json last = streamed(stream.stream).back();
    EXPECT_EQ(last["type"], "response.failed");
    EXPECT_EQ(last["response"]["status"], "failed");
    EXPECT_TRUE(last["response"]["error"]["message"].is_string());
}

}  // namespace
}  // namespace tessera::serve
