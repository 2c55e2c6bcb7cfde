#include "llm/think_split.h"

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

}  // namespace
}  // namespace tessera::llm
