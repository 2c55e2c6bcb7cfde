#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "llm/prefix_trie.h"
#include "llm/vocabulary.h"

namespace tessera::llm {

struct UnigramOptions {
    /// Of a character that no token covers; in the two libraries 10 below the worst token.
    double unknown_score = 0;
    std::optional<TokenId> unknown;  ///< stands for such characters, one for several neighbours
    /// The tokens of bytes, -1 where there is none, for texts without a token.
    std::optional<std::array<TokenId, 256>> byte_tokens;
    /// Sums are rounded to 32 bits, as SentencePiece does; otherwise to 64, as `tokenizers` does. Divisions
    /// that are equally good but for the rounding come out differently.
    bool rounds_to_single = false;
};

/// A text as the sequence of tokens whose scores have the largest sum.
/// Source: Kudo, "Subword Regularization" (2018), 3.2.
class Unigram {
public:
    /// `scores` by id, NaN for tokens that are no text. The vocabulary is the one that `encode` gets.
    Unigram(const Vocabulary& vocabulary, std::vector<double> scores, UnigramOptions options);

    /// Appends the tokens of `piece`, hidden ones excepted.
    /// @throws Error for a character without token where no token stands for unknown ones
    void encode(const Vocabulary& vocabulary, std::string_view piece, std::vector<TokenId>& out) const;

private:
    void encode_unknown(const Vocabulary& vocabulary, std::string_view text, std::vector<TokenId>& out) const;

    PrefixTrie trie_;
    std::vector<double> scores_;
    UnigramOptions options_;
};

}  // namespace tessera::llm
