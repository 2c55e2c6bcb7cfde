#include "run/llm/token_masks.h"

#include <algorithm>
#include <utility>

#include "support/error.h"

namespace tessera::llm {
namespace {

using grammar::StackPool;
using grammar::StackSet;
using grammar::StateId;

/// Masks that are kept: some thousand of a large vocabulary.
constexpr size_t kRuleMaskBytes = size_t{64} << 20;
constexpr size_t kTextMaskBytes = size_t{8} << 20;
/// Above so many leaves, a walk with all stacks is as quick.
constexpr size_t kMostLeaves = 4096;

/// Goes over the nodes [first, last) of a trie as far as the grammar allows, from `set` before the first one,
/// and tells `visit` what each node that it reaches has led to.
template <typename Visit>
void walk(const TokenTrie& trie, StackPool& pool, uint32_t first, uint32_t last, StackSet set,
          Visit&& visit) {
    if (first == last) return;
    const std::vector<TokenTrie::Node>& nodes = trie.nodes();
    const size_t top = nodes[first].depth;
    std::vector<StackSet> before(trie.depth() + 1 - top, StackPool::kNothing);
    before[0] = set;
    for (uint32_t i = first; i < last;) {
        const TokenTrie::Node& node = nodes[i];
        const StackSet after = pool.step(before[node.depth - top], node.byte);
        if (after == StackPool::kNothing) {
            i = node.end;
            continue;
        }
        visit(i, after);
        before[node.depth - top + 1] = after;
        ++i;
    }
}

void set_tokens(const TokenTrie& trie, const TokenTrie::Node& node, TokenMask& mask) {
    for (uint32_t token = node.first_token; token < node.last_token; ++token) mask.set(trie.tokens()[token]);
}

}  // namespace

RuleMasks::RuleMasks(std::shared_ptr<const grammar::Automaton> automaton,
                     std::shared_ptr<const TokenTrie> trie)
    : automaton_(std::move(automaton)),
      trie_(std::move(trie)),
      pool_(std::make_unique<StackPool>(*automaton_)) {}

size_t RuleMasks::HashOfStates::operator()(const std::vector<StateId>& states) const {
    size_t hash = states.size();
    for (const StateId state : states) hash = hash * 0x9e3779b97f4a7c15u + state;
    return hash ^ (hash >> 29);
}

void RuleMasks::limit_work(size_t work) {
    most_work_ = work;
    pool_->limit_work(work);
}

void RuleMasks::begin_pool() {
    pool_ = std::make_unique<StackPool>(*automaton_);
    pool_->limit_work(most_work_);
}

const RuleMasks::Mask& RuleMasks::of(std::span<const StateId> states) {
    std::vector<StateId> key(states.begin(), states.end());
    const auto known = masks_.find(key);
    if (known != masks_.end()) return known->second;
    if (pool_->is_large()) begin_pool();
    Mask mask{.inside = TokenMask(trie_->vocabulary_size())};
    const auto size = static_cast<uint32_t>(trie_->nodes().size());
    try {
        pool_->begin_work();
        std::vector<grammar::Frame> frames;
        for (const StateId state : states) frames.push_back({state, StackPool::kEnd});
        walk(*trie_, *pool_, 0, size, pool_->set_of(std::move(frames)), [&](uint32_t i, StackSet after) {
            const TokenTrie::Node& node = trie_->nodes()[i];
            set_tokens(*trie_, node, mask.inside);
            if (!pool_->may_end(after)) return;
            mask.is_open = mask.is_open || mask.leaves.size() == kMostLeaves;
            // The longest tokens are left out: nothing follows their last byte.
            if (!mask.is_open && node.end > i + 1) mask.leaves.push_back(i);
        });
        if (mask.is_open) mask.leaves = {};
    } catch (const Error&) {
        begin_pool();
        throw;
    }
    bytes_ += mask.inside.bytes() + mask.leaves.size() * sizeof(uint32_t);
    if (bytes_ > kRuleMaskBytes) {
        masks_.clear();
        bytes_ = mask.inside.bytes();
    }
    return masks_.emplace(std::move(key), std::move(mask)).first->second;
}

TokenMasks::TokenMasks(std::shared_ptr<RuleMasks> rules) : rules_(std::move(rules)) {}

/// The stacks of a text that have the same ones below their tops.
void TokenMasks::add_group(StackPool& pool, StackSet below, std::span<const StateId> states,
                           TokenMask& mask) {
    const TokenTrie& trie = rules_->trie();
    const RuleMasks::Mask& rule = rules_->of(states);
    mask.unite(rule.inside);
    if (below == StackPool::kEnd) return;
    const auto add = [&](uint32_t i, StackSet) { set_tokens(trie, trie.nodes()[i], mask); };
    if (rule.is_open) {
        std::vector<grammar::Frame> frames;
        for (const StateId state : states) frames.push_back({state, below});
        return walk(trie, pool, 0, static_cast<uint32_t>(trie.nodes().size()), pool.set_of(frames), add);
    }
    if (rule.leaves.empty()) return;
    const StackSet outside = pool.go_on(below);
    for (const uint32_t leaf : rule.leaves) walk(trie, pool, leaf + 1, trie.nodes()[leaf].end, outside, add);
}

const TokenMask& TokenMasks::of(grammar::Matcher& matcher) {
    if (std::exchange(generation_, matcher.generation()) != matcher.generation()) known_.clear();
    const StackSet state = matcher.state();
    const auto known = known_.find(state);
    if (known != known_.end()) return known->second;
    TokenMask mask(rules_->trie().vocabulary_size());
    if (known_.size() * (mask.bytes() + sizeof(TokenMask)) > kTextMaskBytes) known_.clear();

    // Frames are sorted by state, and so are those with the same stacks below.
    StackPool& pool = matcher.pool();
    pool.begin_work();
    std::vector<grammar::Frame> frames(pool.frames(state).begin(), pool.frames(state).end());
    std::stable_sort(frames.begin(), frames.end(),
                     [](const auto& a, const auto& b) { return a.below < b.below; });
    for (auto first = frames.begin(); first != frames.end();) {
        const auto last =
            std::find_if(first, frames.end(), [&](const auto& frame) { return frame.below != first->below; });
        std::vector<StateId> states;
        for (auto frame = first; frame != last; ++frame) states.push_back(frame->state);
        add_group(pool, first->below, states, mask);
        first = last;
    }
    return known_.emplace(state, std::move(mask)).first->second;
}

}  // namespace tessera::llm
