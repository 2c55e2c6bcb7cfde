#include "distribution/grains.h"

#include <map>
#include <set>

// An iterator and an axis that it runs along have grains in the proportion of their extents, which leaves the
// number of grains the same:
//
//   layer_q[t, n]     n: 576 in 9 grains of 64                 made by n
//   heads[t, h, e] = layer_q[t, h * 64 + e]      h: 9 of 1     reads it by h
//   G[b, g, r, i, e] = heads[.., g * 3 + r, e]   g: 3 of 1     asks for heads in 3 grains of 3, layer_q of
//   192
//
// So every number of grains is handed on from where it is an extent: that of g to all axes and iterators that
// it reaches. The choices of an operator then try each of them, and facts/sbp says what is true.

namespace tessera::distribution {
namespace {

/// An iterator of an operator (is_axis false), or an axis of a value.
struct Place {
    bool is_axis;
    int of;
    int at;
    auto operator<=>(const Place&) const = default;
};

class Grains {
public:
    explicit Grains(const Problem& problem) : problem_(problem) {
        for (size_t o = 0; o < problem.operators.size(); ++o) add_links(static_cast<int>(o));
        while (spread()) {
        }
    }

    std::vector<int64_t> of(int op, int iterator) const {
        std::vector<int64_t> grains;
        const Place place{false, op, iterator};
        const auto found = numbers_.find(place);
        if (found == numbers_.end()) return grains;
        const int64_t extent = extents_.at(place);
        for (auto number = found->second.rbegin(); number != found->second.rend(); ++number) {
            const bool is_ragged = std::ranges::any_of(
                problem_.placement.levels, [&](const Level& level) { return *number % level.count != 0; });
            if (*number < extent && is_ragged && grains.size() < kMostGrains)
                grains.push_back(extent / *number);
        }
        return grains;
    }

private:
    void add_links(int o) {
        const Operator& op = problem_.operators[static_cast<size_t>(o)];
        const Definition& definition = op.bound.definition;
        for (size_t t = 0; t < definition.tensors.size(); ++t) {
            const int v = op.values[t];
            const std::vector<int64_t>& shape = problem_.values[static_cast<size_t>(v)].shape;
            for (const std::vector<ExprPtr>& coordinates : accesses(definition, static_cast<int>(t)))
                for (size_t a = 0; a < coordinates.size(); ++a)
                    for (const int i : iterators_in(coordinates[a])) {
                        const auto x = static_cast<size_t>(i);
                        if (!op.may_split.empty() && !op.may_split[x]) continue;
                        const Place iterator{false, o, i}, axis{true, v, static_cast<int>(a)};
                        const int64_t extent = op.bound.extents.iterators[x];
                        if (extent < 2 || shape[a] < 2) continue;
                        extents_[iterator] = extent;
                        extents_[axis] = shape[a];
                        numbers_[iterator].insert(extent);
                        numbers_[axis].insert(shape[a]);
                        links_.insert({iterator, axis});
                    }
        }
    }

    /// Hands numbers over where they divide the other extent.
    bool spread() {
        bool has_grown = false;
        const auto hand = [&](const Place& from, const Place& to) {
            for (const int64_t number : numbers_.at(from))
                if (extents_.at(to) % number == 0) has_grown |= numbers_.at(to).insert(number).second;
        };
        for (const auto& [iterator, axis] : links_) {
            // In the proportion of their extents: one must divide the other.
            const int64_t x = extents_.at(iterator), y = extents_.at(axis);
            if (x % y != 0 && y % x != 0) continue;
            hand(iterator, axis);
            hand(axis, iterator);
        }
        return has_grown;
    }

    const Problem& problem_;
    std::map<Place, int64_t> extents_;
    std::map<Place, std::set<int64_t>> numbers_;  ///< of grains
    std::set<std::pair<Place, Place>> links_;
};

}  // namespace

void derive_grains(Problem& problem) {
    if (problem.cut != facts::Cut::kRagged) return;
    const Grains grains(problem);
    for (size_t o = 0; o < problem.operators.size(); ++o) {
        Operator& op = problem.operators[o];
        op.grains.clear();
        for (size_t i = 0; i < op.bound.definition.iterators.size(); ++i)
            op.grains.push_back(grains.of(static_cast<int>(o), static_cast<int>(i)));
    }
}

}  // namespace tessera::distribution
