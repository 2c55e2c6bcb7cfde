#include "run/llm/text_stream.h"

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "run/llm/fixtures.h"
#include "run/llm/load_tokenizer.h"
#include "support/error.h"

namespace tessera::llm {
namespace {

/// Pushes a text in pieces that end at random places.
std::vector<std::string> push_in_pieces(StopStrings& stop, std::string_view text, std::mt19937& random) {
    std::vector<std::string> released;
    while (!text.empty()) {
        const size_t size = std::min<size_t>(text.size(), random() % 4);
        released.push_back(stop.push(text.substr(0, size)));
        text.remove_prefix(size);
    }
    released.push_back(stop.finish());
    return released;
}

std::string join(const std::vector<std::string>& pieces) {
    std::string text;
    for (const std::string& piece : pieces) text += piece;
    return text;
}

TEST(StopStrings, HoldBackWhatMayBeginOne) {
    StopStrings stop({"\nUser:"});
    EXPECT_EQ(stop.push("Hello.\n"), "Hello.");
    EXPECT_EQ(stop.push("\nUs"), "\n");
    EXPECT_EQ(stop.push("er: Hi"), "");
    EXPECT_TRUE(stop.found());
    EXPECT_EQ(stop.push("\n\n"), "");
    EXPECT_EQ(stop.finish(), "");
}

TEST(StopStrings, ReleaseTheRestWhereNoneComes) {
    StopStrings stop({"stop", "toad"});
    EXPECT_EQ(stop.push("go to"), "go ");
    EXPECT_EQ(stop.finish(), "to");
    EXPECT_FALSE(stop.found());
}

TEST(StopStrings, TheFirstToBeCompleteCounts) {
    StopStrings stop({"abcd", "bc", "c"});
    EXPECT_EQ(stop.push("xxabcd"), "xxa") << "\"bc\" is complete before \"abcd\", and longer than \"c\"";
}

TEST(StopStrings, OverlapThemselves) {
    StopStrings stop({"aab"});
    EXPECT_EQ(stop.push("aaa"), "a");
    EXPECT_EQ(stop.push("ab!"), "a");
    EXPECT_TRUE(stop.found());
}

TEST(StopStrings, MayNotBeEmpty) {
    EXPECT_THROW(StopStrings({"a", ""}), Error);
}

TEST(StopStrings, DoNotDependOnThePieces) {
    for (uint32_t seed = 0; seed < 2000; ++seed) {
        std::mt19937 random(seed);
        const auto word = [&](size_t longest) {
            std::string text;
            for (size_t size = 1 + random() % longest; size > 0; --size) text += "ab"[random() % 2];
            return text;
        };
        const std::vector<std::string> strings = {word(5), word(5), word(8)};
        const std::string text = word(30);
        // In so many words: the place where one ends first, less the longest that ends there.
        std::string expected = text;
        for (size_t end = 1; end <= text.size() && expected == text; ++end) {
            size_t longest = 0;
            for (const std::string& string : strings)
                if (text.substr(0, end).ends_with(string)) longest = std::max(longest, string.size());
            if (longest > 0) expected = text.substr(0, end - longest);
            if (longest > 0) break;
        }
        StopStrings stop(strings);
        EXPECT_EQ(join(push_in_pieces(stop, text, random)), expected) << "seed " << seed;
        EXPECT_EQ(stop.found(), expected != text) << "seed " << seed;
    }
}

bool is_valid(std::string_view text) {
    return text.empty() || (first_run(text).valid && first_run(text).text.size() == text.size());
}

class Streams : public ::testing::TestWithParam<const char*> {
protected:
    Tokenizer tokenizer_ = load_tokenizer(test::fixtures() / GetParam());
};

// Ids without sense: bytes that never become characters, special tokens, spaces in front.
TEST_P(Streams, GiveWhatDecodingGivesForAnyIds) {
    const auto size = static_cast<uint32_t>(tokenizer_.vocabulary_size());
    for (uint32_t seed = 0; seed < 2000; ++seed) {
        std::mt19937 random(seed);
        std::vector<TokenId> ids;
        for (size_t count = random() % 20; count > 0; --count)
            ids.push_back(static_cast<TokenId>(random() % (seed % 2 == 0 ? size : std::min(size, 270u))));
        TextStream stream(tokenizer_, {}, true);
        std::string text;
        for (const TokenId id : ids) text += stream.push(id);
        text += stream.finish();
        EXPECT_EQ(text, tokenizer_.decode(ids)) << "seed " << seed;
    }
}

TEST_P(Streams, NeverSplitACharacter) {
    for (uint32_t seed = 0; seed < 1000; ++seed) {
        std::mt19937 random(seed);
        const std::string whole = test::random_unicode(random, 1 + random() % 24);
        // Cut where a character ends, held back up to there or not.
        const std::string stop_string = test::random_unicode(random, 1);
        TextStream stream(tokenizer_, {stop_string}, true);
        const auto ids = tokenizer_.encode(whole, {.parse_special = false});
        const std::string expected = tokenizer_.decode(ids);
        std::string text;
        for (const TokenId id : ids) {
            const std::string piece = stream.push(id);
            EXPECT_TRUE(is_valid(piece)) << "seed " << seed;
            text += piece;
        }
        text += stream.finish();
        EXPECT_EQ(text, expected.substr(0, expected.find(stop_string))) << "seed " << seed;
        EXPECT_EQ(stream.found_stop(), expected.find(stop_string) != std::string::npos);
    }
}

INSTANTIATE_TEST_SUITE_P(Shipped, Streams,
                         ::testing::Values("gpt2", "llama3", "smollm", "llama2", "qwen2", "metaspace",
                                           "spm_bytes", "spm_unknown"),
                         [](const auto& test_info) { return std::string(test_info.param); });

TEST(TextStream, KeepsTheSpaceInFrontInsideAText) {
    const Tokenizer tokenizer = load_tokenizer(test::fixtures() / "llama2");
    const auto ids = tokenizer.encode("king");
    for (const bool at_start : {true, false}) {
        TextStream stream(tokenizer, {}, at_start);
        std::string text;
        for (const TokenId id : ids) text += stream.push(id);
        EXPECT_EQ(text, at_start ? "king" : " king");
    }
}

TEST(TextStream, IdsWithoutATokenAreNoText) {
    const Tokenizer tokenizer = load_tokenizer(test::fixtures() / "gpt2");
    TextStream stream(tokenizer, {}, true);
    EXPECT_EQ(stream.push(static_cast<TokenId>(tokenizer.vocabulary_size())), "");
    EXPECT_EQ(stream.push(-1), "");
}

}  // namespace
}  // namespace tessera::llm
