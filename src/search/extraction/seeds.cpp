#include "search/extraction/seeds.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "support/error.h"

namespace tessera::extraction {
namespace {

constexpr Weight kSaturated = kUnreached - 1;
// Limits for adversarial instances that are slow or large; no real one comes near.
constexpr int64_t kGreedySteps = 1'000'000'000;  // visits of set elements: a few seconds
constexpr int64_t kGreedyElements = 50'000'000;  // of all sets: 200 MB
constexpr int64_t kSettleSteps = 200'000'000;    // visits of classes: a second

Weight add(Weight a, Weight b) {
    Weight sum = 0;
    return __builtin_add_overflow(a, b, &sum) || sum > kSaturated ? kSaturated : sum;
}

/// Nodes by the class that they use.
std::vector<std::vector<int>> users_of(const Instance& instance) {
    std::vector<std::vector<int>> users(instance.classes());
    for (const std::vector<int>& nodes : instance.members)
        for (const int node : nodes)
            for (const int child : instance.node(node).children)
                users[static_cast<size_t>(child)].push_back(node);
    return users;
}

/// Offers every node whose children have a value to `improve`, which returns true if the value of its class
/// has fallen, until none falls any more. @return true if all roots have a value
template <typename HasValue, typename Improve>
bool relax(const Instance& instance, HasValue&& has_value, Improve&& improve) {
    const auto users = users_of(instance);
    std::deque<int> queue;
    std::vector<char> is_queued(instance.nodes.size(), 0);
    const auto offer = [&](int node) {
        if (std::exchange(is_queued[static_cast<size_t>(node)], 1) == 0) queue.push_back(node);
    };
    for (const std::vector<int>& nodes : instance.members)
        for (const int node : nodes)
            if (instance.node(node).children.empty()) offer(node);
    while (!queue.empty()) {
        const int node = queue.front();
        queue.pop_front();
        is_queued[static_cast<size_t>(node)] = 0;
        const std::vector<int>& children = instance.node(node).children;
        if (!std::all_of(children.begin(), children.end(), has_value) || !improve(node)) continue;
        for (const int user : users[static_cast<size_t>(instance.node(node).e_class)]) offer(user);
    }
    return std::all_of(instance.roots.begin(), instance.roots.end(), has_value);
}

/// Rewards are left out: they would make cycles of ever lower cost.
Weight price(const Instance& instance, int node) {
    return std::max<Weight>(0, instance.node(node).cost);
}

}  // namespace

std::optional<Choice> bottom_up(const Instance& instance) {
    Choice choice(instance.classes(), -1);
    std::vector<Weight> cost(instance.classes(), kUnreached);
    const bool is_complete = relax(
        instance, [&](int e_class) { return choice[static_cast<size_t>(e_class)] >= 0; },
        [&](int node) {
            Weight sum = price(instance, node);
            for (const int child : instance.node(node).children)
                sum = add(sum, cost[static_cast<size_t>(child)]);
            const auto e_class = static_cast<size_t>(instance.node(node).e_class);
            if (sum >= cost[e_class]) return false;
            cost[e_class] = sum;
            choice[e_class] = node;
            return true;
        });
    if (!is_complete) return std::nullopt;
    return choice;
}

std::optional<Choice> greedy_dag(const Instance& instance) {
    struct Computed {
        Weight cost = kUnreached;
        std::vector<int> nodes;  ///< ascending; one of each class
    };
    std::vector<Computed> best(instance.classes());
    Choice choice(instance.classes(), -1);
    int64_t steps = 0, elements = 0;
    const auto is_exhausted = [&] { return steps > kGreedySteps || elements > kGreedyElements; };
    std::vector<int> node_of(instance.classes(), -1);
    const bool is_complete = relax(
        instance, [&](int e_class) { return choice[static_cast<size_t>(e_class)] >= 0; },
        [&](int node) {
            const auto own = static_cast<size_t>(instance.node(node).e_class);
            if (is_exhausted()) return false;
            Computed made{price(instance, node), {node}};
            std::vector<int> touched;
            bool is_cyclic = false;
            for (const int child : instance.node(node).children) {
                for (const int below : best[static_cast<size_t>(child)].nodes) {
                    const auto e_class = static_cast<size_t>(instance.node(below).e_class);
                    is_cyclic = is_cyclic || e_class == own;
                    // Two children may have computed one class differently; the first one counts.
                    if (node_of[e_class] >= 0) continue;
                    node_of[e_class] = below;
                    touched.push_back(static_cast<int>(e_class));
                    made.nodes.push_back(below);
                    made.cost = add(made.cost, price(instance, below));
                }
                steps += static_cast<int64_t>(best[static_cast<size_t>(child)].nodes.size());
            }
            for (const int e_class : touched) node_of[static_cast<size_t>(e_class)] = -1;
            if (is_cyclic || made.cost >= best[own].cost) return false;
            choice[own] = node;
            elements +=
                static_cast<int64_t>(made.nodes.size()) - static_cast<int64_t>(best[own].nodes.size());
            best[own] = std::move(made);
            return true;
        });
    if (!is_complete || is_exhausted()) return std::nullopt;
    return choice;
}

namespace {

/// True if `target` is computed below one of these classes, or is one of them.
bool depends(const Instance& instance, const Choice& choice, std::vector<int> from, int target) {
    std::vector<char> is_seen(instance.classes(), 0);
    while (!from.empty()) {
        const int e_class = from.back();
        from.pop_back();
        if (e_class == target) return true;
        if (std::exchange(is_seen[static_cast<size_t>(e_class)], 1) != 0) continue;
        const std::vector<int>& below = instance.node(choice[static_cast<size_t>(e_class)]).children;
        from.insert(from.end(), below.begin(), below.end());
    }
    return false;
}

}  // namespace

Incumbent settle(const Instance& instance, Incumbent incumbent) {
    int64_t steps = 0;
    for (bool has_changed = true; has_changed;) {
        has_changed = false;
        for (size_t e_class = 0; e_class < instance.classes(); ++e_class) {
            if (steps > kSettleSteps) return incumbent;
            for (const int node : instance.members[e_class]) {
                const int chosen = incumbent.choice[e_class];
                if (chosen < 0) break;
                const Weight saved = instance.node(chosen).cost - instance.node(node).cost;
                if (saved < 0 || (saved == 0 && node >= chosen)) continue;
                const std::vector<int>& children = instance.node(node).children;
                const auto is_computed = [&](int child) {
                    return incumbent.choice[static_cast<size_t>(child)] >= 0;
                };
                if (!std::all_of(children.begin(), children.end(), is_computed)) continue;
                steps += static_cast<int64_t>(instance.classes());
                if (depends(instance, incumbent.choice, children, static_cast<int>(e_class))) continue;
                Choice changed = incumbent.choice;
                changed[e_class] = node;
                auto better = evaluate(instance, changed);
                if (!better || better->cost > incumbent.cost) continue;
                incumbent = std::move(*better);
                has_changed = true;
            }
        }
    }
    return incumbent;
}

}  // namespace tessera::extraction
