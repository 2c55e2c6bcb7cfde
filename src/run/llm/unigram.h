#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "run/llm/prefix_trie.h"
#include "run/llm/vocabulary.h"

namespace tessera::llm {

struct UnigramOptions {
    /// The score of a character that no token covers; in the two libraries 10 below the worst token.
    double unknown_score = 0;
    std::optional<TokenId> unknown;  ///< of such characters, one for several neighbours
    /// The tokens of bytes, -1 if there is none, for texts without a token.
    std::optional<std::array<TokenId, 256>> byte_tokens;
    /// Sums are rounded to 32 bits, as in SentencePiece; otherwise to 64, as in `tokenizers`. The choice
    /// among divisions that are equally good but for the rounding depends on it.
    bool rounds_to_single = false;
};

/// Divides a text into the tokens whose scores have the largest sum.
/// Source: Kudo, "Subword Regularization" (2018), 3.2.
class Unigram {
public:
    /// @param scores by id, NaN for tokens that are no text @param vocabulary the one that `encode` gets
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
