#include "forms.h"

#include <algorithm>
#include <set>

#include "cost/step_cost.h"
#include "lowering/kernels/micro_kernels.h"
#include "lowering/lower.h"
#include "lowering/plan/constants.h"
#include "lowering/plan/copies.h"
#include "search/layouts/lay_out.h"
#include "search/planner/place_buffers.h"
#include "search/planner/verify_plan.h"
#include "search/planner/verify_structure.h"
#include "search/rules/vectorize/packing.h"
#include "support/error.h"

namespace tessera {
namespace {

/// A unit's lanes of one operand, its first axis being `first` of the tensor and another one `second`. Empty
/// for more than two axes.
std::vector<Lane> lanes_along(const machine::OperandLanes& operand, int first, int second) {
    std::string axes;
    std::vector<Lane> lanes;
    for (const machine::LaneAxis& lane : operand.lanes) {
        if (axes.find(lane.axis) == std::string::npos) axes += lane.axis;
        lanes.push_back({lane.axis == axes.front() ? first : second, lane.factor});
    }
    return axes.size() > 2 ? std::vector<Lane>{} : lanes;
}

std::vector<std::vector<Lane>> lanes_of_units(const machine::Machine& machine, int rank) {
    std::vector<std::vector<Lane>> all = {{}};
    for (int first = 0; first < rank; ++first) {
        for (int64_t count = machine::vector_lanes(machine); count > 1; count /= 2)
            all.push_back({{first, count}});
        for (int second = 0; second < rank; ++second)
            for (const machine::ComputeUnit& unit : machine.units)
                for (const machine::OperandLanes& operand : unit.operands)
                    if (second != first) all.push_back(lanes_along(operand, first, second));
    }
    return all;
}

/// Equal for layouts in which every element lies in the same place.
std::vector<std::pair<int, std::pair<int64_t, int64_t>>> places(const Layout& layout,
                                                                const std::vector<int64_t>& shape) {
    std::vector<std::pair<int, std::pair<int64_t, int64_t>>> axes;
    for (const PhysicalAxis& axis : physical_axes(layout, shape)) {
        if (axis.extent == 1) continue;
        if (!axes.empty() && axes.back().first == axis.axis &&
            axes.back().second.first == axis.divisor * axis.extent) {
            axes.back().second = {axis.divisor, axes.back().second.second * axis.extent};
        } else {
            axes.push_back({axis.axis, {axis.divisor, axis.extent}});
        }
    }
    return axes;
}

bool is_index(const Graph& graph, ValueId value) {
    return graph[value].type.element == ElementType::kI32;
}

class Trying {
public:
    Trying(const Graph& graph, const machine::Machine& machine, const planner::PlannerOptions& options)
        : graph_(graph), machine_(machine) {
        const plan::Plan initial = planner::initial_plan(graph, options);
        for (size_t i = 0; i < graph.values.size(); ++i) {
            const ValueId value{static_cast<int>(i)};
            const Layout& layout = plan::stored_layout(initial, graph[value].name);
            if (!layout.is_row_major()) stored_[value] = layout;
        }
    }

    std::vector<TensorLayouts> run() {
        add({});
        add(stored_);
        for (size_t i = 0; i < graph_.values.size(); ++i) {
            const ValueId value{static_cast<int>(i)};
            if (is_index(graph_, value)) continue;
            for (const Layout& layout : layouts_of_a_tensor(graph_[value].type.shape, machine_)) {
                add_with({}, value, layout);
                add_with(stored_, value, layout);
            }
        }
        add_constants_alike();
        for (const Node& node : graph_.blocks.front().nodes) add_packings(node);
        return std::move(found_);
    }

private:
    static void lay(TensorLayouts& layouts, ValueId value, const Layout& layout) {
        layouts.erase(value);
        if (!layout.is_row_major()) layouts[value] = layout;
    }
    void add_with(TensorLayouts layouts, ValueId value, const Layout& layout) {
        lay(layouts, value, layout);
        add(std::move(layouts));
    }
    void add(TensorLayouts layouts) {
        std::string key;
        for (const auto& [value, layout] : layouts) key += fmt::format("{} {}; ", value.index, print(layout));
        if (known_.insert(key).second) found_.push_back(std::move(layouts));
    }

    void add_constants_alike() {
        std::vector<ValueId> constants;
        for (size_t i = 0; i < graph_.values.size(); ++i)
            if (graph_.values[i].kind == ValueKind::kConstant) constants.push_back({static_cast<int>(i)});
        if (constants.empty()) return;
        for (const Layout& layout : layouts_of_a_tensor(graph_[constants.front()].type.shape, machine_)) {
            TensorLayouts layouts;
            for (const ValueId constant : constants)
                lay(layouts, constant, simplified(layout, graph_[constant].type.shape));
            add(std::move(layouts));
        }
    }

    void add_packings(const Node& node) {
        const Definition& definition = *node.definition();
        for (const rules::OperatorPacking& packing : rules::packings_for(definition, machine_.units)) {
            TensorLayouts all, constants, operands;
            for (int t = 0; t < static_cast<int>(definition.tensors.size()); ++t) {
                const ValueId value = lowering::value_of(node, t);
                if (is_index(graph_, value)) continue;
                const Layout layout = rules::layout_of(definition, t, packing.tensors[static_cast<size_t>(t)],
                                                       graph_[value].type.shape);
                lay(all, value, layout);
                if (graph_[value].kind == ValueKind::kConstant) lay(constants, value, layout);
                if (value != node.results.front()) lay(operands, value, layout);
            }
            add(std::move(all));
            add(std::move(constants));
            add(std::move(operands));
        }
    }

    const Graph& graph_;
    const machine::Machine& machine_;
    TensorLayouts stored_;  ///< as the default planner has it
    std::vector<TensorLayouts> found_;
    std::set<std::string> known_;
};

std::vector<plan::CopyReader> readers_of(const Graph& graph, ValueId value) {
    std::vector<plan::CopyReader> readers;
    for (const Node& node : graph.blocks.front().nodes)
        for (size_t i = 0; i < node.operands.size(); ++i)
            if (node.operands[i] == value) readers.push_back({node.name, node.definition()->tensors[i].name});
    return readers;
}

std::string text_of(const plan::Plan& plan) {
    std::string text;
    const auto add = [&](const std::string& name, const Layout& layout) {
        if (!layout.is_row_major())
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, print(layout));
    };
    for (const auto& [name, layout] : plan.stored) add(name, layout);
    for (const auto& [name, tensor] : plan.specialisations.front().tensors) add(name, tensor.layout);
    return text.empty() ? "row-major" : text;
}

/// The plan goes the way of `--plan`: printed, read, checked, lowered.
Form compiled(const Graph& graph, const plan::Plan& begun, const planner::PlannerOptions& options,
              size_t number) {
    const std::string where = graph.name;
    Form form;
    form.layouts = text_of(begun);
    try {
        const Graph copied = plan::with_copies(graph, begun, where);
        form.plan = plan::print(planner::complete_plan(copied, begun, options));
        plan::Plan plan = plan::parse_plan(form.plan, where, kernels::micro_kernels());
        const Graph whole = plan::with_copies(graph, plan, where);
        planner::verify_structure(whole, plan, where);
        plan = planner::place_buffers(whole, plan);
        planner::verify_plan(whole, plan, where);
        const plan::SpecialisationPlan& specialisation = plan.specialisations.front();
        for (const plan::KernelPlan& kernel : specialisation.kernels)
            form.kernels += (form.kernels.empty() ? "" : "; ") + plan::print(kernel.nest);
        const plan::ConstantSection constants = plan::constant_section(graph, plan);
        form.lowered = {lowering::lower(whole, plan, specialisation, constants), constants.bytes,
                        specialisation.arena_bytes};
        form.lowered.program.specialisation = fmt::format("form_{}", number);
        form.estimated_seconds =
            cost::total_seconds(cost::step_costs(whole, plan, specialisation, {}, *options.costs));
    } catch (const Error& error) {
        form.why_refused = error.what();
    }
    return form;
}

}  // namespace

std::vector<Layout> layouts_of_a_tensor(const std::vector<Dim>& shape, const machine::Machine& machine) {
    const auto rank = static_cast<int>(shape.size());
    std::vector<int64_t> extents;
    for (const Dim& dim : shape) extents.push_back(dim.factor);
    std::vector<Layout> layouts;
    std::set<decltype(places({}, extents))> known;
    for (int innermost = rank - 1; innermost >= 0; --innermost) {
        std::vector<int> order;
        for (int axis = 0; axis < rank; ++axis)
            if (axis != innermost) order.push_back(axis);
        order.push_back(innermost);
        if (innermost == rank - 1) order.clear();
        for (const std::vector<Lane>& lanes : lanes_of_units(machine, rank)) {
            Layout layout = simplified({order, lanes}, shape);
            if (known.insert(places(layout, extents)).second) layouts.push_back(std::move(layout));
        }
    }
    return layouts;
}

std::vector<TensorLayouts> layouts_of_a_graph(const Graph& graph, const machine::Machine& machine,
                                              const planner::PlannerOptions& options) {
    return Trying(graph, machine, options).run();
}

Form forced_form(const Graph& graph, const TensorLayouts& layouts, const planner::PlannerOptions& options,
                 size_t number) {
    plan::Plan plan = planner::initial_plan(graph, options);
    plan.stored.clear();
    auto& tensors = plan.specialisations.front().tensors;
    for (const auto& [value, layout] : layouts) {
        const std::string& name = graph[value].name;
        if (graph[value].kind == ValueKind::kConstant) {
            plan.stored[name] = layout;
            continue;
        }
        const bool is_seen = std::ranges::find(graph.outputs, value) != graph.outputs.end();
        const bool is_given = graph[value].kind == ValueKind::kInput;
        const std::string copy = name + "_packed";
        if (is_given) plan.copies[copy] = {.of = name, .readers = readers_of(graph, value)};
        if (is_seen) plan.copies[copy] = {.of = name, .readers = {}, .is_made = true};
        tensors[is_given || is_seen ? copy : name] = {
            .place = plan::Place::kArena, .of = {}, .layout = layout};
    }
    return compiled(graph, plan, options, number);
}

Form chosen_form(const Graph& graph, const planner::PlannerOptions& options, size_t number) {
    const plan::Plan initial = planner::initial_plan(graph, options);
    const auto search = layouts::compiling_options(graph, initial, options);
    return compiled(graph,
                    layouts::decision_of(graph, initial, layouts::search_layouts(graph, initial, search)),
                    options, number);
}

}  // namespace tessera
