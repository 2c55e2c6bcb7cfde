#include "run/grammar/regular_expression.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/core.h>

#include "run/grammar/character_ranges.h"
#include "run/grammar/limits.h"
#include "support/error.h"

// Thompson's construction, then sets of states. An assertion is an edge without a character that depends on
// the characters on its two sides. So edges without a character are followed only when the next character is
// known to be a word character, another, or none.
//
//     a$|b       0 --a--> 1 --end--> 3 (final)      after "a" and at the end: 1, 3
//                0 --b--> 2 -------> 3              before another character:  1
//
// Source: Thompson, "Regular Expression Search Algorithm" (1968); Cox, "Regular Expression Matching in the
// Wild" (2010).

namespace tessera::grammar {
namespace {

using RegexKind = RegularExpression::Kind;

constexpr size_t kMostNetStates = 100'000;

/// The character on one side of a place in a text. Languages disagree on which characters beyond ASCII are
/// word characters: beside these there is neither a boundary nor its absence.
enum class Neighbour { kNothing, kWord, kOther, kForeign };

struct Net {
    struct State {
        std::vector<CodePointRange> characters = {};  ///< that lead to `target`
        uint32_t target = 0;
        std::vector<std::pair<std::optional<Assertion>, uint32_t>> free = {};  ///< edges without a character
    };
    std::vector<State> states;
    bool has_word_assertion = false;
};

struct OutOfBudget {};

class NetBuilder {
public:
    explicit NetBuilder(const RegularExpression& expression) : expression_(expression) {}

    /// Builds the part from `state` on, and returns its end state.
    uint32_t part(RegexPart id, uint32_t from) {
        const RegularExpression::Part& part = expression_.parts[id];
        switch (part.kind) {
            case RegexKind::kCharacter: {
                const uint32_t before = state(), after = state();
                net.states[from].free.emplace_back(std::nullopt, before);
                net.states[before].characters = part.characters;
                net.states[before].target = after;
                return after;
            }
            case RegexKind::kSequence:
                for (const RegexPart one : part.parts) from = this->part(one, from);
                return from;
            case RegexKind::kChoice: {
                const uint32_t after = state();
                for (const RegexPart one : part.parts) join(this->part(one, from), after);
                return after;
            }
            case RegexKind::kRepetition:
                return repetition(part, from);
            case RegexKind::kAssertion: {
                const uint32_t after = state();
                net.states[from].free.emplace_back(part.assertion, after);
                if (part.assertion == Assertion::kWordBoundary ||
                    part.assertion == Assertion::kNoWordBoundary)
                    net.has_word_assertion = true;
                return after;
            }
            case RegexKind::kLookahead:
                throw OutOfBudget();  // texts_with_match has refused it
        }
        return from;
    }
    /// A loop over any characters.
    uint32_t anything(uint32_t from) {
        const uint32_t loop = state();
        join(from, loop);
        net.states[loop].characters = complement({});
        net.states[loop].target = loop;
        return loop;
    }
    uint32_t state() {
        if (net.states.size() >= kMostNetStates) throw OutOfBudget();
        net.states.emplace_back();
        return static_cast<uint32_t>(net.states.size() - 1);
    }

    Net net;

private:
    void join(uint32_t from, uint32_t to) { net.states[from].free.emplace_back(std::nullopt, to); }

    uint32_t repetition(const RegularExpression::Part& part, uint32_t from) {
        for (int64_t i = 0; i < part.least; ++i) from = this->part(part.parts.front(), from);
        const uint32_t after = state();
        if (!part.most) {
            const uint32_t loop = state();
            join(from, loop);
            join(this->part(part.parts.front(), loop), loop);
            join(loop, after);
            return after;
        }
        for (int64_t i = part.least; i < *part.most; ++i) {
            join(from, after);
            from = this->part(part.parts.front(), from);
        }
        join(from, after);
        return after;
    }

    const RegularExpression& expression_;
};

std::vector<CodePointRange> word_characters() {
    return {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
}

bool holds(Assertion assertion, Neighbour before, Neighbour after) {
    const bool is_known = before != Neighbour::kForeign && after != Neighbour::kForeign;
    switch (assertion) {
        case Assertion::kBegin:
            return before == Neighbour::kNothing;
        case Assertion::kEnd:
            return after == Neighbour::kNothing;
        case Assertion::kWordBoundary:
            return is_known && (before == Neighbour::kWord) != (after == Neighbour::kWord);
        case Assertion::kNoWordBoundary:
            return is_known && (before == Neighbour::kWord) == (after == Neighbour::kWord);
    }
    return false;
}

class Determinizer {
public:
    Determinizer(const Net& net, uint32_t accepting, int64_t& work)
        : net_(net), accepting_(accepting), work_(work) {}

    TextAutomaton build() && {
        state_of({{0}, Neighbour::kNothing});
        for (uint32_t i = 0; i < sets_.size(); ++i) {
            const Set set = sets_[i];
            const std::vector<uint32_t> at_end = closure(set, Neighbour::kNothing);
            result_.states[i].is_final = std::binary_search(at_end.begin(), at_end.end(), accepting_);
            if (net_.has_word_assertion) {
                add_edges(i, closure(set, Neighbour::kWord), Neighbour::kWord, word_characters());
                std::vector<CodePointRange> no_others = word_characters();
                no_others.push_back({0x80, kLargestCodePoint});
                add_edges(i, closure(set, Neighbour::kOther), Neighbour::kOther, complement(no_others));
                add_edges(i, closure(set, Neighbour::kForeign), Neighbour::kForeign,
                          {{0x80, 0xd7ff}, {0xe000, kLargestCodePoint}});
            } else {
                add_edges(i, closure(set, Neighbour::kOther), Neighbour::kOther, complement({}));
            }
            auto& edges = result_.states[i].edges;
            std::sort(edges.begin(), edges.end(),
                      [](const auto& a, const auto& b) { return a.characters.first < b.characters.first; });
            edge_count_ += edges.size();
            if (edge_count_ > kMostTextEdges) throw OutOfBudget();
        }
        return trimmed(result_);
    }

private:
    /// States, ascending, and the character before them.
    using Set = std::pair<std::vector<uint32_t>, Neighbour>;

    void spend(size_t work) {
        work_ -= static_cast<int64_t>(work);
        if (work_ < 0) throw OutOfBudget();
    }

    uint32_t state_of(Set set) {
        const auto [found, is_new] = numbers_.emplace(set, static_cast<uint32_t>(sets_.size()));
        if (is_new) {
            if (sets_.size() >= kMostTextStates) throw OutOfBudget();
            sets_.push_back(std::move(set));
            result_.states.emplace_back();
        }
        return found->second;
    }

    std::vector<uint32_t> closure(const Set& set, Neighbour after) {
        std::vector<uint32_t> found = set.first, open = set.first;
        std::vector<bool>& seen = seen_;
        seen.resize(net_.states.size(), false);
        for (const uint32_t state : found) seen[state] = true;
        while (!open.empty()) {
            const uint32_t state = open.back();
            open.pop_back();
            spend(1 + net_.states[state].free.size());
            for (const auto& [assertion, target] : net_.states[state].free) {
                if (seen[target] || (assertion && !holds(*assertion, set.second, after))) continue;
                seen[target] = true;
                found.push_back(target);
                open.push_back(target);
            }
        }
        for (const uint32_t state : found) seen[state] = false;
        std::sort(found.begin(), found.end());
        return found;
    }

    /// The characters are cut wherever a range of any edge begins or ends.
    void add_edges(uint32_t from, const std::vector<uint32_t>& states, Neighbour side,
                   const std::vector<CodePointRange>& within) {
        std::map<char32_t, std::vector<std::pair<uint32_t, bool>>>
            changes;  ///< of targets, which begin or end
        for (const uint32_t state : states)
            for (const CodePointRange& range : net_.states[state].characters) {
                changes[range.first].emplace_back(net_.states[state].target, true);
                changes[range.last + 1].emplace_back(net_.states[state].target, false);
            }
        for (const CodePointRange& range : within) {
            changes[range.first];
            changes[range.last + 1];
        }
        std::map<uint32_t, int> active;
        const auto is_within = [&](char32_t c) {
            return std::any_of(within.begin(), within.end(), [&](const CodePointRange& range) {
                return range.first <= c && c <= range.last;
            });
        };
        for (auto change = changes.begin(); change != changes.end(); ++change) {
            for (const auto& [target, begins] : change->second)
                if ((active[target] += begins ? 1 : -1) == 0) active.erase(target);
            const auto next = std::next(change);
            if (active.empty() || next == changes.end() || !is_within(change->first)) continue;
            spend(active.size());
            std::vector<uint32_t> targets;
            for (const auto& [target, count] : active) targets.push_back(target);
            // Anything that follows is a match: the rest of the set adds nothing.
            if (std::binary_search(targets.begin(), targets.end(), accepting_)) targets = {accepting_};
            const uint32_t to =
                state_of({std::move(targets), net_.has_word_assertion ? side : Neighbour::kOther});
            result_.states[from].edges.push_back({{change->first, next->first - 1}, to});
        }
    }

    const Net& net_;
    const uint32_t accepting_;  ///< a loop of any characters
    std::map<Set, uint32_t> numbers_;
    std::vector<Set> sets_;
    std::vector<bool> seen_;
    size_t edge_count_ = 0;
    int64_t& work_;
    TextAutomaton result_;
};

/// Texts in which the parts match one after the other, from the beginning or from anywhere.
TextAutomaton texts_with(const RegularExpression& expression, const std::vector<RegexPart>& parts,
                         bool from_beginning, int64_t& work) {
    NetBuilder builder(expression);
    uint32_t at = builder.state();
    if (!from_beginning) at = builder.anything(at);
    for (const RegexPart part : parts) at = builder.part(part, at);
    return Determinizer(builder.net, builder.anything(at), work).build();
}

}  // namespace

TextAutomaton texts_with_match(std::string_view pattern, const std::string& where, const std::string& place,
                               int64_t& work) {
    const RegularExpression expression = parse_regular_expression(pattern, where, place);
    const auto kind = [&](RegexPart part) { return expression.parts[part].kind; };
    std::vector<RegexPart> rest = {expression.root}, lookaheads;
    const RegularExpression::Part& whole = expression.parts[expression.root];
    if (whole.kind == RegexKind::kSequence && !whole.parts.empty() &&
        kind(whole.parts.front()) == RegexKind::kAssertion &&
        expression.parts[whole.parts.front()].assertion == Assertion::kBegin) {
        rest = whole.parts;
        while (rest.size() > 1 && kind(rest[1]) == RegexKind::kLookahead) {
            lookaheads.push_back(rest[1]);
            rest.erase(rest.begin() + 1);
        }
    }
    const auto all = static_cast<size_t>(std::count_if(
        expression.parts.begin(), expression.parts.end(),
        [](const RegularExpression::Part& part) { return part.kind == RegexKind::kLookahead; }));
    if (all != lookaheads.size())
        throw Error(where, place, "the pattern looks ahead within a text, which is not supported",
                    "write the look-ahead directly behind ^, or leave it out");
    try {
        TextAutomaton result = texts_with(expression, rest, false, work);
        for (const RegexPart part : lookaheads) {
            const RegularExpression::Part& one = expression.parts[part];
            const TextAutomaton ahead = texts_with(expression, one.parts, true, work);
            auto both = one.is_negative ? difference(result, ahead) : intersection(result, ahead);
            if (!both) throw OutOfBudget();
            result = *std::move(both);
        }
        return result;
    } catch (const OutOfBudget&) {
        throw Error(where, place, "the pattern takes too many states",
                    "write it with smaller counts and fewer `.*`");
    }
}

}  // namespace tessera::grammar
