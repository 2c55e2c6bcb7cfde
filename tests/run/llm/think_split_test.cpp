#include "run/llm/think_split.h"

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera::llm {
namespace {

using ::testing::ElementsAre;
using Part = ThinkSplit::Part;

std::vector<Part> split(bool inside, const std::vector<std::string>& pieces) {
    ThinkSplit split(inside);
    std::vector<Part> parts;
    for (const std::string& piece : pieces)
        for (Part& part : split.push(piece)) parts.push_back(std::move(part));
    for (Part& part : split.finish()) parts.push_back(std::move(part));
    return parts;
}

TEST(ThinkSplit, TellsThoughtsFromText) {
    EXPECT_THAT(split(false, {"<thi", "nk>h", "m</think>\n", "\nYes"}),
                ElementsAre(Part{true, false, "h"}, Part{true, true, "m"}, Part{false, false, "Yes"}));
    EXPECT_THAT(split(true, {"hm</think>Yes"}),
                ElementsAre(Part{true, true, "hm"}, Part{false, false, "Yes"}));
    EXPECT_THAT(split(false, {"a < b <th"}),
                ElementsAre(Part{false, false, "a < b "}, Part{false, false, "<th"}));
    EXPECT_THAT(split(true, {}), ElementsAre(Part{true, false, ""}));
    EXPECT_THAT(split(false, {""}), ElementsAre());
}

/// Everything behind an exclamation mark are arguments of a call.
class BangReader final : public AnswerReader {
public:
    std::vector<AnswerEvent> push(std::string_view piece) override {
        std::vector<AnswerEvent> events;
        const size_t bang = calls_ ? 0 : piece.find('!');
        if (bang > 0)
            events.push_back({.kind = AnswerEvent::Kind::kText, .text = std::string(piece.substr(0, bang))});
        if (bang == std::string_view::npos) return events;
        events.push_back({.kind = AnswerEvent::Kind::kArguments,
                          .text = std::string(piece.substr(bang + (calls_ ? 0 : 1)))});
        calls_ = true;
        return events;
    }
    std::vector<AnswerEvent> finish() override { return {}; }

private:
    bool calls_ = false;
};

TEST(ThinkReader, LeavesCallsToAnotherReader) {
    using Kind = AnswerEvent::Kind;
    ThinkReader reader(true, std::make_shared<BangReader>());
    EXPECT_THAT(reader.push("hm</think>Yes <th"),
                ElementsAre(AnswerEvent{Kind::kThought, "hm"}, AnswerEvent{Kind::kText, "Yes "}));
    EXPECT_THAT(reader.push("e!<think>"),
                ElementsAre(AnswerEvent{Kind::kText, "<the"}, AnswerEvent{Kind::kArguments, "<think>"}));
    EXPECT_TRUE(reader.finish().empty());
}

}  // namespace
}  // namespace tessera::llm
