#include "run/llm/answer_network.h"

#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "run/grammar/character_ranges.h"
#include "run/grammar/special_token.h"

// A region is the automaton of Aho and Corasick over its marks: a state for each beginning of a mark; the
// current one is the longest that the text so far ends with.
//
//     mark "<t>"     "" --<--> "<" --t--> "<t" --> target     any other character leads back to ""
//
// Source: Aho and Corasick, "Efficient String Matching" (1975). Marks that are special tokens are edges from
// all of these states.

namespace tessera::llm {
namespace {

using grammar::CodePointRange;

constexpr std::u32string_view kBlankCharacters = U" \t\r\n";

/// The transitions from each beginning of a mark, by character.
class Marks {
public:
    using State = AnswerNetwork::State;

    Marks(AnswerNetwork& network, State root, const AnswerNetwork::Region& region) : region_(region) {
        states_.emplace(std::u32string(), root);
        for (const AnswerNetwork::Mark& mark : region.marks) {
            if (mark.is_token) continue;
            const std::u32string text = grammar::characters_of(mark.text);
            for (size_t size = 1; size < text.size(); ++size)
                if (const auto begun = text.substr(0, size); !states_.contains(begun))
                    states_.emplace(begun, network.add_state(region.is_final));
            for (const char32_t c : text) characters_.insert(c);
            ends_.emplace(text, mark.target);
        }
        if (region.skips_blanks) characters_.insert(kBlankCharacters.begin(), kBlankCharacters.end());
    }

    const std::map<std::u32string, State>& states() const { return states_; }
    const std::set<char32_t>& characters() const { return characters_; }

    std::optional<State> next(const std::u32string& begun, char32_t character,
                              std::optional<State> otherwise) const {
        std::u32string text = begun + character;
        for (size_t skipped = 0; skipped < (region_.searches ? text.size() : 1); ++skipped)
            if (const auto end = ends_.find(text.substr(skipped)); end != ends_.end()) return end->second;
        for (; !text.empty(); text.erase(0, 1)) {
            if (const auto known = states_.find(text); known != states_.end()) return known->second;
            if (!region_.searches) break;
        }
        if (region_.skips_blanks && begun.empty() &&
            kBlankCharacters.find(character) != std::u32string_view::npos)
            return states_.at({});
        return otherwise;
    }

private:
    const AnswerNetwork::Region& region_;
    std::map<std::u32string, State> states_;
    std::set<char32_t> characters_;  ///< of the marks
    std::map<std::u32string, std::optional<State>> ends_;
};

}  // namespace

AnswerNetwork::State AnswerNetwork::add_state(bool is_final) {
    network_.states.push_back({.edges = {}, .is_final = is_final});
    return static_cast<State>(network_.states.size() - 1);
}

void AnswerNetwork::add_edge(State from, grammar::NodeId part, State target) {
    network_.states[from].edges.push_back({part, target});
}

void AnswerNetwork::add_region(State root, const Region& region) {
    const Marks marks(*this, root, region);
    const std::optional<State> otherwise = region.searches ? root : region.otherwise;
    std::vector<CodePointRange> known;
    for (const char32_t c : marks.characters()) known.push_back({c, c});
    const grammar::NodeId others = rules_.add(grammar::CharacterClass{grammar::complement(known)});
    for (const auto& [begun, state] : marks.states()) {
        std::map<State, std::vector<CodePointRange>> ways;
        for (const char32_t c : marks.characters())
            if (const auto target = marks.next(begun, c, otherwise)) ways[*target].push_back({c, c});
        for (const auto& [target, characters] : ways)
            add_edge(state, rules_.add(grammar::CharacterClass{grammar::normalized(characters)}), target);
        if (otherwise) add_edge(state, others, *otherwise);
        for (const Mark& mark : region.marks)
            if (mark.is_token && mark.target)
                add_edge(state, rules_.add(grammar::Literal{grammar::special_token(mark.text)}),
                         *mark.target);
    }
}

}  // namespace tessera::llm
