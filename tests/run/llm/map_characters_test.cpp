#include "run/llm/map_characters.h"

#include <string>

#include <gtest/gtest.h>

// Expected texts are those of the `tokenizers` library.

namespace tessera::llm {
namespace {

TEST(MapCharacters, CleanTextKeepsWhatAReaderSees) {
    EXPECT_EQ(clean_text("a\tb\nc\rd\u00a0e\u3000f"), "a b c d e f");
    EXPECT_EQ(clean_text(std::string("a\0b\x01\x7f\u0085\u00ad\u200b\ufeff\ue000\ufffdc", 22)), "abc");
    EXPECT_EQ(clean_text("\u0378\u2028"), "\u0378 ") << "unassigned characters stay";
}

TEST(MapCharacters, IdeographsStandAlone) {
    EXPECT_EQ(surround_ideographs("a\u4e00b"), "a \u4e00 b");
    EXPECT_EQ(surround_ideographs("\u3042\uac00"), "\u3042\uac00") << "kana and hangul are none";
    EXPECT_EQ(surround_ideographs("\U00020000\U0002b820"), " \U00020000 \U0002b820")
        << "the gap of the library";
}

TEST(MapCharacters, MarksAreRemoved) {
    EXPECT_EQ(remove_marks("e\u0301a\u0903\u20dd", true), "ea\u0903\u20dd")
        << "Mc and Me are no nonspacing marks";
    EXPECT_EQ(remove_marks("e\u0301a\u0903\u20dd", false), "ea");
}

TEST(MapCharacters, RulesOfNmt) {
    EXPECT_EQ(apply_nmt_rules("a\x01\x0b\u008f\u009f\x7f"
                              "b"),
              "ab");
    EXPECT_EQ(apply_nmt_rules("\t\n\x0c\r\u1680\u200b\u200f\u2028\u2581\ufeff\ufffd"), std::string(11, ' '));
    EXPECT_EQ(apply_nmt_rules("\u0085\u00a0"), "\u0085\u00a0");
}

TEST(MapCharacters, Punctuation) {
    for (const char32_t yes :
         {U'!', U'/', U':', U'@', U'[', U'`', U'{', U'~', U'$', U'\u00bf', U'\u2014', U'\u3001'})
        EXPECT_TRUE(is_punctuation(yes)) << static_cast<uint32_t>(yes);
    for (const char32_t no : {U'0', U'9', U'A', U'z', U' ', U'\x7f', U'\n', U'\u00a3', U'\u2190', U'\u4e00'})
        EXPECT_FALSE(is_punctuation(no)) << static_cast<uint32_t>(no);
}

}  // namespace
}  // namespace tessera::llm
