// Preprocessing, decisive for proofs (an e-graph has many nodes that no good choice uses):
//
//   1. a node that uses its own class, or a class that no finite term computes, goes; so does what no root
//      reaches;
//   2. a class whose only node is free gives way to the children of that node;
//   3. must(c) = {c} + the intersection over the nodes of c of the must of their children: the greatest
//      solution, computed from above. A node goes if its own class is in the must of its children; if the
//      least cost of all classes that it and the roots must have exceeds a known solution; or if a sibling
//      costs no more and has no child that the node does not need anyway. The must of a root become roots.
//   4. a child that another child of the same node must have is not named again; nor is a root that cannot
//      lead back to the node's class: it is computed in any case, and can close no cycle.
//
// Nodes of an at-most-one group may be dropped but displace no other node.
#include "search/extraction/simplify.h"

#include <algorithm>
#include <utility>

#include "search/extraction/components.h"
#include "search/extraction/needed.h"
#include "support/error.h"

namespace tessera::extraction {
namespace {

// Bounds against instances that were made to be slow; no real one comes near.
constexpr size_t kMostInlined = 20'000'000;
constexpr size_t kMostSiblings = 4000;  // all pairs of them are compared

class Simplifier {
public:
    Simplifier(Instance& instance, Weight upper, const SimplifyOptions& options)
        : instance_(instance), upper_(upper), options_(options), is_grouped_(instance.nodes.size(), 0) {
        for (const std::vector<int>& group : instance.at_most_one)
            for (const int node : group) is_grouped_[static_cast<size_t>(node)] = 1;
    }

    bool run() {
        for (int round = 0; round < options_.rounds; ++round) {
            has_changed_ = false;
            drop_uncomputable();
            for (const int root : instance_.roots)
                if (instance_.nodes_of(root).empty()) return false;
            if (options_.inline_free) inline_free();
            if (options_.needed) use_needed();
            if (!has_changed_) break;
        }
        return true;
    }

private:
    std::vector<int>& members(int e_class) { return instance_.members[static_cast<size_t>(e_class)]; }
    std::vector<int>& children(int node) { return instance_.nodes[static_cast<size_t>(node)].children; }
    bool is_root(int e_class) const {
        return std::binary_search(instance_.roots.begin(), instance_.roots.end(), e_class);
    }
    template <typename Predicate>
    void drop_members(int e_class, Predicate&& predicate) {
        if (std::erase_if(members(e_class), predicate) > 0) has_changed_ = true;
    }

    void drop_uncomputable();
    void inline_free();
    void grow_roots();
    void set_roots(std::vector<int> roots);
    void use_needed();
    void drop_dominated(const NeededClasses& needed, int e_class);
    void drop_expensive(const NeededClasses& needed, const NeededClasses::Bits& roots, int e_class,
                        const std::vector<Weight>& least);
    void drop_root_children(const std::vector<int>& component, int e_class);
    void drop_implied_children(const NeededClasses& needed, int e_class);

    Instance& instance_;
    Weight upper_;
    const SimplifyOptions& options_;
    std::vector<char> is_grouped_;
    bool has_changed_ = false;
    size_t inlined_ = 0;  ///< children that inlining has written
};

void Simplifier::drop_uncomputable() {
    std::vector<int> missing(instance_.nodes.size(), 0);
    std::vector<std::vector<int>> users(instance_.classes());
    std::vector<int> ready;
    for (size_t e_class = 0; e_class < instance_.classes(); ++e_class)
        for (const int node : instance_.members[e_class]) {
            missing[static_cast<size_t>(node)] = static_cast<int>(children(node).size());
            for (const int child : children(node)) users[static_cast<size_t>(child)].push_back(node);
            if (children(node).empty()) ready.push_back(node);
        }
    std::vector<char> is_computable(instance_.classes(), 0);
    for (size_t i = 0; i < ready.size(); ++i) {
        const auto e_class = static_cast<size_t>(instance_.node(ready[i]).e_class);
        if (std::exchange(is_computable[e_class], 1) != 0) continue;
        for (const int user : users[e_class])
            if (--missing[static_cast<size_t>(user)] == 0) ready.push_back(user);
    }
    for (size_t e_class = 0; e_class < instance_.classes(); ++e_class)
        drop_members(static_cast<int>(e_class), [&](int node) {
            return std::any_of(children(node).begin(), children(node).end(), [&](int child) {
                return child == static_cast<int>(e_class) || is_computable[static_cast<size_t>(child)] == 0;
            });
        });
    std::vector<char> is_needed(instance_.classes(), 0);
    for (const int e_class : reachable(instance_)) is_needed[static_cast<size_t>(e_class)] = 1;
    for (size_t e_class = 0; e_class < instance_.classes(); ++e_class)
        if (is_needed[e_class] == 0 && instance_.members[e_class].size() > 1) {
            // One node stays: the class may have been inlined, and is restored by it.
            instance_.members[e_class].clear();
        }
}

void Simplifier::inline_free() {
    const auto is_free = [&](int e_class) {
        const std::vector<int>& nodes = instance_.nodes_of(e_class);
        return nodes.size() == 1 && instance_.node(nodes.front()).cost == 0 &&
               is_grouped_[static_cast<size_t>(nodes.front())] == 0;
    };
    // One level at a time, below free classes too: chains halve from round to round.
    const auto expand = [&](std::vector<int>& list) {
        if (inlined_ > kMostInlined || std::none_of(list.begin(), list.end(), is_free)) return;
        std::vector<int> result;
        for (const int e_class : list) {
            if (!is_free(e_class)) {
                result.push_back(e_class);
                continue;
            }
            const std::vector<int>& below = children(instance_.nodes_of(e_class).front());
            result.insert(result.end(), below.begin(), below.end());
        }
        std::sort(result.begin(), result.end());
        result.erase(std::unique(result.begin(), result.end()), result.end());
        inlined_ += result.size();
        list = std::move(result);
        has_changed_ = true;
    };
    for (const int e_class : reachable(instance_))
        for (const int node : instance_.nodes_of(e_class)) expand(children(node));
    expand(instance_.roots);
}

/// A class that all nodes of a root use directly becomes a root; this needs no bits of NeededClasses, so it
/// works for any size.
void Simplifier::grow_roots() {
    std::vector<char> is_known(instance_.classes(), 0);
    for (const int root : instance_.roots) is_known[static_cast<size_t>(root)] = 1;
    std::vector<int> roots = instance_.roots;
    for (size_t i = 0; i < roots.size(); ++i) {
        const std::vector<int>& nodes = instance_.nodes_of(roots[i]);
        for (const int child : children(nodes.front())) {
            const bool is_common = std::all_of(nodes.begin(), nodes.end(), [&](int node) {
                return std::binary_search(children(node).begin(), children(node).end(), child);
            });
            if (is_common && std::exchange(is_known[static_cast<size_t>(child)], 1) == 0)
                roots.push_back(child);
        }
    }
    std::sort(roots.begin(), roots.end());
    set_roots(std::move(roots));
}

void Simplifier::set_roots(std::vector<int> roots) {
    if (roots != instance_.roots) has_changed_ = true;
    instance_.roots = std::move(roots);
}

void Simplifier::use_needed() {
    grow_roots();
    const std::vector<int> classes = reachable(instance_);
    const std::vector<int> component = components(instance_, classes);
    for (const int e_class : classes) drop_root_children(component, e_class);
    const auto needed = NeededClasses::of(instance_, classes);
    if (!needed) return;
    std::vector<Weight> least(instance_.classes(), 0);
    for (const int e_class : classes)
        for (const int node : instance_.nodes_of(e_class)) {
            Weight& so_far = least[static_cast<size_t>(e_class)];
            const Weight cost = instance_.node(node).cost;
            so_far = node == instance_.nodes_of(e_class).front() ? cost : std::min(so_far, cost);
        }
    const NeededClasses::Bits roots = needed->of_all(instance_.roots);
    for (const int e_class : classes) {
        drop_members(e_class, [&](int node) {
            const std::vector<int>& below = children(node);
            return std::any_of(below.begin(), below.end(),
                               [&](int child) { return needed->needs(child, e_class); });
        });
        if (instance_.has_rewards) continue;  // a dearer node may bring more rewards
        if (upper_ != kUnreached) drop_expensive(*needed, roots, e_class, least);
        drop_dominated(*needed, e_class);
    }
    set_roots(needed->classes_in(roots));
    for (const int e_class : classes) drop_implied_children(*needed, e_class);
}

void Simplifier::drop_expensive(const NeededClasses& needed, const NeededClasses::Bits& roots, int e_class,
                                const std::vector<Weight>& least) {
    const int self[] = {e_class};
    NeededClasses::Bits always = needed.of_all(self);
    for (size_t w = 0; w < always.size(); ++w) always[w] |= roots[w];
    drop_members(e_class, [&](int node) {
        NeededClasses::Bits all = needed.of_all(children(node));
        for (size_t w = 0; w < all.size(); ++w) all[w] |= always[w];
        Weight bound = instance_.node(node).cost - least[static_cast<size_t>(e_class)];
        for (const int other : needed.classes_in(all)) bound += least[static_cast<size_t>(other)];
        return bound > upper_;
    });
}

void Simplifier::drop_dominated(const NeededClasses& needed, int e_class) {
    std::vector<int>& nodes = members(e_class);
    if (nodes.size() > kMostSiblings) return;
    // The last first: of two equal nodes the earlier one stays.
    for (size_t i = nodes.size(); i-- > 0;) {
        const int node = nodes[i];
        const NeededClasses::Bits set = needed.of_all(children(node));
        const bool is_dominated = std::any_of(nodes.begin(), nodes.end(), [&](int other) {
            return other != node && is_grouped_[static_cast<size_t>(other)] == 0 &&
                   instance_.node(other).cost <= instance_.node(node).cost &&
                   std::all_of(children(other).begin(), children(other).end(),
                               [&](int child) { return needed.contains(set, child); });
        });
        if (!is_dominated) continue;
        nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(i));
        has_changed_ = true;
    }
}

/// A root is computed in any case, and closes no cycle where it cannot lead back.
void Simplifier::drop_root_children(const std::vector<int>& component, int e_class) {
    for (const int node : instance_.nodes_of(e_class)) {
        const size_t dropped = std::erase_if(children(node), [&](int child) {
            return is_root(child) &&
                   component[static_cast<size_t>(child)] != component[static_cast<size_t>(e_class)];
        });
        has_changed_ = has_changed_ || dropped > 0;
    }
}

void Simplifier::drop_implied_children(const NeededClasses& needed, int e_class) {
    for (const int node : instance_.nodes_of(e_class)) {
        const std::vector<int> all = children(node);
        const size_t dropped = std::erase_if(children(node), [&](int child) {
            return std::any_of(all.begin(), all.end(),
                               [&](int other) { return other != child && needed.needs(other, child); });
        });
        has_changed_ = has_changed_ || dropped > 0;
    }
}

}  // namespace

bool simplify(Instance& instance, Weight upper, const SimplifyOptions& options) {
    return Simplifier(instance, upper, options).run();
}

std::optional<Incumbent> restore(const Instance& before, const Instance& after, const Choice& choice) {
    Choice whole = choice;
    for (size_t e_class = 0; e_class < whole.size(); ++e_class)
        if (whole[e_class] < 0 && after.members[e_class].size() == 1)
            whole[e_class] = after.members[e_class].front();
    return evaluate(before, whole);
}

}  // namespace tessera::extraction
