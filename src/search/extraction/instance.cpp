#include "search/extraction/instance.h"

#include <algorithm>
#include <utility>

#include "support/error.h"

namespace tessera::extraction {
namespace {

void sort_and_unite(std::vector<int>& values) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace

Instance make_instance(const Problem& problem, const ScaledCosts& scaled) {
    Instance instance;
    instance.members.resize(static_cast<size_t>(problem.classes));
    const auto is_class = [&](int index) { return index >= 0 && index < problem.classes; };
    for (size_t i = 0; i < problem.nodes.size(); ++i) {
        const Node& node = problem.nodes[i];
        TESSERA_CHECK(
            is_class(node.e_class) && std::all_of(node.children.begin(), node.children.end(), is_class),
            "node {}", i);
        instance.nodes.push_back({node.e_class, node.children, scaled.costs[i]});
        sort_and_unite(instance.nodes.back().children);
        instance.members[static_cast<size_t>(node.e_class)].push_back(static_cast<int>(i));
        instance.has_rewards = instance.has_rewards || scaled.costs[i] < 0;
    }
    TESSERA_CHECK(std::all_of(problem.roots.begin(), problem.roots.end(), is_class));
    instance.roots = problem.roots;
    sort_and_unite(instance.roots);
    instance.at_most_one = problem.at_most_one;
    for (std::vector<int>& group : instance.at_most_one) {
        sort_and_unite(group);
        TESSERA_CHECK(group.empty() ||
                      (group.front() >= 0 && static_cast<size_t>(group.back()) < problem.nodes.size()));
    }
    return instance;
}

std::optional<std::vector<int>> computed(const Instance& instance, const Choice& choice) {
    enum class State : uint8_t { kNew, kOpen, kDone };
    std::vector<State> state(instance.classes(), State::kNew);
    std::vector<int> order;
    std::vector<std::pair<int, size_t>> open;  // class, next child
    for (const int root : instance.roots) {
        int next = root;
        while (true) {
            if (next >= 0) {
                State& s = state[static_cast<size_t>(next)];
                if (s == State::kOpen) return std::nullopt;
                if (s == State::kNew) {
                    if (choice[static_cast<size_t>(next)] < 0) return std::nullopt;
                    s = State::kOpen;
                    open.emplace_back(next, 0);
                }
            }
            if (open.empty()) break;
            auto& [e_class, child] = open.back();
            const std::vector<int>& children = instance.node(choice[static_cast<size_t>(e_class)]).children;
            if (child < children.size()) {
                next = children[child++];
                continue;
            }
            state[static_cast<size_t>(e_class)] = State::kDone;
            order.push_back(e_class);
            open.pop_back();
            next = -1;
        }
    }
    return order;
}

std::optional<Incumbent> evaluate(const Instance& instance, const Choice& choice) {
    const auto order = computed(instance, choice);
    if (!order) return std::nullopt;
    Incumbent result{Choice(choice.size(), -1), 0};
    for (const int e_class : *order) {
        const int node = choice[static_cast<size_t>(e_class)];
        result.choice[static_cast<size_t>(e_class)] = node;
        result.cost += instance.node(node).cost;
    }
    for (const std::vector<int>& group : instance.at_most_one) {
        const auto is_chosen = [&](int node) {
            return result.choice[static_cast<size_t>(instance.node(node).e_class)] == node;
        };
        if (std::count_if(group.begin(), group.end(), is_chosen) > 1) return std::nullopt;
    }
    return result;
}

std::vector<int> reachable(const Instance& instance) {
    std::vector<char> is_reached(instance.classes(), 0);
    std::vector<int> result;
    const auto reach = [&](int e_class) {
        if (std::exchange(is_reached[static_cast<size_t>(e_class)], 1) == 0) result.push_back(e_class);
    };
    for (const int root : instance.roots) reach(root);
    for (size_t i = 0; i < result.size(); ++i)
        for (const int node : instance.nodes_of(result[i]))
            for (const int child : instance.node(node).children) reach(child);
    std::sort(result.begin(), result.end());
    return result;
}

}  // namespace tessera::extraction
