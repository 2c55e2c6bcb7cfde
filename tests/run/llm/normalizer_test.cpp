#include "run/llm/normalizer.h"

#include <vector>

#include <gtest/gtest.h>

#include "run/llm/map_characters.h"

namespace tessera::llm {
namespace {

bool begins(const NormalizerStep& step, std::string_view text) {
    return normalize_from_start(std::vector<NormalizerStep>{step}, text).begins;
}

TEST(Normalizer, KnowsWhetherTheFirstCharacterIsStillThere) {
    EXPECT_TRUE(begins(StripSpace{}, "a "));
    EXPECT_FALSE(begins(StripSpace{}, " a"));
    EXPECT_TRUE(begins((StripSpace{.left = false, .right = true}), " a"));
    EXPECT_FALSE(begins(RemoveMarks{}, "\u0301a"));
    EXPECT_FALSE(begins(MapCharacters{&clean_text}, "\u200ba"));
    EXPECT_TRUE(begins(MapCharacters{&clean_text}, "\ta"));
    EXPECT_TRUE(begins((ReplaceText{"a", "b"}), "ab"));
    EXPECT_FALSE(begins((ReplaceText{"a", ""}), "ab"));
    EXPECT_FALSE(begins((ReplaceText{"ab", "x"}), "abc")) << "stands for the last of them";
    EXPECT_FALSE(begins((ReplacePattern{Regex::compile(" {2,}", "test"), "_"}), "  a"));
    EXPECT_TRUE(begins((ReplacePattern{Regex::compile(" {2,}", "test"), "_"}), "a  "));
    EXPECT_TRUE(begins(Prepend{"_"}, "a"));
    EXPECT_FALSE(begins(Lowercase{}, "")) << "nothing begins";
}

TEST(Normalizer, ACharacterMayBecomeSeveralOfWhichOneStays) {
    // U+0E33 becomes U+0E4D, a mark, and U+0E32.
    const std::vector<NormalizerStep> steps = {UnicodeForm::kNfkd, RemoveMarks{.only_nonspacing = false}};
    const NormalizedText result = normalize_from_start(steps, "\u0e33x");
    EXPECT_EQ(result.text, "\u0e32x");
    EXPECT_TRUE(result.begins);
}

TEST(Normalizer, WritesTheByteAlphabet) {
    EXPECT_EQ(normalize(std::vector<NormalizerStep>{WriteByteAlphabet{}}, "a \u00e9\xff"),
              "a\u0120\u00c3\u00a9\u00ff");
}

TEST(Normalizer, APrefixMayGoToNothing) {
    const std::vector<NormalizerStep> removes = {ReplaceText{"a", ""}};
    std::vector<NormalizerStep> steps = removes;
    steps.emplace_back(Prepend{"_"});
    EXPECT_EQ(normalize(steps, "a"), "");
    steps = removes;
    steps.emplace_back(Prepend{.text = "_", .to_empty = true});
    EXPECT_EQ(normalize(steps, "a"), "_");
}

}  // namespace
}  // namespace tessera::llm
