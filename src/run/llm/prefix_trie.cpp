#include "run/llm/prefix_trie.h"

#include <algorithm>
#include <cstddef>

// Built level by level from the sorted texts: those that share a beginning are neighbours in the list, so
// that a node is a range of it, and its children are the ranges of equal next bytes.

namespace tessera::llm {

PrefixTrie::PrefixTrie(std::vector<std::pair<std::string_view, TokenId>> tokens) {
    std::stable_sort(tokens.begin(), tokens.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    struct Range {
        size_t begin;
        size_t end;
        size_t depth;
    };
    std::vector<Range> ranges = {{0, tokens.size(), 0}};  // by node
    nodes_.emplace_back();
    for (size_t node = 0; node < nodes_.size(); ++node) {
        auto [at, end, depth] = ranges[node];
        // Texts that end here come first, the last of equal ones last.
        for (; at < end && tokens[at].first.size() == depth; ++at)
            if (depth > 0) nodes_[node].token = tokens[at].second;
        nodes_[node].first_child = static_cast<uint32_t>(nodes_.size());
        while (at < end) {
            const char byte = tokens[at].first[depth];
            const size_t begin = at;
            while (at < end && tokens[at].first[depth] == byte) ++at;
            ranges.push_back({begin, at, depth + 1});
            nodes_.push_back({.byte = static_cast<uint8_t>(byte)});
            ++nodes_[node].children;
        }
    }
}

const PrefixTrie::Node* PrefixTrie::child(const Node& node, uint8_t byte) const {
    const auto begin = nodes_.begin() + node.first_child;
    const auto end = begin + node.children;
    const auto found = std::lower_bound(begin, end, byte,
                                        [](const Node& each, uint8_t wanted) { return each.byte < wanted; });
    return found == end || found->byte != byte ? nullptr : &*found;
}

}  // namespace tessera::llm
