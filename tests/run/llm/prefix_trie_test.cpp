#include "run/llm/prefix_trie.h"

#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace tessera::llm {
namespace {

using Found = std::vector<std::pair<TokenId, size_t>>;

Found prefixes(const PrefixTrie& trie, std::string_view text) {
    Found found;
    trie.for_each_prefix(text, [&](TokenId token, size_t size) { found.emplace_back(token, size); });
    return found;
}

TEST(PrefixTrie, FindsAllThatATextBeginsWith) {
    const PrefixTrie trie({{"ab", 4}, {"a", 1}, {"abcd", 2}, {"b", 3}, {"", 5}, {"ab", 6}});
    EXPECT_EQ(prefixes(trie, "abce"), (Found{{1, 1}, {6, 2}}))
        << "the shortest first, the last of equal ones";
    EXPECT_EQ(prefixes(trie, "abcde"), (Found{{1, 1}, {6, 2}, {2, 4}}));
    EXPECT_EQ(prefixes(trie, "c"), Found{});
    EXPECT_EQ(prefixes(trie, ""), Found{});
    EXPECT_EQ(prefixes(PrefixTrie({}), "a"), Found{});
}

TEST(PrefixTrie, AgreesWithASearchOfTheList) {
    std::mt19937 random(1);
    for (int round = 0; round < 200; ++round) {
        std::vector<std::string> texts(random() % 40);
        for (std::string& text : texts)
            for (size_t i = random() % 5; i > 0; --i) text += static_cast<char>("ab\xff"[random() % 3]);
        std::vector<std::pair<std::string_view, TokenId>> tokens;
        for (size_t i = 0; i < texts.size(); ++i) tokens.emplace_back(texts[i], static_cast<TokenId>(i));
        const PrefixTrie trie(tokens);
        std::string text;
        for (size_t i = random() % 7; i > 0; --i) text += static_cast<char>("ab\xff"[random() % 3]);
        Found expected;
        for (size_t size = 1; size <= text.size(); ++size)
            for (size_t i = texts.size(); i-- > 0;)
                if (texts[i] == text.substr(0, size)) {
                    expected.emplace_back(static_cast<TokenId>(i), size);
                    break;
                }
        EXPECT_EQ(prefixes(trie, text), expected) << text;
    }
}

}  // namespace
}  // namespace tessera::llm
