#include "search/planner/specialisations.h"

#include <algorithm>
#include <utility>

#include "lowering/kernels/register_blocks.h"

namespace tessera::planner {
namespace {

/// Narrows the symbols that are at most `few` at all points whose names start with `name` to their largest
/// values there.
plan::SpecialisationPlan narrowed(const Graph& graph, const std::string& name, int64_t few,
                                  plan::SpecialisationPlan whole) {
    whole.name = name;
    for (auto& [symbol, bounds] : whole.bounds) {
        int64_t most = 0;
        for (const Point& point : graph.points) {
            const auto at = point.values.find(symbol);
            if (point.name.starts_with(name) && at != point.values.end()) most = std::max(most, at->second);
        }
        if (most > 0 && most <= few && bounds.low == 1) bounds.high = std::min(bounds.high, most);
    }
    return whole;
}

}  // namespace

std::vector<plan::SpecialisationPlan> specialisations(const Graph& graph) {
    plan::SpecialisationPlan whole;
    whole.name = "prefill";
    for (const DimSymbol& symbol : graph.symbols) whole.bounds[symbol.name] = {symbol.low, symbol.high};
    std::vector<plan::SpecialisationPlan> result;
    for (const auto& [name, few] : {std::pair{"decode", int64_t{1}}, {"batch", kernels::kFewRows}}) {
        plan::SpecialisationPlan narrow = narrowed(graph, name, few, whole);
        if (narrow.bounds != whole.bounds && (result.empty() || narrow.bounds != result.back().bounds))
            result.push_back(std::move(narrow));
    }
    result.push_back(std::move(whole));
    return result;
}

}  // namespace tessera::planner
