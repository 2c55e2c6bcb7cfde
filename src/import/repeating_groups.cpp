#include "import/repeating_groups.h"

#include <tuple>

namespace tessera::import {
namespace {

/// The number of times that the `period` kinds at `first` follow one another.
int64_t repeats_at(std::span<const int> kinds, int64_t first, int64_t period) {
    int64_t end = first + period;
    while (end < std::ssize(kinds) &&
           kinds[static_cast<size_t>(end)] == kinds[static_cast<size_t>(end - period)])
        ++end;
    return (end - first) / period;
}

struct Best {
    int64_t compiled = 0;
    int64_t groups = 0;
    LayerGroup group;
    auto cost() const { return std::tuple(compiled, groups); }
};

}  // namespace

std::vector<LayerGroup> repeating_groups(std::span<const int> kinds) {
    const int64_t count = std::ssize(kinds);
    std::vector<Best> from(static_cast<size_t>(count) +
                           1);  // the best division of the layers from here to the end
    for (int64_t first = count - 1; first >= 0; --first) {
        Best best{.compiled = count + 1};
        for (int64_t period = 1; first + period <= count; ++period) {
            for (int64_t repeats = repeats_at(kinds, first, period); repeats >= 1; --repeats) {
                const Best& rest = from[static_cast<size_t>(first + period * repeats)];
                const Best next{rest.compiled + period, rest.groups + 1, {first, period, repeats}};
                if (next.cost() < best.cost()) best = next;
            }
        }
        from[static_cast<size_t>(first)] = best;
    }
    std::vector<LayerGroup> groups;
    for (int64_t at = 0; at < count; at += groups.back().period * groups.back().repeats)
        groups.push_back(from[static_cast<size_t>(at)].group);
    return groups;
}

}  // namespace tessera::import
