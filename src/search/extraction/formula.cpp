// Clauses of class c with nodes n (docs/extraction.md):
//
//   y_root                     the roots are computed
//   y_c -> x_n1 or x_n2 ...    by one of their nodes,
//   x_n -> y_c, x_n -> y_d     which needs its children d;
//   y_c -> y_d                 where every node of c has the child d, so that it propagates.
//
// A node that is alone in its class shares its variable. y_c pays the least cost of a class, x_n the
// additional cost of a node: the lower bound sees the first part whichever node is chosen. With rewards
// (negative costs) nothing may be computed that is not needed, so each class has one node at most, and a
// class that is no root needs a chosen parent.
//
// A model is read from the leaves upwards: a node is taken when all its children have one. The remaining
// classes depend on themselves, and are excluded (cycles.cpp).
#include "search/extraction/formula.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "support/error.h"

namespace tessera::extraction {
namespace {

constexpr size_t kPairwise = 5;  // beyond it a ladder has fewer clauses than all pairs

}  // namespace

Formula::Formula(const Instance& instance, Sat& sat)
    : instance_(instance),
      sat_(sat),
      classes_(reachable(instance)),
      y_(instance.classes(), 0),
      x_(instance.nodes.size(), 0) {
    for (const int e_class : classes_) {
        const std::vector<int>& nodes = instance.nodes_of(e_class);
        y_[static_cast<size_t>(e_class)] = sat_.new_variable();
        for (const int node : nodes)
            x_[static_cast<size_t>(node)] = nodes.size() == 1 ? y(e_class) : sat_.new_variable();
    }
    for (const int root : instance.roots) sat_.add({y(root)});
    for (const int e_class : classes_) add_class(e_class);
    for (const std::vector<int>& group : instance.at_most_one) {
        std::vector<int> literals;
        for (const int node : group)
            if (x(node) != 0) literals.push_back(x(node));
        add_at_most_one(std::move(literals));
    }
    if (instance.has_rewards) add_support(classes_);
}

void Formula::add_class(int e_class) {
    const std::vector<int>& nodes = instance_.nodes_of(e_class);
    std::vector<int> one_of = {-y(e_class)};
    std::vector<int> common;
    Weight least = kUnreached;
    for (const int node : nodes) {
        const std::vector<int>& children = instance_.node(node).children;
        if (nodes.size() > 1) {
            one_of.push_back(x(node));
            sat_.add({-x(node), y(e_class)});
        }
        for (const int child : children) sat_.add({-x(node), y(child)});
        std::vector<int> both;
        std::set_intersection(common.begin(), common.end(), children.begin(), children.end(),
                              std::back_inserter(both));
        common = node == nodes.front() ? children : both;
        least = std::min(least, instance_.node(node).cost);
    }
    if (nodes.size() != 1) sat_.add(one_of);
    if (nodes.size() > 1)
        for (const int child : common) sat_.add({-y(e_class), y(child)});
    if (instance_.has_rewards) least = 0;
    const bool is_root = std::binary_search(instance_.roots.begin(), instance_.roots.end(), e_class);
    if (is_root && !nodes.empty())
        base_ += least;  // paid in any case
    else if (!nodes.empty() && least > 0)
        softs_.push_back({-y(e_class), least});
    for (const int node : nodes) {
        const Weight excess = instance_.node(node).cost - least;
        if (excess > 0) softs_.push_back({-x(node), excess});
        if (excess < 0) {
            softs_.push_back({x(node), -excess});
            base_ += excess;
        }
    }
}

void Formula::add_support(const std::vector<int>& classes) {
    std::vector<std::vector<int>> parents(instance_.classes());
    for (const int e_class : classes) {
        std::vector<int> literals;
        for (const int node : instance_.nodes_of(e_class)) {
            literals.push_back(x(node));
            for (const int child : instance_.node(node).children)
                parents[static_cast<size_t>(child)].push_back(x(node));
        }
        add_at_most_one(std::move(literals));
    }
    for (const int e_class : classes) {
        if (std::binary_search(instance_.roots.begin(), instance_.roots.end(), e_class)) continue;
        std::vector<int>& clause = parents[static_cast<size_t>(e_class)];
        clause.push_back(-y(e_class));
        sat_.add(clause);
    }
}

void Formula::add_at_most_one(std::vector<int> literals) {
    while (literals.size() > kPairwise) {
        // At most one of the first, and if one of them holds, so does `any`, which takes their place.
        const int any = sat_.new_variable();
        std::vector<int> first(literals.end() - (kPairwise - 1), literals.end());
        literals.resize(literals.size() - first.size());
        for (const int literal : first) sat_.add({-literal, any});
        add_at_most_one(std::move(first));
        literals.push_back(any);
    }
    for (size_t i = 0; i < literals.size(); ++i)
        for (size_t j = 0; j < i; ++j) sat_.add({-literals[i], -literals[j]});
}

/// Chooses nodes that the model makes true, children first. @return classes that the model computes and that
/// depend on themselves
std::vector<int> Formula::derive(Choice& choice) const {
    std::vector<int> missing(instance_.nodes.size(), 0);
    std::vector<std::vector<int>> users(instance_.classes());
    std::deque<int> ready;
    for (const int e_class : classes_) {
        for (const int node : instance_.nodes_of(e_class)) {
            if (!sat_.is_true(x(node))) continue;
            const std::vector<int>& children = instance_.node(node).children;
            missing[static_cast<size_t>(node)] = static_cast<int>(children.size());
            for (const int child : children) users[static_cast<size_t>(child)].push_back(node);
            if (children.empty()) ready.push_back(node);
        }
    }
    for (; !ready.empty(); ready.pop_front()) {
        const int e_class = instance_.node(ready.front()).e_class;
        int& chosen = choice[static_cast<size_t>(e_class)];
        if (chosen >= 0) continue;
        chosen = ready.front();
        for (const int user : users[static_cast<size_t>(e_class)])
            if (--missing[static_cast<size_t>(user)] == 0) ready.push_back(user);
    }
    std::vector<int> underived;
    for (const int e_class : classes_)
        if (sat_.is_true(y(e_class)) && choice[static_cast<size_t>(e_class)] < 0)
            underived.push_back(e_class);
    return underived;
}

std::optional<Incumbent> Formula::read_model() {
    Choice choice(instance_.classes(), -1);
    const std::vector<int> underived = derive(choice);
    const bool is_complete = std::all_of(instance_.roots.begin(), instance_.roots.end(),
                                         [&](int root) { return choice[static_cast<size_t>(root)] >= 0; });
    // Cyclic classes that no root needs are not computed; only a reward could be drawn from them.
    if (is_complete && (!instance_.has_rewards || underived.empty())) {
        auto result = evaluate(instance_, choice);
        TESSERA_CHECK(result, "a derived choice is not valid");
        return result;
    }
    exclude(underived, choice);
    return std::nullopt;
}

}  // namespace tessera::extraction
