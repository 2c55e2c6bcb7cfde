#include "planner/weighted_sizes.h"

#include <algorithm>

namespace tessera {

bool holds(const SpecialisationPlan& specialisation, const Point& point) {
    return std::all_of(point.values.begin(), point.values.end(), [&](const auto& value) {
        const auto bounds = specialisation.bounds.find(value.first);
        return bounds != specialisation.bounds.end() && bounds->second.low <= value.second &&
               value.second <= bounds->second.high;
    });
}

std::vector<WeightedSizes> sizes_within(const Graph& graph, const SpecialisationPlan& specialisation) {
    std::map<std::string, int64_t> largest;
    for (const auto& [symbol, bounds] : specialisation.bounds) largest[symbol] = bounds.high;
    std::vector<WeightedSizes> found;
    for (const Point& point : graph.points) {
        if (!holds(specialisation, point)) continue;
        WeightedSizes sizes{point.weight, largest};
        for (const auto& [symbol, value] : point.values) sizes.symbols[symbol] = value;
        found.push_back(std::move(sizes));
    }
    if (found.empty()) found.push_back({1, largest});
    return found;
}

}  // namespace tessera
