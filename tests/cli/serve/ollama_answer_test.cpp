#include "cli/serve/ollama_answer.h"

#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/serve/written_answer.h"

namespace tessera::serve {
namespace {

using Json = nlohmann::json;
using testing::LetterReader;
using testing::Written;

/// The answer to these pieces.
Written ollama_answer(bool streams, bool is_chat, const std::vector<std::string>& pieces,
                      const EngineEnd& end = {}) {
    Written written;
    OllamaAnswer answer({.model = "m",
                         .is_chat = is_chat,
                         .streams = streams,
                         .reader = std::make_shared<LetterReader>(),
                         .call_number = 1},
                        written.sink());
    for (const std::string& piece : pieces) answer.add({}, piece);
    if (answer.end(end)) answer.finish();
    return written;
}

TEST(OllamaAnswer, ThoughtsAndCallsAreApartFromTheText) {
    const Json whole = ollama_answer(false, true, {"hh", "ttc", "{}", ".d{\"a\"", ":1}.u"}).json();
    const Json& message = whole["message"];
    EXPECT_EQ(message["thinking"], "hh");
    EXPECT_EQ(message["content"], "ttu");
    ASSERT_EQ(message["tool_calls"].size(), 2U);
    EXPECT_EQ(message["tool_calls"][0]["function"], (Json{{"name", "c"}, {"arguments", Json::object()}}));
    EXPECT_EQ(message["tool_calls"][1]["function"], (Json{{"name", "d"}, {"arguments", {{"a", 1}}}}));
    EXPECT_NE(message["tool_calls"][0]["id"], message["tool_calls"][1]["id"]);
    const Json generated = ollama_answer(false, false, {"ht"}).json();
    EXPECT_EQ(generated["thinking"], "h");
    EXPECT_EQ(generated["response"], "t");
}

TEST(OllamaAnswer, StreamsWholeCalls) {
    const Written written = ollama_answer(true, true, {"t", "h", "c{", "\"a\":", "1}", "."});
    EXPECT_TRUE(written.has_ended);
    std::vector<Json> lines;
    std::istringstream stream(written.stream);
    for (std::string line; std::getline(stream, line);) lines.push_back(Json::parse(line));
    ASSERT_EQ(lines.size(), 4U) << written.stream;
    EXPECT_EQ(lines[0]["message"]["content"], "t");
    EXPECT_EQ(lines[1]["message"]["thinking"], "h");
    EXPECT_EQ(lines[2]["message"]["tool_calls"][0]["function"]["arguments"]["a"], 1);
    EXPECT_FALSE(lines[2]["done"]);
    EXPECT_TRUE(lines[3]["done"]);
    EXPECT_FALSE(lines[3]["message"].contains("tool_calls"));
}

TEST(OllamaAnswer, ACallThatIsCutIsNone) {
    const Json whole = ollama_answer(false, true, {"tc{\"a\""}).json();
    EXPECT_EQ(whole["done_reason"], "length");
    EXPECT_FALSE(whole["message"].contains("tool_calls"));
}

TEST(OllamaAnswer, Failures) {
    const EngineEnd late{.is_late = true};
    const Written whole = ollama_answer(false, true, {"t"}, late);
    EXPECT_EQ(whole.reply.status, 504);
    EXPECT_TRUE(whole.json()["error"].is_string());
    const Written stream = ollama_answer(true, true, {"t"}, late);
    EXPECT_TRUE(stream.has_ended);
    const std::string last = stream.stream.substr(stream.stream.find('\n') + 1);
    EXPECT_TRUE(Json::parse(last)["error"].is_string());
}

}  // namespace
}  // namespace tessera::serve
