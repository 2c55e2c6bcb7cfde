#include "forms.h"

#include <algorithm>
#include <set>

#include "cost/step_cost.h"
#include "layouts/lay_out.h"
#include "movement/lower.h"
#include "plan/constants.h"
#include "plan/copies.h"
#include "planner/place_buffers.h"
#include "planner/verify_plan.h"
#include "planner/verify_structure.h"
#include "support/error.h"

namespace tessera {
namespace {

const std::string& weight_of(const Graph& graph) {
    return std::find_if(graph.values.begin(), graph.values.end(),
                        [](const Value& value) { return value.kind == ValueKind::kConstant; })
        ->name;
}

/// A unit's lanes of one operand, its first axis being `first` of the weight. Empty for more than two axes.
std::vector<Lane> lanes_along(const OperandLanes& operand, int first) {
    std::string axes;
    std::vector<Lane> lanes;
    for (const LaneAxis& lane : operand.lanes) {
        if (axes.find(lane.axis) == std::string::npos) axes += lane.axis;
        const bool is_first = lane.axis == axes.front();
        lanes.push_back({is_first ? first : 1 - first, lane.factor});
    }
    return axes.size() > 2 ? std::vector<Lane>{} : lanes;
}

/// The plan goes the way of `--plan`: printed, read, checked, lowered.
WeightForm compiled(const Graph& graph, const Plan& begun, const PlannerOptions& options, size_t number) {
    const std::string where = graph.name;
    WeightForm form;
    form.layout = print(stored_layout(begun, weight_of(graph)));
    try {
        const Graph copied = with_copies(graph, begun, where);
        form.plan = print(complete_plan(copied, begun, options));
        Plan plan = parse_plan(form.plan, where);
        const Graph whole = with_copies(graph, plan, where);
        verify_structure(whole, plan, where);
        plan = place_buffers(whole, plan);
        verify_plan(whole, plan, where);
        const SpecialisationPlan& specialisation = plan.specialisations.front();
        for (const KernelPlan& kernel : specialisation.kernels)
            form.kernels += (form.kernels.empty() ? "" : "; ") + print(kernel.nest);
        const ConstantSection constants = constant_section(graph, plan);
        form.program = lower(whole, plan, specialisation, constants);
        form.program.specialisation = fmt::format("form_{}", number);
        form.constants_bytes = constants.bytes;
        form.arena_bytes = specialisation.arena_bytes;
        form.estimated_seconds = total_seconds(step_costs(whole, plan, specialisation, {}, *options.costs));
    } catch (const Error& error) {
        form.why_refused = error.what();
    }
    return form;
}

}  // namespace

std::vector<Layout> layouts_of_a_weight(const Machine& machine) {
    std::vector<std::vector<Lane>> lanes = {{}};
    const auto add = [&](std::vector<Lane> some) {
        if (std::find(lanes.begin(), lanes.end(), some) == lanes.end()) lanes.push_back(std::move(some));
    };
    for (const int axis : {0, 1}) {
        for (int64_t count = vector_lanes(machine); count > 1; count /= 2) add({{axis, count}});
        for (const ComputeUnit& unit : machine.units)
            for (size_t operand = 0; operand < std::min<size_t>(unit.operands.size(), 2); ++operand)
                add(lanes_along(unit.operands[operand], axis));
    }
    std::vector<Layout> layouts;
    for (const std::vector<int>& order : {std::vector<int>{}, std::vector<int>{1, 0}})
        for (const std::vector<Lane>& each : lanes) layouts.push_back({order, each});
    return layouts;
}

WeightForm forced_form(const Graph& graph, const Layout& layout, const PlannerOptions& options,
                       size_t number) {
    Plan plan = initial_plan(graph, options);
    plan.stored.erase(weight_of(graph));
    if (!layout.is_row_major()) plan.stored[weight_of(graph)] = layout;
    return compiled(graph, plan, options, number);
}

WeightForm chosen_form(const Graph& graph, const PlannerOptions& options, size_t number) {
    const Plan initial = initial_plan(graph, options);
    const auto search = layouts::compiling_options(graph, initial, options);
    return compiled(graph,
                    layouts::decision_of(graph, initial, layouts::search_layouts(graph, initial, search)),
                    options, number);
}

}  // namespace tessera
