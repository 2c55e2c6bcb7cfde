#include "run/llm/character_map.h"

#include <random>
#include <string>

#include <gmock/gmock.h>

#include "run/llm/base64.h"
#include "run/llm/fixtures.h"
#include "support/error.h"

namespace tessera::llm {
namespace {

using ::testing::HasSubstr;

/// The map of tests/run/llm/data/unigram: make_tokenizers.py lists its rules.
std::string bytes_of_map() {
    const nlohmann::json document = test::read_json(test::fixtures() / "unigram/tokenizer.json");
    return *decode_base64(
        document.at("normalizer").at("normalizers").at(0).at("precompiled_charsmap").get<std::string>());
}

CharacterMap map_of(std::string_view bytes) {
    return CharacterMap::parse(bytes, "tokenizer.json", "map");
}

TEST(CharacterMap, FindsTheRulesThatATextBeginsWith) {
    const CharacterMap map = map_of(bytes_of_map());
    EXPECT_EQ(map.longest("\ufb01ne")->replacement, "fi");
    EXPECT_EQ(map.longest("\ufb01ne")->size, 3u);
    EXPECT_EQ(map.longest("\u200b")->replacement, "");
    EXPECT_EQ(map.longest("e\u0301a")->replacement, "\u00e9");
    EXPECT_EQ(map.shortest("e\u0301a")->size, 3u);
    EXPECT_EQ(map.longest("e"), std::nullopt);
    EXPECT_EQ(map.longest(""), std::nullopt);
    EXPECT_EQ(map.longest(std::string_view("\0", 1)), std::nullopt);
}

TEST(CharacterMap, RefusesWhatIsDamaged) {
    const auto error_of = [](std::string_view bytes) -> std::string {
        try {
            map_of(bytes);
        } catch (const Error& error) {
            return error.what();
        }
        return "no error";
    };
    EXPECT_THAT(error_of("abc"), HasSubstr("tokenizer.json: `map`: has 3 bytes"));
    EXPECT_THAT(error_of(std::string("\0\0\0\0abcd", 8)), HasSubstr("has a trie of 0 bytes"));
    EXPECT_THAT(error_of(std::string("\3\0\0\0abcd", 8)), HasSubstr("has a trie of 3 bytes"));
    EXPECT_THAT(error_of(std::string("\xf0\xff\xff\xff"
                                     "abcd",
                                     8)),
                HasSubstr("has a trie of 4294967280 bytes"));
    EXPECT_THAT(error_of(std::string("\4\0\0\0abcd", 8) + std::string(65, 'x')),
                HasSubstr("has a replacement of 65"));
}

TEST(CharacterMap, AnyTrieIsSearchedWithinItsBounds) {
    const std::string whole = bytes_of_map();
    std::mt19937 random(11);
    for (int round = 0; round < 2000; ++round) {
        std::string damaged = whole;
        for (int i = 0; i < 8; ++i)
            damaged[4 + random() % (damaged.size() - 4)] = static_cast<char>(random());
        try {
            const CharacterMap map = map_of(damaged);
            for (int byte = 0; byte < 256; ++byte) {
                const std::string text =
                    std::string(1, static_cast<char>(byte)) + test::random_unicode(random, 3);
                if (const auto match = map.longest(text)) {
                    EXPECT_LE(match->size, text.size());
                }
            }
        } catch (const Error&) {
        }
    }
}

TEST(Base64, FollowsTheStandard) {
    EXPECT_EQ(decode_base64(""), "");
    EXPECT_EQ(decode_base64("Zg=="), "f");
    EXPECT_EQ(decode_base64("Zm8="), "fo");
    EXPECT_EQ(decode_base64("Zm9v"), "foo");
    EXPECT_EQ(decode_base64("Zm9vYmFy"), "foobar");
    EXPECT_EQ(decode_base64("+/+/"), "\xfb\xff\xbf");
    for (const char* wrong : {"Z", "Zg", "Zg=", "Zh==", "Zm9=", "====", "Zg==Zg==", "Zm9v\n", "Zm-v"})
        EXPECT_EQ(decode_base64(wrong), std::nullopt) << wrong;
}

}  // namespace
}  // namespace tessera::llm
