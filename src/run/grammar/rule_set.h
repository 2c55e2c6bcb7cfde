#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/// Grammars as people write them: rules of texts. Everything that constrains a text becomes a RuleSet first.
namespace tessera::grammar {

/// Both ends belong to it.
struct CodePointRange {
    char32_t first = 0;
    char32_t last = 0;

    auto operator<=>(const CodePointRange&) const = default;
};

/// Index into RuleSet::nodes, or RuleSet::rules.
using NodeId = uint32_t;
using RuleId = uint32_t;

/// These bytes; none is the empty text.
struct Literal {
    std::string bytes;
    bool operator==(const Literal&) const = default;
};
/// One character of any of the ranges. Without ranges there is none.
struct CharacterClass {
    std::vector<CodePointRange> ranges;
    bool operator==(const CharacterClass&) const = default;
};
/// One part after the other.
struct Sequence {
    std::vector<NodeId> parts;
    bool operator==(const Sequence&) const = default;
};
/// One of the parts.
struct Choice {
    std::vector<NodeId> parts;
    bool operator==(const Choice&) const = default;
};
/// The part so many times.
struct Repetition {
    NodeId part = 0;
    int64_t least = 0;
    std::optional<int64_t> most;  ///< unset: any number
    bool operator==(const Repetition&) const = default;
};
struct Reference {
    RuleId rule = 0;
    bool operator==(const Reference&) const = default;
};
/// A finite automaton whose edges are parts, from the first of its states. Without states there is no text.
struct Network {
    struct Edge {
        NodeId part = 0;
        uint32_t target = 0;
        bool operator==(const Edge&) const = default;
    };
    struct State {
        std::vector<Edge> edges;
        bool is_final = false;
        bool operator==(const State&) const = default;
    };
    std::vector<State> states;
    bool operator==(const Network&) const = default;
};
using Node = std::variant<Literal, CharacterClass, Sequence, Choice, Repetition, Reference, Network>;

struct Rule {
    std::string name;
    NodeId body = 0;
    std::string where;  ///< "FILE:LINE:COLUMN", or the place in a schema

    bool operator==(const Rule&) const = default;
};

/// A context-free grammar. The texts of the root are those that are wanted.
struct RuleSet {
    std::string where;  ///< file, or the name of the option
    std::vector<Node> nodes;
    std::vector<Rule> rules;
    RuleId root = 0;

    NodeId add(Node node) {
        nodes.push_back(std::move(node));
        return static_cast<NodeId>(nodes.size() - 1);
    }
    bool operator==(const RuleSet&) const = default;
};

}  // namespace tessera::grammar
