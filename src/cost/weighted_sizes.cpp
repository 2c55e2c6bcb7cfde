#include "cost/weighted_sizes.h"

#include <algorithm>

namespace tessera::cost {

bool holds(const plan::SpecialisationPlan& specialisation, const Point& point) {
    return std::all_of(point.values.begin(), point.values.end(), [&](const auto& value) {
        const auto bounds = specialisation.bounds.find(value.first);
        return bounds != specialisation.bounds.end() && bounds->second.low <= value.second &&
               value.second <= bounds->second.high;
    });
}

const Point* heaviest_point(const Graph& graph, const plan::SpecialisationPlan& specialisation) {
    const Point* heaviest = nullptr;
    for (const Point& point : graph.points)
        if (holds(specialisation, point) && (!heaviest || point.weight > heaviest->weight)) heaviest = &point;
    return heaviest;
}

std::optional<size_t> specialisation_at(const plan::Plan& plan, const Point& point) {
    for (size_t s = 0; s < plan.specialisations.size(); ++s)
        if (holds(plan.specialisations[s], point)) return s;
    return std::nullopt;
}

std::vector<Point> points_of(const Graph& graph, const plan::Plan& plan,
                             const plan::SpecialisationPlan& specialisation) {
    std::vector<Point> found;
    for (const Point& point : graph.points) {
        const auto runs = specialisation_at(plan, point);
        if (runs && plan.specialisations[*runs].name == specialisation.name) found.push_back(point);
    }
    return found;
}

std::vector<WeightedSizes> sizes_of(const Graph& graph, const plan::Plan& plan,
                                    const plan::SpecialisationPlan& specialisation) {
    std::map<std::string, int64_t> largest;
    for (const auto& [symbol, bounds] : specialisation.bounds) largest[symbol] = bounds.high;
    std::vector<WeightedSizes> found;
    for (const Point& point : points_of(graph, plan, specialisation)) {
        WeightedSizes sizes{point.weight, largest};
        for (const auto& [symbol, value] : point.values) sizes.symbols[symbol] = value;
        found.push_back(std::move(sizes));
    }
    if (found.empty()) found.push_back({1, largest});
    return found;
}

std::vector<int64_t> extents_at(const Definition& definition, const std::map<std::string, int64_t>& symbols) {
    const std::vector<int64_t> dims = dims_of(definition, symbols);
    std::vector<int64_t> extents;
    for (const Iterator& iterator : definition.iterators)
        extents.push_back(evaluate_constant(iterator.extent, dims));
    return extents;
}

}  // namespace tessera::cost
