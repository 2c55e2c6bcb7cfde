#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tessera/token_id.h"

namespace tessera::llm {

/// A bit for each token that may come next.
class TokenMask {
public:
    explicit TokenMask(size_t size = 0) : words_((size + 63) / 64, 0) {}

    /// @pre the id is below the size
    void set(TokenId id) {
        words_[static_cast<size_t>(id) / 64] |= uint64_t{1} << (static_cast<size_t>(id) % 64);
    }
    bool holds(TokenId id) const {
        const auto place = static_cast<size_t>(id);
        return id >= 0 && place / 64 < words_.size() && ((words_[place / 64] >> (place % 64)) & 1) != 0;
    }
    void clear(TokenId id) {
        if (holds(id)) words_[static_cast<size_t>(id) / 64] ^= uint64_t{1} << (static_cast<size_t>(id) % 64);
    }
    bool is_empty() const {
        return std::all_of(words_.begin(), words_.end(), [](uint64_t word) { return word == 0; });
    }
    /// @pre both have the same size
    void unite(const TokenMask& other) {
        for (size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
    }
    size_t bytes() const { return words_.size() * sizeof(uint64_t); }

    bool operator==(const TokenMask&) const = default;

private:
    std::vector<uint64_t> words_;
};

}  // namespace tessera::llm
