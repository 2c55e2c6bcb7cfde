#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "run/llm/vocabulary.h"

namespace tessera::llm {

/// A piece as the one token that it is.
class WordLevel {
public:
    /// `unknown` stands for pieces that are no token.
    explicit WordLevel(std::optional<TokenId> unknown) : unknown_(unknown) {}

    /// Appends the token of `piece`; a hidden one is none.
    /// @throws Error for a piece that is no token where no token stands for unknown ones
    void encode(const Vocabulary& vocabulary, std::string_view piece, std::vector<TokenId>& out) const;

private:
    std::optional<TokenId> unknown_;
};

}  // namespace tessera::llm
