#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "run/llm/tokenizer.h"

namespace tessera::llm {

/// A token as grammars read it: its text, or grammar::special_token. Empty for a token that none can have: it
/// would never end a text, has a byte that no text has, or is not in the vocabulary.
std::string grammar_bytes(const Tokenizer& tokenizer, TokenId id);

/// The bytes of the tokens of a vocabulary, each common beginning once. Nodes are in the order of a walk that
/// goes down first, so that leaving out what begins alike is a step forward:
///
///     a b c, a d     node 0: a, node 1: b, node 2: c, node 3: d     behind node 1 comes node 3
class TokenTrie {
public:
    /// Each token as grammars read it (`grammar_bytes`).
    explicit TokenTrie(const Tokenizer& tokenizer);
    explicit TokenTrie(std::vector<std::pair<std::string, TokenId>> tokens);

    struct Node {
        uint32_t end = 0;          ///< the first node behind all that begin with this one
        uint32_t first_token = 0;  ///< tokens with just these bytes, in `tokens`
        uint32_t last_token = 0;   ///< behind the last one
        uint16_t depth = 0;        ///< bytes before the own one
        uint8_t byte = 0;
    };
    const std::vector<Node>& nodes() const { return nodes_; }
    const std::vector<TokenId>& tokens() const { return tokens_; }
    /// Bytes of the longest token.
    size_t depth() const { return depth_; }
    /// One more than the largest id.
    size_t vocabulary_size() const { return vocabulary_size_; }

private:
    std::vector<Node> nodes_;
    std::vector<TokenId> tokens_;
    size_t depth_ = 0;
    size_t vocabulary_size_ = 0;
};

}  // namespace tessera::llm
