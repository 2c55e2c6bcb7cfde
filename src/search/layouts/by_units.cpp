#include <memory>

#include "search/layouts/form_cost.h"
#include "search/rules/vectorize/packing.h"

namespace tessera::layouts {
namespace {

bool fits(const machine::ComputeUnit& unit, const cost::LoneOperator& alone, int tensor, const Layout& layout,
          const rules::Packing& packing) {
    const std::vector<Dim>& shape = alone.shape(tensor);
    const Layout wanted = rules::layout_of(*alone.node().definition(), tensor, packing, shape);
    // Rows at a stride: as a tile has them, but for where the next one begins.
    const bool is_in_rows = unit.strided_rows && layout.is_row_major() && packing.size() <= 2 &&
                            !wanted.lanes.empty() &&
                            wanted.lanes.back().axis + 1 == static_cast<int>(shape.size());
    return layout == wanted || is_in_rows;
}

/// The fastest matrix unit that takes all of the product's tensors as they lie, or in strided rows; null if
/// none does.
const machine::ComputeUnit* matrix_unit_for(const cost::LoneOperator& alone,
                                            const machine::Machine& machine) {
    const std::vector<Layout> layouts = alone.layouts();
    const machine::ComputeUnit* best = nullptr;
    for (const machine::ComputeUnit& unit : machine.units) {
        if (unit.kind != machine::UnitKind::kMatrix || (best && machine::peak(*best) >= machine::peak(unit)))
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

}  // namespace

FormCosts by_units(const Graph& graph, const plan::Plan& initial,
                   const plan::SpecialisationPlan& specialisation, const machine::Machine& machine) {
    cost::OperatorSizes sizes = cost::operator_sizes(graph, initial, specialisation);
    sizes.workers = 1;
    return [sizes = std::move(sizes), model = std::make_shared<const cost::CostModel>(machine)](
               const egraph::Operator& op, std::span<const Operand> operands) {
        const machine::Machine& described = model->machine();
        cost::LoneOperator alone(std::get<DefinitionPtr>(op.what), operands, op.results, sizes, *model,
                                 described.memory.size() - 1);
        const machine::ComputeUnit* unit = matrix_unit_for(alone, described);
        const double seconds = alone.by_roof(unit).seconds;
        if (!unit) unit = machine::find_unit(described, machine::UnitKind::kVector, "f32");
        return FormCost{.seconds = seconds, .by = unit->name, .why_infinite = {}};
    };
}

}  // namespace tessera::layouts
