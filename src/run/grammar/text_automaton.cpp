#include "run/grammar/text_automaton.h"

#include <algorithm>
#include <map>
#include <utility>

#include "run/grammar/character_ranges.h"

// Both automata are walked at once: a state of the result is a pair of states. If the second has no edge, it
// is lost: texts of both end there, and those of the first alone go on without it.

namespace tessera::grammar {
namespace {

constexpr uint32_t kLost = UINT32_MAX;
/// The limit for longest texts: longer ones count as unbounded.
constexpr int64_t kMostLength = 1000;

class Product {
public:
    Product(const TextAutomaton& a, const TextAutomaton& b, bool without) : a_(a), b_(b), without_(without) {}

    std::optional<TextAutomaton> build() && {
        if (a_.states.empty()) return TextAutomaton();
        if (b_.states.empty() && !without_) return TextAutomaton();
        state_of({0, b_.states.empty() ? kLost : 0});
        for (uint32_t i = 0; i < pairs_.size(); ++i) {
            if (pairs_.size() > kMostTextStates || edges_ > kMostTextEdges) return std::nullopt;
            const Pair pair = pairs_[i];
            const bool in_b = pair.second != kLost && b_.states[pair.second].is_final;
            result_.states[i].is_final = a_.states[pair.first].is_final && in_b != without_;
            add_edges(i, pair);
        }
        return trimmed(result_);
    }

private:
    using Pair = std::pair<uint32_t, uint32_t>;

    uint32_t state_of(const Pair& pair) {
        const auto [found, is_new] = numbers_.emplace(pair, static_cast<uint32_t>(pairs_.size()));
        if (is_new) {
            pairs_.push_back(pair);
            result_.states.emplace_back();
        }
        return found->second;
    }

    void add(uint32_t from, char32_t first, char32_t last, const Pair& target) {
        const uint32_t to = state_of(target);
        result_.states[from].edges.push_back({{first, last}, to});
        ++edges_;
    }

    void add_edges(uint32_t from, const Pair& pair) {
        static const std::vector<TextAutomaton::Edge> none;
        const auto& others = pair.second == kLost ? none : b_.states[pair.second].edges;
        auto other = others.begin();
        for (const TextAutomaton::Edge& edge : a_.states[pair.first].edges) {
            char32_t at = edge.characters.first;
            const char32_t last = edge.characters.last;
            while (other != others.end() && other->characters.last < at) ++other;
            for (auto each = other; each != others.end() && each->characters.first <= last; ++each) {
                const char32_t begin = std::max(at, each->characters.first);
                const char32_t end = std::min(last, each->characters.last);
                if (without_ && at < begin) add(from, at, begin - 1, {edge.target, kLost});
                add(from, begin, end, {edge.target, each->target});
                at = end + 1;
            }
            if (without_ && at <= last) add(from, at, last, {edge.target, kLost});
        }
    }

    const TextAutomaton& a_;
    const TextAutomaton& b_;
    const bool without_;
    std::map<Pair, uint32_t> numbers_;
    std::vector<Pair> pairs_;
    size_t edges_ = 0;
    TextAutomaton result_;
};

/// For each state, true if a final state can be reached.
std::vector<bool> reaching(const TextAutomaton& automaton) {
    std::vector<std::vector<uint32_t>> sources(automaton.states.size());
    std::vector<uint32_t> found;
    for (uint32_t i = 0; i < automaton.states.size(); ++i) {
        if (automaton.states[i].is_final) found.push_back(i);
        for (const TextAutomaton::Edge& edge : automaton.states[i].edges) sources[edge.target].push_back(i);
    }
    std::vector<bool> reaches(automaton.states.size(), false);
    while (!found.empty()) {
        const uint32_t state = found.back();
        found.pop_back();
        if (reaches[state]) continue;
        reaches[state] = true;
        found.insert(found.end(), sources[state].begin(), sources[state].end());
    }
    return reaches;
}

}  // namespace

bool matches(const TextAutomaton& automaton, std::string_view text) {
    if (automaton.states.empty()) return false;
    uint32_t state = 0;
    for (const char32_t character : characters_of(text)) {
        const auto& edges = automaton.states[state].edges;
        const auto edge = std::find_if(edges.begin(), edges.end(), [&](const TextAutomaton::Edge& one) {
            return one.characters.first <= character && character <= one.characters.last;
        });
        if (edge == edges.end()) return false;
        state = edge->target;
    }
    return automaton.states[state].is_final;
}

bool is_empty(const TextAutomaton& automaton) {
    return trimmed(automaton).states.empty();
}

TextAutomaton trimmed(const TextAutomaton& automaton) {
    const std::vector<bool> reaches = reaching(automaton);
    if (automaton.states.empty() || !reaches[0]) return {};
    std::vector<uint32_t> numbers(automaton.states.size(), kLost), kept = {0};
    numbers[0] = 0;
    TextAutomaton result;
    for (uint32_t i = 0; i < kept.size(); ++i) {
        const TextAutomaton::State& state = automaton.states[kept[i]];
        result.states.push_back({{}, state.is_final});
        for (const TextAutomaton::Edge& edge : state.edges) {
            if (!reaches[edge.target]) continue;
            uint32_t& number = numbers[edge.target];
            if (number == kLost) {
                number = static_cast<uint32_t>(kept.size());
                kept.push_back(edge.target);
            }
            result.states.back().edges.push_back({edge.characters, number});
        }
    }
    return result;
}

std::optional<TextAutomaton> intersection(const TextAutomaton& a, const TextAutomaton& b) {
    return Product(a, b, false).build();
}

std::optional<TextAutomaton> difference(const TextAutomaton& a, const TextAutomaton& b) {
    return Product(a, b, true).build();
}

std::pair<int64_t, std::optional<int64_t>> lengths(const TextAutomaton& automaton) {
    // The set of states that texts of each length lead to. Texts longer than the number of states go in
    // circles.
    const TextAutomaton texts = trimmed(automaton);
    std::vector<bool> here(texts.states.size(), false);
    here[0] = true;
    std::optional<int64_t> shortest;
    int64_t longest = 0;
    for (int64_t length = 0; length <= static_cast<int64_t>(texts.states.size()); ++length) {
        std::vector<bool> next(texts.states.size(), false);
        bool is_end = false, goes_on = false;
        for (size_t i = 0; i < texts.states.size(); ++i) {
            if (!here[i]) continue;
            is_end = is_end || texts.states[i].is_final;
            for (const TextAutomaton::Edge& edge : texts.states[i].edges) goes_on = next[edge.target] = true;
        }
        if (is_end) {
            shortest = shortest.value_or(length);
            longest = length;
        }
        if (!goes_on) return {*shortest, longest};
        if (shortest && length > kMostLength) break;
        here = std::move(next);
    }
    return {shortest.value_or(0), std::nullopt};
}

TextAutomaton any_text() {
    return texts_of_length(0, std::nullopt);
}

TextAutomaton texts_of_length(int64_t least, std::optional<int64_t> most) {
    TextAutomaton result;
    const int64_t last = most.value_or(least);
    const std::vector<CodePointRange> any = complement({});
    for (int64_t i = 0; i <= last; ++i) {
        TextAutomaton::State& state = result.states.emplace_back();
        state.is_final = i >= least;
        if (i == last && most) break;
        for (const CodePointRange& range : any)
            state.edges.push_back({range, static_cast<uint32_t>(i == last ? i : i + 1)});
    }
    return result;
}

std::optional<TextAutomaton> these_texts(std::span<const std::string> texts) {
    std::vector<std::map<char32_t, uint32_t>> tree(1);
    std::vector<bool> ends(1, false);
    for (const std::string& text : texts) {
        uint32_t at = 0;
        for (const char32_t character : characters_of(text)) {
            const auto [found, is_new] = tree[at].emplace(character, static_cast<uint32_t>(tree.size()));
            at = found->second;
            if (!is_new) continue;
            if (tree.size() >= kMostTextStates) return std::nullopt;
            tree.emplace_back();
            ends.push_back(false);
        }
        ends[at] = true;
    }
    TextAutomaton result;
    for (size_t i = 0; i < tree.size(); ++i) {
        TextAutomaton::State& state = result.states.emplace_back();
        state.is_final = ends[i];
        for (const auto& [character, target] : tree[i])
            state.edges.push_back({{character, character}, target});
    }
    return trimmed(result);
}

}  // namespace tessera::grammar
