#include "planner/operator_traffic.h"

#include <algorithm>

#include "lowering/storage.h"

namespace tessera::planner {
namespace {

/// Upper bound of the share of a tensor's elements that are touched.
double touched_share(const Definition& definition, int tensor, const std::vector<int64_t>& extents,
                     double elements) {
    double most = 0;
    for (const auto& access : accesses(definition, tensor)) {
        double steps = 1;
        for (const int x : iterators_in(access))
            steps *= static_cast<double>(extents[static_cast<size_t>(x)]);
        most += steps;
    }
    return elements > 0 ? std::min(1.0, most / elements) : 0;
}

}  // namespace

OperatorTraffic operator_traffic(const Graph& graph, const Node& node, const std::vector<Layout>& layouts,
                                 const std::vector<int64_t>& extents,
                                 const std::map<std::string, int64_t>& symbols, const TrafficRates& rates) {
    const Definition& definition = *node.definition();
    OperatorTraffic sum;
    for (int t = 0; t < static_cast<int>(definition.tensors.size()); ++t) {
        const Value& value = graph[lowering::value_of(node, t)];
        const std::vector<int64_t> shape = evaluate(value.type.shape, symbols);
        double elements = 1;
        for (const int64_t extent : shape) elements *= static_cast<double>(extent);
        const auto stored = static_cast<double>(stored_elements(layouts[static_cast<size_t>(t)], shape));
        const double whole = stored * bits(value.type.element) / 8;
        const double bytes = whole * touched_share(definition, t, extents, elements);
        size_t level = rates.constants;
        if (value.kind == ValueKind::kConstant || value.kind == ValueKind::kState) {
            sum.streamed_bytes += bytes;
        } else {
            level = 0;
            while (level < rates.memory && static_cast<double>(rates.capacity(level)) < whole) ++level;
        }
        sum.seconds += bytes * rates.seconds_per_byte(level);
    }
    return sum;
}

}  // namespace tessera::planner
