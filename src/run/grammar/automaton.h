#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "run/grammar/limits.h"
#include "run/grammar/rule_set.h"

namespace tessera::grammar {

using StateId = uint32_t;

/// Any byte of the range, both ends included, leads to the target.
struct ByteEdge {
    uint8_t first = 0;
    uint8_t last = 0;
    StateId target = 0;
    auto operator<=>(const ByteEdge&) const = default;
};
/// A text of a rule leads to the target.
struct CallEdge {
    RuleId rule = 0;
    StateId target = 0;
    auto operator<=>(const CallEdge&) const = default;
};
struct State {
    std::vector<ByteEdge> bytes;
    std::vector<CallEdge> calls;
    bool is_final = false;  ///< the rule may end here

    bool operator==(const State&) const = default;
};

/// A pushdown automaton over bytes: one finite automaton for each rule, in which a call of a rule is an edge.
///
///     value ::= "[" value* "]"      0 --[--> 1 --]--> 2 (final),  1 --value--> 1
///
/// Edges without a byte are gone, and so is everything that leads to no text: after any bytes that it
/// takes, some others complete the text. A rule that may be empty also has the edges of what may follow it,
/// so nobody needs to call it for nothing.
struct Automaton {
    std::vector<State> states;
    std::vector<StateId> starts;        ///< by rule
    std::vector<RuleId> callers_first;  ///< all rules; one that begins with a call comes before that rule
    RuleId root = 0;
    std::array<uint8_t, 256> byte_classes = {};  ///< bytes of one class have the same edges everywhere
    size_t class_count = 0;

    bool operator==(const Automaton&) const = default;
};

/// Small rules that do not call themselves are written out where they are used.
/// @throws Error if a rule calls itself before it has read anything (left recursion), if the root has no
/// text, and beyond the limits
Automaton compile(const RuleSet& rules, const Limits& limits = {});

}  // namespace tessera::grammar
