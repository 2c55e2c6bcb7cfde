#include "run/llm/think_view.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tessera::llm {
namespace {

std::string shown(bool folds, bool inside, const std::vector<std::string>& pieces) {
    std::string text;
    ThinkView view(folds, inside, [&](std::string_view part) { text += part; });
    for (const std::string& piece : pieces) view.push(piece);
    view.finish();
    return text;
}

TEST(ThinkView, FoldsWhatIsBetweenTheMarks) {
    EXPECT_EQ(shown(true, false, {"<think>hm\n</think>\n\nYes"}), "[thought, 3 bytes]\nYes");
    EXPECT_EQ(shown(true, false, {"a <think>b</think> c"}), "a [thought, 1 bytes]\nc");
    EXPECT_EQ(shown(true, true, {"hm</think>Yes"}), "[thought, 2 bytes]\nYes");
    EXPECT_EQ(shown(true, false, {"a < b, a <thin"}), "a < b, a <thin");
    EXPECT_EQ(shown(true, false, {"x<think>endless"}), "x[thought, 7 bytes, without an end]");
}

TEST(ThinkView, FoldsTheSameHoweverTheTextIsDivided) {
    const std::string whole = "p <think>q < r</think>\n s <think></think>t";
    const std::string expected = shown(true, false, {whole});
    for (size_t first = 0; first <= whole.size(); ++first)
        for (size_t second = first; second <= whole.size(); ++second)
            EXPECT_EQ(
                shown(true, false,
                      {whole.substr(0, first), whole.substr(first, second - first), whole.substr(second)}),
                expected);
}

TEST(ThinkView, ShowsEverythingWhereNothingIsFolded) {
    EXPECT_EQ(shown(false, true, {"<think>hm</th", "ink>Yes"}), "<think>hm</think>Yes");
}

TEST(ThinkView, KnowsAPromptThatOpensTheBlock) {
    EXPECT_TRUE(ends_in_thinking("<|assistant|>\n<think>\n"));
    EXPECT_FALSE(ends_in_thinking("<|assistant|>\n<think>\n\n</think>\n\n"));
    EXPECT_FALSE(ends_in_thinking(""));
}

}  // namespace
}  // namespace tessera::llm
