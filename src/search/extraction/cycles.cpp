// Cuts against models in which classes depend on themselves.
//
//     a = f(b)   b = g(a)   b = k            model: a by f, b by g
//
// The first kind forbids a shortest cycle through each class: not all of its edges, "a is computed by a node
// that uses b" and "b by one that uses a". The second kind is for a set that depends on nothing but itself,
// {a, b}: computing one of them needs a node of the set that leads out of it, here k. The first kind is
// short, the second one excludes all cycles of the set at once; both hold in every choice, so they stay.
// Source of the second: Lin, Zhao: ASSAT, Artificial Intelligence 157 (loop formulas).
#include <algorithm>
#include <deque>
#include <utility>

#include "search/extraction/components.h"
#include "search/extraction/formula.h"
#include "support/error.h"

namespace tessera::extraction {
namespace {

constexpr size_t kCyclesPerModel = 200;

}  // namespace

int Formula::edge(int from, int to) {
    const auto [known, is_new] = edges_.try_emplace({from, to}, 0);
    if (!is_new) return known->second;
    std::vector<int> users;
    for (const int node : instance_.nodes_of(from)) {
        const std::vector<int>& children = instance_.node(node).children;
        if (std::binary_search(children.begin(), children.end(), to)) users.push_back(x(node));
    }
    if (users.size() == 1) return known->second = users.front();
    known->second = sat_.new_variable();
    for (const int user : users) sat_.add({-user, known->second});
    return known->second;
}

/// Classes that the model computes and that have no finite term in it, as an instance: each has one node with
/// those of its children that are such, whichever true node has them.
Instance Formula::dependencies(const std::vector<int>& underived, const Choice& choice) const {
    Instance result;
    result.members.resize(instance_.classes());
    for (const int e_class : underived) {
        std::vector<int> children;
        for (const int node : instance_.nodes_of(e_class)) {
            if (!sat_.is_true(x(node))) continue;
            for (const int child : instance_.node(node).children)
                if (choice[static_cast<size_t>(child)] < 0) children.push_back(child);
        }
        std::sort(children.begin(), children.end());
        children.erase(std::unique(children.begin(), children.end()), children.end());
        result.members[static_cast<size_t>(e_class)] = {static_cast<int>(result.nodes.size())};
        result.nodes.push_back({e_class, std::move(children), 0});
    }
    return result;
}

void Formula::exclude(const std::vector<int>& underived, const Choice& choice) {
    // The model must be read before clauses are added, which end it.
    const Instance dependent = dependencies(underived, choice);
    cut_cycles(dependent, underived);
    demand_ways_out(dependent, underived);
}

void Formula::cut_cycles(const Instance& dependent, const std::vector<int>& underived) {
    size_t cuts = 0;
    std::vector<int> reached_from(instance_.classes(), -1), reached_by(instance_.classes(), -1);
    std::vector<char> is_cut(instance_.classes(), 0);
    for (const int start : underived) {
        if (cuts == kCyclesPerModel) return;
        if (is_cut[static_cast<size_t>(start)] != 0) continue;  // an earlier cycle goes through it
        std::deque<int> queue = {start};
        bool is_closed = false;
        while (!queue.empty() && !is_closed) {
            const int from = queue.front();
            queue.pop_front();
            for (const int to : dependent.node(dependent.nodes_of(from).front()).children) {
                if (std::exchange(reached_from[static_cast<size_t>(to)], start) == start) continue;
                reached_by[static_cast<size_t>(to)] = from;
                queue.push_back(to);
                is_closed = is_closed || to == start;
            }
        }
        if (!is_closed) continue;  // it only leads to a cycle
        std::vector<int> clause;
        int to = start;
        do {
            const int from = reached_by[static_cast<size_t>(to)];
            clause.push_back(-edge(from, to));
            is_cut[static_cast<size_t>(to)] = 1;
            to = from;
        } while (to != start);
        sat_.add(clause);
        ++cuts;
    }
    TESSERA_CHECK(cuts > 0, "{} classes depend on themselves without a cycle", underived.size());
}

void Formula::demand_ways_out(const Instance& dependent, const std::vector<int>& underived) {
    // Components that lead to no other one depend on themselves alone.
    const std::vector<int> component = components(dependent, underived);
    const auto component_of = [&](int e_class) { return component[static_cast<size_t>(e_class)]; };
    std::map<int, std::vector<int>> sets;
    for (const int e_class : underived) sets[component_of(e_class)].push_back(e_class);
    for (const Instance::Node& node : dependent.nodes)
        for (const int child : node.children)
            if (component_of(child) != component_of(node.e_class)) sets.erase(component_of(node.e_class));
    for (const auto& [number, set] : sets) {
        const int has_way_out = sat_.new_variable();
        std::vector<int> ways_out = {-has_way_out};
        for (const int e_class : set) {
            sat_.add({-y(e_class), has_way_out});
            for (const int node : instance_.nodes_of(e_class)) {
                const std::vector<int>& children = instance_.node(node).children;
                if (std::none_of(children.begin(), children.end(),
                                 [&, own = number](int child) { return component_of(child) == own; }))
                    ways_out.push_back(x(node));
            }
        }
        sat_.add(ways_out);
    }
}

}  // namespace tessera::extraction
