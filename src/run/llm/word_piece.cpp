#include "run/llm/word_piece.h"

#include <utility>

#include "run/llm/utf8.h"

namespace tessera::llm {
namespace {

/// The tokens whose texts begin with `prefix`, by the rest of their texts.
PrefixTrie tokens_behind(const Vocabulary& vocabulary, std::string_view prefix) {
    std::vector<std::pair<std::string_view, TokenId>> texts;
    for (size_t i = 0; i < vocabulary.size(); ++i) {
        const auto id = static_cast<TokenId>(i);
        if (vocabulary.contains(id) && vocabulary.text(id).starts_with(prefix))
            texts.emplace_back(vocabulary.text(id).substr(prefix.size()), id);
    }
    return PrefixTrie(std::move(texts));
}

size_t count_characters(std::string_view text) {
    size_t count = 0;
    for (; !text.empty(); ++count) text.remove_prefix(first_character(text).length);
    return count;
}

}  // namespace

WordPiece::WordPiece(const Vocabulary& vocabulary, WordPieceOptions options)
    : beginnings_(tokens_behind(vocabulary, "")),
      continuations_(tokens_behind(vocabulary, options.continuing_prefix)),
      options_(std::move(options)) {}

void WordPiece::encode(const Vocabulary& vocabulary, std::string_view word, std::vector<TokenId>& out) const {
    const size_t first = out.size();
    bool is_known = count_characters(word) <= options_.longest_word;
    for (size_t at = 0; is_known && at < word.size();) {
        size_t longest = 0;
        TokenId best = options_.unknown;
        (at == 0 ? beginnings_ : continuations_)
            .for_each_prefix(word.substr(at), [&](TokenId token, size_t size) {
                if (vocabulary.is_hidden(token)) return;
                best = token;
                longest = size;
            });
        out.push_back(best);
        at += longest;
        is_known = longest > 0;
    }
    if (is_known) return;
    out.resize(first);
    out.push_back(options_.unknown);
}

}  // namespace tessera::llm
