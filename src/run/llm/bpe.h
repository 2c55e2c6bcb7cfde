#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "run/llm/pattern_set.h"
#include "run/llm/vocabulary.h"

namespace tessera::llm {

/// Two tokens that become one. The pair of the smallest rank merges first.
struct Merge {
    uint32_t rank = 0;
    TokenId result = 0;
};

/// The merges of a byte-pair encoding, by pair of ids: the form of `merges.txt`.
class MergeTable {
public:
    explicit MergeTable(size_t expected);
    /// The first rank that a pair gets stays.
    void add(TokenId left, TokenId right, Merge merge);
    const Merge* find(TokenId left, TokenId right) const;

private:
    struct Slot {
        uint64_t pair;
        Merge merge;
    };
    size_t slot_of(uint64_t pair) const;

    std::vector<Slot> slots_;  // open addressing; its size is a power of two
    size_t used_ = 0;
};

/// Merges that follow from the scores of tokens, the form of SentencePiece: any two neighbours merge whose
/// texts together are a token that may be made; the token of the best score first.
struct ScoreRanks {
    /// By id: the place of its score among all, the best is 0; kNever for tokens that no merge makes.
    std::vector<uint32_t> ranks;
    static constexpr uint32_t kNever = UINT32_MAX;
};

/// The ranks that follow from `scores`, none of which is NaN: equal scores have equal ranks.
/// `may_be_made`: by id, whether merges make the token.
ScoreRanks rank_scores(std::span<const float> scores, const std::vector<bool>& may_be_made);

struct BpeOptions {
    std::optional<TokenId>
        unknown;  ///< stands for a character without token; without it such characters are dropped
    bool fuse_unknown = false;   ///< neighbouring unknown characters become one
    bool ignore_merges = false;  ///< a piece that is a token is that token, whatever the merges say
    /// The tokens of bytes, -1 where there is none, for characters without a token of their own.
    std::optional<std::array<TokenId, 256>> byte_tokens;
    /// Texts of the vocabulary that are one token wherever they occur, the longest where several begin, and
    /// merge with nothing.
    PatternSet fixed;
    std::string continuing_prefix;  ///< in front of every character of a piece but the first
    std::string end_suffix;         ///< behind the last character of a piece
};

/// Byte-pair encoding of one piece of text.
/// Source: Sennrich et al., "Neural Machine Translation of Rare Words with Subword Units" (2016), 3.2; the
/// variant by scores: Kudo and Richardson, "SentencePiece" (2018), 3.1.
class Bpe {
public:
    Bpe(std::variant<MergeTable, ScoreRanks> merges, BpeOptions options);

    /// Appends the tokens of `piece`. O(n log n) in its length.
    void encode(const Vocabulary& vocabulary, std::string_view piece, std::vector<TokenId>& out) const;

    const BpeOptions& options() const { return options_; }

private:
    std::variant<MergeTable, ScoreRanks> merges_;
    BpeOptions options_;
};

}  // namespace tessera::llm
