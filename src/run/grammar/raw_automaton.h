#pragma once

#include <vector>

#include "run/grammar/automaton.h"

namespace tessera::grammar {

/// An automaton in the making: every part of every rule has its states, with edges that take no byte.
struct RawAutomaton {
    std::vector<State> states;
    std::vector<std::vector<StateId>> empty_edges;  ///< by state
    std::vector<StateId> starts;                    ///< by rule; the final states are marked
};

/// Thompson's construction. Source: Thompson, "Regular Expression Search Algorithm" (1968).
/// @throws Error beyond the limits
RawAutomaton build_raw(const RuleSet& rules, const Limits& limits);

/// By state: whether a text leads from it to the end of its rule; if `empty`, whether the empty one does.
std::vector<bool> reach_end(const std::vector<State>& states, const std::vector<StateId>& starts, bool empty);

}  // namespace tessera::grammar
