#pragma once

#include <functional>
#include <optional>
#include <random>

#include "search/extraction/problem.h"

namespace tessera::extraction {

struct ProblemShape {
    int classes = 8;
    int most_nodes = 3;     ///< of a class
    int most_children = 3;  ///< of a node
    double backward = 0.1;  ///< share of children that are not below their parent: what makes cycles
    int largest_cost = 9;
    double step = 1;       ///< of the costs
    bool rewards = false;  ///< some costs are negative
    int groups = 0;        ///< at-most-one
};

inline Problem random_problem(std::mt19937& random, const ProblemShape& shape) {
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    Problem problem{.classes = shape.classes};
    for (int c = 0; c < shape.classes; ++c) {
        const int count = 1 + below(shape.most_nodes);
        for (int n = 0; n < count; ++n) {
            Node node{.e_class = c, .cost = shape.step * below(shape.largest_cost + 1)};
            if (shape.rewards && below(3) == 0) node.cost = -node.cost;
            const int children = below(shape.most_children + 1);
            for (int i = 0; i < children; ++i) {
                const bool is_backward = std::uniform_real_distribution()(random) < shape.backward;
                if (is_backward)
                    node.children.push_back(below(c + 1));
                else if (c + 1 < shape.classes)
                    node.children.push_back(c + 1 + below(shape.classes - c - 1));
            }
            problem.nodes.push_back(std::move(node));
        }
    }
    problem.roots = {0};
    if (below(2) == 0) problem.roots.push_back(below(shape.classes));
    for (int g = 0; g < shape.groups; ++g) {
        std::vector<int> group;
        for (int i = 0; i < 4; ++i) group.push_back(below(static_cast<int>(problem.nodes.size())));
        problem.at_most_one.push_back(std::move(group));
    }
    return problem;
}

/// Weighted set cover: every element below the root is in `ways` sets, one of which must be paid. Greedy
/// choices are poor and proofs take conflicts.
inline Problem cover_problem(std::mt19937& random, int elements, int sets, int ways) {
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    Problem problem{.classes = 1 + elements + sets, .roots = {0}};
    problem.nodes.push_back({.e_class = 0, .cost = 1});
    for (int e = 1; e <= elements; ++e) {
        problem.nodes.front().children.push_back(e);
        for (int w = 0; w < ways; ++w)
            problem.nodes.push_back({e, {1 + elements + below(sets)}, 0.25 * below(3)});
    }
    for (int s = 0; s < sets; ++s)
        problem.nodes.push_back({1 + elements + s, {}, static_cast<double>(5 + below(20))});
    return problem;
}

/// The least cost of any valid choice (that is accepted), by trying all of them; empty if there is none.
inline std::optional<double> least_cost(const Problem& problem,
                                        const std::function<bool(const Choice&)>& accepts = {}) {
    std::vector<std::vector<int>> members(static_cast<size_t>(problem.classes));
    for (size_t n = 0; n < problem.nodes.size(); ++n)
        members[static_cast<size_t>(problem.nodes[n].e_class)].push_back(static_cast<int>(n));
    std::optional<double> best;
    Choice choice(static_cast<size_t>(problem.classes), -1);
    // Computed classes without a node yet get each of theirs in turn; when there is none left, the choice is
    // whole.
    const auto descend = [&](const auto& self) -> void {
        std::vector<char> is_needed(static_cast<size_t>(problem.classes), 0);
        std::vector<int> open = problem.roots;
        int undecided = -1;
        while (!open.empty()) {
            const auto c = static_cast<size_t>(open.back());
            open.pop_back();
            if (is_needed[c]) continue;
            is_needed[c] = 1;
            if (choice[c] < 0) {
                undecided = static_cast<int>(c);
                continue;
            }
            const Node& node = problem.nodes[static_cast<size_t>(choice[c])];
            open.insert(open.end(), node.children.begin(), node.children.end());
        }
        if (undecided < 0) {
            if (!violations(problem, choice).empty() || (accepts && !accepts(choice))) return;
            const double cost = cost_of(problem, choice);
            if (!best || cost < *best) best = cost;
            return;
        }
        for (const int node : members[static_cast<size_t>(undecided)]) {
            choice[static_cast<size_t>(undecided)] = node;
            self(self);
        }
        choice[static_cast<size_t>(undecided)] = -1;
    };
    descend(descend);
    return best;
}

}  // namespace tessera::extraction
