#include "run/llm/token_trie.h"

#include <algorithm>

#include "run/grammar/special_token.h"

namespace tessera::llm {
namespace {

/// No token that a model writes is longer; a longer one in a file is never chosen under a grammar.
constexpr size_t kLongestToken = 4096;

std::vector<std::pair<std::string, TokenId>> texts_of(const Tokenizer& tokenizer) {
    std::vector<std::pair<std::string, TokenId>> tokens;
    for (size_t i = 0; i < tokenizer.vocabulary_size(); ++i) {
        const auto id = static_cast<TokenId>(i);
        tokens.emplace_back(grammar_bytes(tokenizer, id), id);
    }
    return tokens;
}

}  // namespace

std::string grammar_bytes(const Tokenizer& tokenizer, TokenId id) {
    if (!tokenizer.has_text(id)) return {};
    std::string bytes = tokenizer.token_bytes(id);
    if (bytes.empty() || bytes.find(grammar::kSpecialMark) != std::string::npos) return {};
    return tokenizer.is_special(id) ? grammar::special_token(bytes) : bytes;
}

TokenTrie::TokenTrie(const Tokenizer& tokenizer) : TokenTrie(texts_of(tokenizer)) {
    vocabulary_size_ = tokenizer.vocabulary_size();
}

TokenTrie::TokenTrie(std::vector<std::pair<std::string, TokenId>> tokens) {
    std::erase_if(
        tokens, [](const auto& token) { return token.first.empty() || token.first.size() > kLongestToken; });
    std::sort(tokens.begin(), tokens.end());
    std::vector<uint32_t> open;  // nodes of the last token, by depth
    std::string last;
    for (const auto& [bytes, id] : tokens) {
        vocabulary_size_ = std::max(vocabulary_size_, static_cast<size_t>(id) + 1);
        const auto alike = static_cast<size_t>(
            std::mismatch(last.begin(), last.end(), bytes.begin(), bytes.end()).first - last.begin());
        for (; open.size() > alike; open.pop_back())
            nodes_[open.back()].end = static_cast<uint32_t>(nodes_.size());
        const auto token = static_cast<uint32_t>(tokens_.size());
        for (size_t depth = alike; depth < bytes.size(); ++depth) {
            open.push_back(static_cast<uint32_t>(nodes_.size()));
            nodes_.push_back({.end = 0,
                              .first_token = token,
                              .last_token = token,
                              .depth = static_cast<uint16_t>(depth),
                              .byte = static_cast<uint8_t>(bytes[depth])});
        }
        tokens_.push_back(id);
        nodes_[open.back()].last_token = token + 1;
        depth_ = std::max(depth_, bytes.size());
        last = bytes;
    }
    for (const uint32_t node : open) nodes_[node].end = static_cast<uint32_t>(nodes_.size());
}

}  // namespace tessera::llm
