#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "run/grammar/rule_set.h"

namespace tessera::llm {

/// Text with marks that end it, as parts of one automaton of a grammar. Its states are all in one rule, so
/// that what may follow in a text is the same wherever it is.
class AnswerNetwork {
public:
    using State = uint32_t;

    /// Tokens that end a text.
    struct Mark {
        std::string text;
        bool is_token = false;             ///< a special token, which no characters spell
        std::optional<State> target = {};  ///< behind it; none: it never comes
    };
    struct Region {
        std::vector<Mark> marks;
        /// True: a mark comes anywhere in the text. False: only before any other character, which leads to
        /// `otherwise`.
        bool searches = true;
        std::optional<State> otherwise = {};  ///< none: no other character comes. For a search: the region
        bool skips_blanks = false;            ///< white space may come before all of that
        bool is_final = true;                 ///< the answer may end in the text
    };

    explicit AnswerNetwork(grammar::RuleSet& rules) : rules_(rules) {}

    /// The first one is where an answer begins.
    State add_state(bool is_final);
    void add_edge(State from, grammar::NodeId part, State target);
    /// Text from `root` on. @pre `root` has no edges, and no mark is the beginning of another one
    void add_region(State root, const Region& region);
    grammar::Network take() { return std::move(network_); }

private:
    grammar::RuleSet& rules_;
    grammar::Network network_;
};

}  // namespace tessera::llm
