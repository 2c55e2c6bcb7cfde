#include "planner/nest_cost.h"

#include <algorithm>
#include <map>

#include "cost/leaf_tiles.h"
#include "cost/weighted_sizes.h"
#include "lowering/tensor_layouts.h"
#include "planner/operator_traffic.h"
#include "planner/timed_leaves.h"

namespace tessera::planner {
namespace {

/// Bytes of each storage that one call of an operator touches.
void add_touched(std::map<ValueId, int64_t>& touched, const cost::LeafTile& tile,
                 const lowering::Storage& storage) {
    const Definition& definition = *tile.node->definition();
    for (int t = 0; t < static_cast<int>(definition.tensors.size()); ++t) {
        const TensorDecl& tensor = definition.tensors[static_cast<size_t>(t)];
        int64_t& most = touched[storage.base(lowering::value_of(*tile.node, t))];
        for (const auto& access : accesses(definition, t)) {
            int64_t elements = 1;
            for (const int x : iterators_in(access)) elements *= tile.extents[static_cast<size_t>(x)];
            most = std::max(most, elements * bits(tensor.type) / 8);
        }
    }
}

}  // namespace

std::optional<NestCost> nest_cost(const lowering::LoweringInput& input, const Block& block,
                                  const plan::Nest& nest, const PlannerOptions& options) {
    const plan::KernelPlan kernel{block.name, nest};
    const size_t constants = level_of_constants(options);
    NestCost cost;
    for (const cost::WeightedSizes& point : cost::sizes_of(input.graph, input.plan, input.specialisation)) {
        plan::SpecialisationPlan pinned = input.specialisation;
        for (auto& [symbol, bounds] : pinned.bounds) {
            const int64_t size = point.symbols.at(symbol);
            bounds = {size, size};
        }
        const lowering::LoweringInput at_point =
            lowering::lowering_input(input.graph, input.plan, pinned, input.constants);
        const lowering::Storage storage(at_point, block);
        std::map<ValueId, int64_t> touched;
        for (const cost::LeafTile& tile : cost::leaf_tiles(at_point, block, kernel).leaves) {
            const Definition& definition = *tile.node->definition();
            const cost::LeafCost leaf =
                options.costs->leaf(definition, *tile.leaf, tile.extents,
                                    lowering::layouts_of(input.graph, input.plan, *tile.node, pinned));
            if (!leaf.why_infinite.empty()) return std::nullopt;
            const double stall =
                options.costs->stall_per_byte(leaf.stall_per_byte, constants, options.workers);
            cost.seconds += point.weight * cost::calls_of(tile, cost::extents_at(definition, point.symbols)) *
                            (leaf.near_seconds + leaf.streamed_bytes * stall);
            add_touched(touched, tile, storage);
        }
        int64_t bytes = 0;
        for (const auto& [value, of_value] : touched) bytes += of_value;
        cost.tile_bytes = std::max(cost.tile_bytes, bytes);
    }
    return cost;
}

}  // namespace tessera::planner
