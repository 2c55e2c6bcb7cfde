#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "run/llm/prefix_trie.h"
#include "run/llm/vocabulary.h"

namespace tessera::llm {

struct WordPieceOptions {
    TokenId unknown = 0;                   ///< stands for a whole word that tokens do not cover
    std::string continuing_prefix = "##";  ///< in front of a token inside a word
    size_t longest_word = 100;             ///< in characters; a longer one is unknown
};

/// A word as the longest token that it begins with, then the longest one that continues it, and so on.
/// Source: Schuster and Nakajima, "Japanese and Korean Voice Search" (2012); the greedy search is that of
/// Devlin et al., "BERT" (2019).
class WordPiece {
public:
    /// The vocabulary is the one that `encode` gets.
    WordPiece(const Vocabulary& vocabulary, WordPieceOptions options);

    /// Appends the tokens of `word`, hidden ones excepted.
    void encode(const Vocabulary& vocabulary, std::string_view word, std::vector<TokenId>& out) const;

private:
    PrefixTrie beginnings_;     // every token
    PrefixTrie continuations_;  // those with the prefix, without it
    WordPieceOptions options_;
};

}  // namespace tessera::llm
