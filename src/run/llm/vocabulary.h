#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "run/llm/tokenizer.h"

namespace tessera::llm {

/// Token texts by id and ids by text. Ids may have gaps.
class Vocabulary {
public:
    /// No model has so many; a larger id in a file is damage, and would cost memory that no file of its size
    /// is worth.
    static constexpr TokenId kLargestId = (1 << 20) - 1;

    /// False if the id is taken. A text that another id has already is found under the first.
    /// @pre 0 <= id <= kLargestId
    /// @throws Error beyond 4 GiB of text
    bool add(TokenId id, std::string_view text);

    /// One more than the largest id.
    size_t size() const { return tokens_.size(); }
    bool contains(TokenId id) const {
        return id >= 0 && static_cast<size_t>(id) < size() && tokens_[id].known;
    }
    /// Empty for ids in gaps. @pre id < size()
    std::string_view text(TokenId id) const {
        return std::string_view(arena_).substr(tokens_[id].begin, tokens_[id].size);
    }
    std::optional<TokenId> find(std::string_view text) const;

    /// From now on `find` does not find the token, and no model makes it of a text. Its id and text stay.
    /// @pre contains(id)
    void hide(TokenId id) { tokens_[id].hidden = true; }
    bool is_hidden(TokenId id) const { return tokens_[id].hidden; }

private:
    struct Token {
        uint32_t begin = 0;
        uint32_t size = 0;
        bool known = false;
        bool hidden = false;
    };
    /// The place of `text` in the table of slots, or where it belongs.
    size_t slot_of(std::string_view text) const;
    void grow();

    std::string arena_;           // all texts, one after the other
    std::vector<Token> tokens_;   // by id
    std::vector<TokenId> slots_;  // open addressing; its size is a power of two, -1 is free
    size_t used_ = 0;
};

}  // namespace tessera::llm
