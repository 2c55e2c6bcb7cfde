#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "run/grammar/rule_set.h"

namespace tessera::grammar {

/// A regular set of texts: a deterministic finite automaton over characters that begins at the first state.
///
///     "ab*"      0 --a--> 1 (final),  1 --b--> 1
///
/// Without states, or if no final one is reached, it holds no text.
struct TextAutomaton {
    struct Edge {
        CodePointRange characters;
        uint32_t target = 0;
        auto operator<=>(const Edge&) const = default;
    };
    struct State {
        std::vector<Edge> edges;  ///< ascending, apart from each other
        bool is_final = false;
        auto operator<=>(const State&) const = default;
    };
    std::vector<State> states;

    auto operator<=>(const TextAutomaton&) const = default;
};

/// The limits of the result of an operation, which is nullopt beyond them.
inline constexpr size_t kMostTextStates = 20'000;
inline constexpr size_t kMostTextEdges = 400'000;

/// True for a text of the set. @pre UTF-8
bool matches(const TextAutomaton& automaton, std::string_view text);
bool is_empty(const TextAutomaton& automaton);
/// The same set, without states that no text goes through.
TextAutomaton trimmed(const TextAutomaton& automaton);
/// Texts that are in both.
std::optional<TextAutomaton> intersection(const TextAutomaton& a, const TextAutomaton& b);
/// Texts of the first that are not in the second.
std::optional<TextAutomaton> difference(const TextAutomaton& a, const TextAutomaton& b);

/// The numbers of characters of the shortest and the longest text; unset: no longest. @pre not empty
std::pair<int64_t, std::optional<int64_t>> lengths(const TextAutomaton& automaton);

TextAutomaton any_text();
/// Texts with this number of characters. `most`: unset, any number. @pre at most kMostTextStates
TextAutomaton texts_of_length(int64_t least, std::optional<int64_t> most);
/// The set of these texts alone. @pre UTF-8
std::optional<TextAutomaton> these_texts(std::span<const std::string> texts);

}  // namespace tessera::grammar
