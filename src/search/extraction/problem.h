#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// Extraction chooses nodes of an e-graph's classes, each with nodes that compute the same value, so that the
/// roots are computed at the least cost, a class that several chosen nodes use being paid once (paper 000,
/// 3.1.1). This module knows no tensors and no e-graph, only the problem below.
namespace tessera::extraction {

struct Node {
    int e_class = 0;
    std::vector<int> children;  ///< classes that must be computed first; a class may occur repeatedly
    double cost = 0;            ///< finite; negative costs are rewards
};

/// The classes that can be reached from the roots through chosen nodes are the computed ones: each has
/// exactly one chosen node, and they form no cycle.
struct Problem {
    int classes = 0;  ///< numbered from 0; a class without nodes cannot be computed
    std::vector<Node> nodes;
    std::vector<int> roots;  ///< classes
    /// Groups of nodes of which at most one may be computed: the stored forms of one constant.
    std::vector<std::vector<int>> at_most_one;
};

/// For each class the chosen node, -1 for a class that is not computed.
using Choice = std::vector<int>;

/// Sum of the costs of the computed nodes. @pre violations(problem, choice) is empty
double cost_of(const Problem& problem, const Choice& choice);

/// The faults of a choice, as sentences: a root or child without chosen node, a node of another class, a
/// cycle, a class that is chosen and not computed, two nodes of an at-most-one group. Empty if it is valid.
/// Shares no code with the search.
std::vector<std::string> violations(const Problem& problem, const Choice& choice);

}  // namespace tessera::extraction
