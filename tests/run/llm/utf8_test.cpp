#include "run/llm/utf8.h"

#include <random>
#include <string>

#include <gtest/gtest.h>

#include "run/llm/fixtures.h"
#include "run/llm/utf8_stream.h"

namespace tessera::llm {
namespace {

TEST(Utf8, EveryCharacterComesBack) {
    for (char32_t c = 0; c <= 0x10ffff; ++c) {
        if (c == 0xd800) c = 0xe000;
        std::string text;
        append_utf8(text, c);
        const Utf8Step step = first_character(text + "x");
        ASSERT_TRUE(step.valid) << static_cast<uint32_t>(c);
        ASSERT_EQ(step.code_point, c);
        ASSERT_EQ(step.length, text.size());
    }
}

TEST(Utf8, MalformedSequencesAreOneByteEach) {
    for (const std::string text :
         {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xed\xbf\xbf",
          "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", "\xff", "\xc3", "\xe2\x82",
          "\xf0\x9f\xa6", "\xc3(", "\xe2(\xa1", "\xf0\x9f("}) {
        const Utf8Step step = first_character(text);
        EXPECT_FALSE(step.valid) << ::testing::PrintToString(text);
        EXPECT_EQ(step.length, 1u);
        EXPECT_EQ(step.code_point, 0xfffdu);
    }
}

TEST(Utf8, RunsAlternate) {
    const Utf8Run valid = first_run("a\u00e9\xff\xfe z");
    EXPECT_EQ(valid.text, "a\u00e9");
    EXPECT_TRUE(valid.valid);
    const Utf8Run malformed = first_run("\xff\xc3 z");
    EXPECT_EQ(malformed.text, "\xff\xc3");
    EXPECT_FALSE(malformed.valid);
}

TEST(Utf8, ClassesOfCharacters) {
    for (const uint32_t c : {0x9, 0xd, 0x20, 0x85, 0xa0, 0x1680, 0x2003, 0x2028, 0x202f, 0x205f, 0x3000})
        EXPECT_TRUE(is_white_space(c)) << c;
    for (const uint32_t c : {0x8, 0x21, 0x180e, 0x200b, 0x2060, 0xfeff}) EXPECT_FALSE(is_white_space(c)) << c;
    for (const char32_t c : {U'a', U'Z', U'7', U'_', U'é', U'я', U'語', U'\u0301', U'\u2160', U'\u24b6'})
        EXPECT_TRUE(is_word_character(c)) << static_cast<uint32_t>(c);
    for (const char32_t c : {U' ', U'-', U'½', U'€', U'🦙', U'\ufffd'}) EXPECT_FALSE(is_word_character(c));
}

TEST(Utf8Stream, HoldsUnfinishedCharacters) {
    Utf8Stream stream;
    EXPECT_EQ(stream.push("a\xf0\x9f"), "a");
    EXPECT_EQ(stream.push("\xa6"), "");
    EXPECT_EQ(stream.push("\x99!"), "🦙!");
    EXPECT_EQ(stream.push("\xe2\x82"), "");
    EXPECT_EQ(stream.finish(), "\xe2\x82");
    EXPECT_EQ(stream.finish(), "");
}

TEST(Utf8Stream, WhatCannotBecomeACharacterPassesAtOnce) {
    Utf8Stream stream;
    EXPECT_EQ(stream.push("\x80"), "\x80");
    EXPECT_EQ(stream.push("\xff"), "\xff");
    EXPECT_EQ(stream.push("\xed\xa0"), "\xed\xa0") << "a surrogate";
    EXPECT_EQ(stream.push("\xe0\x80"), "\xe0\x80") << "overlong";
    EXPECT_EQ(stream.push("\xf4\x90"), "\xf4\x90") << "above U+10FFFF";
    EXPECT_EQ(stream.push("\xc1"), "\xc1");
    EXPECT_EQ(stream.push("\xc3"), "");
    EXPECT_EQ(stream.push("("), "\xc3(");
    EXPECT_EQ(stream.finish(), "");
}

TEST(Utf8Stream, ValidTextIsReleasedInWholeCharactersHoweverItIsCut) {
    for (uint32_t seed = 0; seed < 300; ++seed) {
        std::mt19937 random(seed);
        const std::string text = test::random_unicode(random, 30);
        Utf8Stream stream;
        std::string released;
        for (size_t at = 0; at < text.size();) {
            const size_t size = std::min<size_t>(random() % 5, text.size() - at);
            const std::string part = stream.push(std::string_view(text).substr(at, size));
            ASSERT_TRUE(part.empty() || (first_run(part).valid && first_run(part).text == part))
                << "seed " << seed;
            released += part;
            at += size;
        }
        EXPECT_EQ(stream.finish(), "");
        EXPECT_EQ(released, text);
    }
}

TEST(Utf8Stream, NoByteIsLost) {
    for (uint32_t seed = 0; seed < 300; ++seed) {
        std::mt19937 random(seed);
        const std::string bytes = test::random_bytes(random, 64);
        Utf8Stream stream;
        std::string released;
        for (const char byte : bytes) released += stream.push({&byte, 1});
        EXPECT_EQ(released + stream.finish(), bytes) << "seed " << seed;
    }
}

}  // namespace
}  // namespace tessera::llm
