#include "cost/kernel_traffic.h"

#include <algorithm>
#include <set>

#include "facts/touched.h"
#include "facts/work.h"
#include "ir/iterator_use.h"

namespace tessera::cost {
namespace {

facts::BoundDefinition bound_at(const lowering::LoweringInput& input, const Node& node,
                                const SizePoint& point) {
    const Definition& definition = *node.definition();
    facts::BoundDefinition bound =
        facts::bind_unfilled(definition, dims_of(definition, point.symbols), node.name);
    for (size_t i = 0; i < node.operands.size(); ++i) {
        const auto found = point.contents.find(input.graph[node.operands[i]].name);
        if (found != point.contents.end()) bound.contents[i] = found->second;
    }
    return bound;
}

/// Whether workers touch parts of the tensor of their own.
bool is_divided(const Definition& definition, int tensor, const std::vector<int>& divided) {
    for (const std::vector<ExprPtr>& coordinates : accesses(definition, tensor)) {
        if (std::any_of(divided.begin(), divided.end(), [&](int x) { return uses(coordinates, x); }))
            return true;
    }
    return false;
}

}  // namespace

KernelTraffic kernel_traffic(const lowering::LoweringInput& input, const Block& block,
                             const KernelTiles& tiles, const SizePoint& point) {
    const lowering::Storage storage(input, block);
    KernelTraffic traffic;
    std::set<ValueId> made;
    for (const LeafTile& tile : tiles.leaves) {
        const Node& node = *tile.node;
        const facts::BoundDefinition bound = bound_at(input, node, point);
        double box = 1;
        for (const int64_t extent : bound.extents.iterators) box *= static_cast<double>(extent);
        traffic.executed[&node] = box > 0 ? static_cast<double>(facts::derive_work(bound).points) / box : 0;
        const std::vector<facts::Touched> touched = facts::derive_touched(bound);
        const plan::MicroKernel& kernel = *tile.leaf->kernel;
        const std::set<int> streamed =
            kernel.streamed ? kernel.streamed(bound.definition, *tile.leaf) : std::set<int>{};
        traffic.has_product = traffic.has_product || !streamed.empty();
        const size_t operands = node.operands.size();
        for (size_t t = 0; t < touched.size(); ++t) {
            const ValueId value = t < operands ? node.operands[t] : node.results[t - operands];
            const ValueId base = storage.base(value);
            if (storage.plan_of(base).place == plan::Place::kTile) continue;
            StorageTraffic& at = traffic.storages[base];
            at.is_divided = at.is_divided || is_divided(bound.definition, static_cast<int>(t), tile.divided);
            if (t >= operands) {
                at.written_bytes = std::max(at.written_bytes, touched[t].bytes);
                made.insert(base);
            } else if (!made.contains(base)) {
                at.read_bytes = std::max(at.read_bytes, touched[t].bytes);
                at.is_streamed = at.is_streamed || streamed.contains(static_cast<int>(t));
            }
        }
    }
    return traffic;
}

}  // namespace tessera::cost
