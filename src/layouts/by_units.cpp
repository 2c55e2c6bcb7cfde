#include <algorithm>
#include <limits>

#include "cost/priced_block.h"
#include "cost/typical_rates.h"
#include "cost/weighted_sizes.h"
#include "facts/work.h"
#include "kernels/contraction.h"
#include "kernels/micro_kernels.h"
#include "layouts/lone_operator.h"
#include "lowering/storage.h"
#include "lowering/tensor_layouts.h"
#include "rules/vectorize/packing.h"

namespace tessera::layouts {
namespace {

class ByUnits {
public:
    explicit ByUnits(const machine::Machine& machine)
        : machine_(machine),
          model_(machine),
          vector_(machine::find_unit(machine_, machine::UnitKind::kVector, "f32")) {}

    FormCost operator()(const LoneOperator& alone) const {
        const Definition& definition = *alone.node().definition();
        const std::vector<Layout> layouts =
            lowering::layouts_of(alone.graph, alone.plan, alone.node(), alone.specialisation());
        const machine::ComputeUnit* unit = unit_for(alone, layouts);
        const std::vector<cost::Evaluation> transfers = transfers_of(alone);
        FormCost total{.seconds = 0, .by = unit ? unit->name : vector_->name, .why_infinite = {}};
        const std::vector<cost::WeightedSizes> points =
            cost::sizes_of(alone.graph, alone.plan, alone.specialisation());
        for (size_t p = 0; p < points.size(); ++p) {
            const std::vector<int64_t> extents = cost::extents_at(definition, points[p].symbols);
            double box = 1;
            for (const int64_t extent : extents) box *= static_cast<double>(extent);
            const double near =
                unit ? 2 * box / machine::peak(*unit) : by_lanes(definition, extents, layouts);
            double waiting = 0;
            for (const double seconds : transfers[p].levels) waiting += seconds;
            total.seconds += points[p].weight * std::max(near, waiting);
        }
        return total;
    }

private:
    /// The transfers of the operator at each point, by one worker.
    std::vector<cost::Evaluation> transfers_of(const LoneOperator& alone) const {
        const plan::ConstantSection constants = plan::constant_section(alone.graph, alone.plan);
        const lowering::LoweringInput input =
            lowering::lowering_input(alone.graph, alone.plan, alone.specialisation(), constants);
        cost::PricedBlock priced(input, alone.block(),
                                 cost::sizes_of(alone.graph, alone.plan, alone.specialisation()), model_,
                                 machine_.memory.size() - 1);
        return priced.evaluator.at_points(
            {{}, {plan::Leaf{alone.node().name, kernels::plain_micro_kernel()}}}, priced.is_tile);
    }

    /// The fastest matrix unit that takes all of the product's tensors as they lie, or in strided rows.
    const machine::ComputeUnit* unit_for(const LoneOperator& alone,
                                         const std::vector<Layout>& layouts) const {
        const machine::ComputeUnit* best = nullptr;
        for (const machine::ComputeUnit& unit : machine_.units) {
            if (unit.kind != machine::UnitKind::kMatrix ||
                (best && machine::peak(*best) >= machine::peak(unit)))
                continue;
            for (const rules::OperatorPacking& packing :
                 rules::packings_for(*alone.node().definition(), {unit})) {
                bool all = true;
                for (int t = 0; t < static_cast<int>(layouts.size()); ++t)
                    all = all && fits(unit, alone, t, layouts[static_cast<size_t>(t)],
                                      packing.tensors[static_cast<size_t>(t)]);
                if (all) best = &unit;
            }
        }
        return best;
    }

    static bool fits(const machine::ComputeUnit& unit, const LoneOperator& alone, int tensor,
                     const Layout& layout, const rules::Packing& packing) {
        const std::vector<Dim>& shape = alone.graph[lowering::value_of(alone.node(), tensor)].type.shape;
        const Layout wanted = rules::layout_of(*alone.node().definition(), tensor, packing, shape);
        // Rows at a stride: as a tile has them, but for where the next one begins.
        const bool is_in_rows = unit.strided_rows && layout.is_row_major() && packing.size() <= 2 &&
                                !wanted.lanes.empty() &&
                                wanted.lanes.back().axis + 1 == static_cast<int>(shape.size());
        return layout == wanted || is_in_rows;
    }

    /// Lanes along the iterator that takes least time, or none.
    double by_lanes(const Definition& definition, const std::vector<int64_t>& extents,
                    const std::vector<Layout>& layouts) const {
        const int64_t lanes = vector_->operands.front().lanes.front().factor;
        double least = std::numeric_limits<double>::infinity();
        for (int x = -1; x < static_cast<int>(extents.size()); ++x) {
            for (int64_t width = x < 0 ? 1 : lanes; width >= 1; width /= 2) {
                const cost::VectorWork work = cost::vector_work(definition, extents, x, width, layouts);
                least = std::min(least, cost::typical_operations(work));
            }
        }
        return least * cost::seconds_of_an_operation(machine_);
    }

    const machine::Machine machine_;
    const cost::CostModel model_;
    const machine::ComputeUnit* vector_;
};

}  // namespace

FormCosts by_units(const Graph& graph, const plan::Plan& initial,
                   const plan::SpecialisationPlan& specialisation, const machine::Machine& machine) {
    return [&graph, &initial, &specialisation, model = std::make_shared<const ByUnits>(machine)](
               const egraph::Operator& op, std::span<const Operand> operands) {
        LoneOperator alone(op, operands, graph, initial, specialisation);
        alone.plan.workers = 1;
        return (*model)(alone);
    };
}

}  // namespace tessera::layouts
