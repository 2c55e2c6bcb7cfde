#include "search/extraction/neighbourhood.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "search/extraction/exact_search.h"

namespace tessera::extraction {
namespace {

constexpr double kFirstShare = 0.15;  // of all classes
constexpr double kGrowth = 1.15;
constexpr double kDecline = 0.85;
constexpr size_t kSmallestBall = 8;
constexpr int64_t kConflicts = 4000;  // for one neighbourhood: a second or two

/// The instance with all classes fixed to the choice, except those of the ball, which keep all their nodes.
Instance restricted(const Instance& instance, const Choice& choice, const std::vector<char>& is_free) {
    Instance part = instance;
    for (size_t e_class = 0; e_class < part.classes(); ++e_class) {
        std::vector<int>& nodes = part.members[e_class];
        if (is_free[e_class] == 0) nodes.clear();
        if (choice[e_class] < 0) continue;
        const auto place = std::lower_bound(nodes.begin(), nodes.end(), choice[e_class]);
        if (place == nodes.end() || *place != choice[e_class]) nodes.insert(place, choice[e_class]);
    }
    return part;
}

}  // namespace

Neighbourhood::Neighbourhood(Instance instance, uint64_t seed)
    : instance_(std::move(instance)),
      classes_(reachable(instance_)),
      neighbours_(instance_.classes()),
      state_(seed),
      share_(kFirstShare) {
    for (const int e_class : classes_)
        for (const int node : instance_.nodes_of(e_class))
            for (const int child : instance_.node(node).children) {
                neighbours_[static_cast<size_t>(e_class)].push_back(child);
                neighbours_[static_cast<size_t>(child)].push_back(e_class);
            }
    for (std::vector<int>& list : neighbours_) {
        std::sort(list.begin(), list.end());
        list.erase(std::unique(list.begin(), list.end()), list.end());
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014): the sequence is the same everywhere, unlike std::shuffle's.
uint64_t Neighbourhood::next_random() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

std::vector<char> Neighbourhood::ball(int centre, size_t size) const {
    std::vector<char> is_inside(instance_.classes(), 0);
    std::deque<int> queue = {centre};
    // A class counts when it is taken from the queue: a hub's thousand neighbours would fill the ball at
    // once.
    for (size_t taken = 0; !queue.empty() && taken < size; queue.pop_front()) {
        const int e_class = queue.front();
        if (std::exchange(is_inside[static_cast<size_t>(e_class)], 1) != 0) continue;
        ++taken;
        for (const int other : neighbours_[static_cast<size_t>(e_class)])
            if (is_inside[static_cast<size_t>(other)] == 0) queue.push_back(other);
    }
    return is_inside;
}

void Neighbourhood::improve(Incumbent& incumbent, Budget& budget) {
    while (!budget.is_exhausted()) {
        std::vector<int> used;
        for (const int e_class : classes_)
            if (incumbent.choice[static_cast<size_t>(e_class)] >= 0) used.push_back(e_class);
        const int centre = used[next_random() % used.size()];
        const auto size = static_cast<size_t>(share_ * static_cast<double>(classes_.size()));
        const std::vector<char> is_free = ball(centre, std::max(size, kSmallestBall));
        const Instance part = restricted(instance_, incumbent.choice, is_free);
        ExactSearch search(part, incumbent);
        Budget turn(budget, kConflicts);
        const bool is_proved = search.run(turn) == MaxSat::End::kOptimal;
        share_ = std::min(1.0, share_ * (is_proved ? kGrowth : kDecline));
        incumbent = search.best();
        budget.spend(1);  // a neighbourhood that simplification alone solves is not free either
    }
}

}  // namespace tessera::extraction
