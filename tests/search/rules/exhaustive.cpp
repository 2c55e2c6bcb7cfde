#include "search/rules/exhaustive.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace tessera::rules::testing {
namespace {

class Enumeration {
public:
    explicit Enumeration(const extraction::Problem& problem)
        : problem_(problem),
          members_(static_cast<size_t>(problem.classes)),
          cheapest_(members_.size(), std::numeric_limits<double>::infinity()),
          chosen_(members_.size(), -1),
          is_open_(members_.size()) {
        for (size_t n = 0; n < problem.nodes.size(); ++n) {
            const auto e_class = static_cast<size_t>(problem.nodes[n].e_class);
            members_[e_class].push_back(static_cast<int>(n));
            cheapest_[e_class] = std::min(cheapest_[e_class], problem.nodes[n].cost);
        }
        for (auto& nodes : members_)
            std::stable_sort(nodes.begin(), nodes.end(), [&](int a, int b) { return cost(a) < cost(b); });
    }

    double run() {
        std::vector<int> open;
        for (const int root : problem_.roots) need(root, open);
        descend(open, 0);
        return best_;
    }

private:
    double cost(int node) const { return problem_.nodes[static_cast<size_t>(node)].cost; }

    /// @return whether the class was not needed before
    bool need(int e_class, std::vector<int>& open) {
        const auto c = static_cast<size_t>(e_class);
        if (chosen_[c] >= 0 || is_open_[c]) return false;
        is_open_[c] = true;
        open.push_back(e_class);
        bound_ += cheapest_[c];
        return true;
    }

    /// True if the class is reached from `from` through chosen nodes.
    bool reaches(int from, int e_class) const {
        if (from == e_class) return true;
        const int node = chosen_[static_cast<size_t>(from)];
        if (node < 0) return false;
        const auto& children = problem_.nodes[static_cast<size_t>(node)].children;
        return std::any_of(children.begin(), children.end(),
                           [&](int child) { return reaches(child, e_class); });
    }

    void descend(std::vector<int>& open, double spent) {
        if (spent + bound_ >= best_) return;
        if (open.empty()) {
            best_ = spent;
            return;
        }
        const int e_class = open.back();
        const auto c = static_cast<size_t>(e_class);
        open.pop_back();
        is_open_[c] = false;
        bound_ -= cheapest_[c];
        for (const int node : members_[c]) {
            const auto& children = problem_.nodes[static_cast<size_t>(node)].children;
            if (std::any_of(children.begin(), children.end(),
                            [&](int child) { return reaches(child, e_class); }))
                continue;
            chosen_[c] = node;
            std::vector<int> next = open;
            std::vector<int> added;
            for (const int child : children)
                if (need(child, next)) added.push_back(child);
            descend(next, spent + cost(node));
            for (const int child : added) {
                is_open_[static_cast<size_t>(child)] = false;
                bound_ -= cheapest_[static_cast<size_t>(child)];
            }
            chosen_[c] = -1;
        }
        open.push_back(e_class);
        is_open_[c] = true;
        bound_ += cheapest_[c];
    }

    const extraction::Problem& problem_;
    std::vector<std::vector<int>> members_;
    std::vector<double> cheapest_;
    std::vector<int> chosen_;
    std::vector<bool> is_open_;
    double bound_ = 0;  ///< of the open classes
    double best_ = std::numeric_limits<double>::infinity();
};

}  // namespace

double least_cost(const extraction::Problem& problem) {
    return Enumeration(problem).run();
}

}  // namespace tessera::rules::testing
