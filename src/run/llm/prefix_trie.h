#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/token_id.h"

namespace tessera::llm {

/// Tokens by their texts, each common beginning once: finds all of them that begin at a place of a text, in
/// time that does not depend on how many tokens there are.
class PrefixTrie {
public:
    /// Empty texts are never found; the last one of equal texts is.
    explicit PrefixTrie(std::vector<std::pair<std::string_view, TokenId>> tokens);

    /// Calls `visit(token, size)` for every token that `text` begins with, the shortest first.
    template <typename Visit>
    void for_each_prefix(std::string_view text, Visit visit) const {
        const Node* node = &nodes_.front();
        for (size_t at = 0; at < text.size(); ++at) {
            node = child(*node, static_cast<uint8_t>(text[at]));
            if (node == nullptr) return;
            if (node->token != kNoToken) visit(node->token, at + 1);
        }
    }

private:
    static constexpr TokenId kNoToken = -1;

    struct Node {
        uint32_t first_child = 0;
        uint16_t children = 0;  ///< neighbours in `nodes_`, by ascending byte
        uint8_t byte = 0;
        TokenId token = kNoToken;
    };
    const Node* child(const Node& node, uint8_t byte) const;

    std::vector<Node> nodes_;  // the root, then level by level
};

}  // namespace tessera::llm
