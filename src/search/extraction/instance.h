#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "search/extraction/problem.h"

/// The problem as the search sees it: with integer costs. Inside the module only.
namespace tessera::extraction {

using Weight = int64_t;
inline constexpr Weight kUnreached = std::numeric_limits<Weight>::max();

/// Costs as multiples of `unit`. The sum of all magnitudes is below 2^61, so that no sum of them overflows.
struct ScaledCosts {
    std::vector<Weight> costs;
    double unit = 1;
    double rounding = 0;  ///< the most by which any cost moved; 0 if all are exact
};

/// Integers that keep the order of any two choices: exactly where all costs are decimal fractions of at most
/// 12 places (as files are written by hand), or binary fractions of like magnitude (as measured floats are);
/// otherwise rounded to 2^-53 of the sum of all costs, which `rounding` states.
ScaledCosts scale(const std::vector<Node>& nodes);

/// Nodes and classes keep the numbers of the problem throughout; preprocessing takes nodes out of `members`
/// and children out of nodes.
struct Instance {
    struct Node {
        int e_class;
        std::vector<int> children;  ///< ascending, each once
        Weight cost;
    };
    std::vector<Node> nodes;
    std::vector<std::vector<int>> members;  ///< of each class: the nodes that may be chosen, ascending
    std::vector<int> roots;                 ///< ascending, each once
    std::vector<std::vector<int>> at_most_one;
    bool has_rewards = false;  ///< a cost is negative

    const Node& node(int index) const { return nodes[static_cast<size_t>(index)]; }
    const std::vector<int>& nodes_of(int e_class) const { return members[static_cast<size_t>(e_class)]; }
    size_t classes() const { return members.size(); }
};

Instance make_instance(const Problem& problem, const ScaledCosts& costs);

/// A valid choice and its cost in units.
struct Incumbent {
    Choice choice;
    Weight cost = kUnreached;
    bool exists() const { return cost != kUnreached; }
};

/// Classes that are computed by the choice, children before parents; empty if a needed class has no node or
/// the choice has a cycle.
std::optional<std::vector<int>> computed(const Instance& instance, const Choice& choice);

/// The part of `choice` that is computed, with its cost; empty if it is not valid.
std::optional<Incumbent> evaluate(const Instance& instance, const Choice& choice);

/// Classes that the members of those reached from the roots mention, ascending.
std::vector<int> reachable(const Instance& instance);

}  // namespace tessera::extraction
