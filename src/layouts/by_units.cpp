#include <algorithm>
#include <limits>

#include "cost/vector_work.h"
#include "facts/work.h"
#include "kernels/contraction.h"
#include "layouts/form_cost.h"
#include "layouts/form_traffic.h"
#include "planner/unit_lanes.h"
#include "planner/weighted_sizes.h"
#include "rules/vectorize/packing.h"

namespace tessera::layouts {
namespace {

/// Operations of a vector that these take in place of one: what most processors of today need.
constexpr double kDivision = 8, kSpecial = 16, kGather = 1;

class ByUnits {
public:
    ByUnits(const Graph& graph, const SpecialisationPlan& specialisation, const Machine& machine)
        : machine_(machine), sizes_(sizes_within(graph, specialisation)) {
        for (const ComputeUnit& unit : machine.units)
            if (unit.kind == UnitKind::kVector && unit.operands.front().type == "f32") vector_ = &unit;
    }

    FormCost operator()(const egraph::Operator& op, std::span<const Operand> operands) const {
        const Definition& definition = *op.definition();
        const std::vector<Layout> layouts = layouts_of(operands, op.results.front());
        const ComputeUnit* unit = unit_for(definition, operands, op.results.front());
        FormCost total{.by = unit ? unit->name : vector_->name};
        for (const WeightedSizes& point : sizes_) {
            std::vector<int64_t> extents;
            const std::vector<int64_t> dims = dims_of(definition, point.symbols);
            for (const Iterator& iterator : definition.iterators)
                extents.push_back(evaluate_constant(iterator.extent, dims));
            double box = 1;
            for (const int64_t extent : extents) box *= static_cast<double>(extent);
            const double near = unit ? 2 * box / peak(*unit) : by_lanes(definition, extents, layouts);
            const double waiting = waiting_seconds(
                definition, operands, op.results.front(), point.symbols, machine_, [&](size_t level) {
                    const ReadBandwidth* rate = find_bandwidth(machine_.memory[level], 1);
                    return rate ? 1 / rate->bytes_per_second : 0;
                });
            total.seconds += point.weight * std::max(near, waiting);
        }
        return total;
    }

private:
    /// The fastest matrix unit that takes all of the product's tensors as they lie, or in strided rows.
    const ComputeUnit* unit_for(const Definition& definition, std::span<const Operand> operands,
                                const TensorType& result) const {
        const ComputeUnit* best = nullptr;
        for (const ComputeUnit& unit : machine_.units) {
            if (unit.kind != UnitKind::kMatrix || (best && peak(*best) >= peak(unit))) continue;
            for (const rules::OperatorPacking& packing : rules::packings_for(definition, {unit})) {
                const auto fits = [&](size_t tensor, const TensorType& type) {
                    const Layout wanted = rules::layout_of(definition, static_cast<int>(tensor),
                                                           packing.tensors[tensor], type.shape);
                    // Rows at a stride: as a tile has them, but for where the next one begins.
                    const bool is_in_rows =
                        unit.strided_rows && type.layout.is_row_major() &&
                        packing.tensors[tensor].size() <= 2 && !wanted.lanes.empty() &&
                        wanted.lanes.back().axis + 1 == static_cast<int>(type.shape.size());
                    return type.layout == wanted || is_in_rows;
                };
                bool all = fits(operands.size(), result);
                for (size_t i = 0; i < operands.size(); ++i) all = all && fits(i, operands[i].type);
                if (all) best = &unit;
            }
        }
        return best;
    }

    /// Lanes along the iterator that takes least time, or none.
    double by_lanes(const Definition& definition, const std::vector<int64_t>& extents,
                    const std::vector<Layout>& layouts) const {
        const int64_t lanes = vector_->operands.front().lanes.front().factor;
        // A multiply-add is two operations.
        const double each = 2 * static_cast<double>(lanes) / peak(*vector_);
        double least = std::numeric_limits<double>::infinity();
        for (int x = -1; x < static_cast<int>(extents.size()); ++x) {
            for (int64_t width = x < 0 ? 1 : lanes; width >= 1; width /= 2) {
                const VectorWork work = vector_work(definition, extents, x, width, layouts);
                least = std::min(least, each * (work.flops + kDivision * work.divisions +
                                                kSpecial * work.special + work.loads + work.folds +
                                                kGather * work.gathers + work.conversions + work.ends));
            }
        }
        return least;
    }

    const Machine machine_;
    const ComputeUnit* vector_ = nullptr;
    std::vector<WeightedSizes> sizes_;
};

}  // namespace

FormCosts by_units(const Graph& graph, const SpecialisationPlan& specialisation, const Machine& machine) {
    return
        [model = std::make_shared<const ByUnits>(graph, specialisation, machine)](
            const egraph::Operator& op, std::span<const Operand> operands) { return (*model)(op, operands); };
}

}  // namespace tessera::layouts
