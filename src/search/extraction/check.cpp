// The checker walks the choice as a reader of it would: from the roots down, on an explicit stack, since the
// depth of an e-graph has no bound.
#include <numeric>

#include "search/extraction/problem.h"
#include "support/error.h"

namespace tessera::extraction {
namespace {

enum class Mark : uint8_t { kUnseen, kOpen, kDone };

struct Walk {
    std::vector<Mark> marks;
    std::vector<int> order;  ///< computed classes, children first
    std::vector<std::string> problems;
};

bool has_valid_node(const Problem& problem, const Choice& choice, int e_class, Walk& walk) {
    const int node = choice[static_cast<size_t>(e_class)];
    if (node < 0) {
        walk.problems.push_back(fmt::format("class {} is used and has no chosen node", e_class));
        return false;
    }
    if (static_cast<size_t>(node) >= problem.nodes.size()) {
        walk.problems.push_back(fmt::format("class {} has node {}, which does not exist", e_class, node));
        return false;
    }
    if (const int owner = problem.nodes[static_cast<size_t>(node)].e_class; owner != e_class) {
        walk.problems.push_back(fmt::format("class {} has node {} of class {}", e_class, node, owner));
        return false;
    }
    return true;
}

struct Frame {
    int e_class;
    size_t next_child;
};

void visit(const Problem& problem, const Choice& choice, int root, Walk& walk) {
    const auto mark = [&](int e_class) -> Mark& { return walk.marks[static_cast<size_t>(e_class)]; };
    std::vector<Frame> open;
    const auto enter = [&](int e_class) {
        if (mark(e_class) == Mark::kDone) return;
        if (mark(e_class) == Mark::kOpen) {
            walk.problems.push_back(fmt::format("class {} needs itself", e_class));
            return;
        }
        if (!has_valid_node(problem, choice, e_class, walk)) {
            mark(e_class) = Mark::kDone;
            return;
        }
        mark(e_class) = Mark::kOpen;
        open.push_back({e_class, 0});
    };
    enter(root);
    while (!open.empty()) {
        const int e_class = open.back().e_class;
        const Node& node = problem.nodes[static_cast<size_t>(choice[static_cast<size_t>(e_class)])];
        if (open.back().next_child < node.children.size()) {
            enter(node.children[open.back().next_child++]);
            continue;
        }
        mark(e_class) = Mark::kDone;
        walk.order.push_back(e_class);
        open.pop_back();
    }
}

Walk walk_from_roots(const Problem& problem, const Choice& choice) {
    Walk walk;
    walk.marks.assign(static_cast<size_t>(problem.classes), Mark::kUnseen);
    for (const int root : problem.roots) visit(problem, choice, root, walk);
    return walk;
}

}  // namespace

double cost_of(const Problem& problem, const Choice& choice) {
    // In the order of the classes, so that the order in which they are found does not change the sum; wider
    // than its terms, so that thousands of them do not round it.
    Walk walk = walk_from_roots(problem, choice);
    TESSERA_CHECK(walk.problems.empty(), "{}", walk.problems.front());
    long double sum = 0;
    for (size_t e_class = 0; e_class < choice.size(); ++e_class)
        if (walk.marks[e_class] == Mark::kDone)
            sum += static_cast<long double>(problem.nodes[static_cast<size_t>(choice[e_class])].cost);
    return static_cast<double>(sum);
}

std::vector<std::string> violations(const Problem& problem, const Choice& choice) {
    if (choice.size() != static_cast<size_t>(problem.classes))
        return {
            fmt::format("the choice is of {} classes, the problem of {}", choice.size(), problem.classes)};
    Walk walk = walk_from_roots(problem, choice);
    for (size_t e_class = 0; e_class < choice.size(); ++e_class)
        if (choice[e_class] >= 0 && walk.marks[e_class] == Mark::kUnseen)
            walk.problems.push_back(fmt::format("class {} is chosen and nothing needs it", e_class));
    for (const std::vector<int>& group : problem.at_most_one) {
        int first = -1;
        for (const int node : group) {
            const int e_class = problem.nodes[static_cast<size_t>(node)].e_class;
            if (choice[static_cast<size_t>(e_class)] != node || node == first) continue;
            if (first >= 0)
                walk.problems.push_back(
                    fmt::format("nodes {} and {} are chosen, of which at most one may be", first, node));
            first = node;
        }
    }
    return walk.problems;
}

}  // namespace tessera::extraction
