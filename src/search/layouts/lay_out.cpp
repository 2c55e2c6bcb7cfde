#include "search/layouts/lay_out.h"

#include "cost/weighted_sizes.h"
#include "ir/ops/exchange.h"
#include "search/planner/stored_layout.h"
#include "support/error.h"

namespace tessera::layouts {
namespace {

// Kernels may miss their roofs by this factor; only measurements tell.
constexpr double kMarginOfRoofs = 1.25;

/// The operator's weights as the default planner would store them if there were no other operators, and those
/// of rows with k innermost.
std::vector<rules::Form> preferred_forms(const egraph::Operator& op, const Graph& whole,
                                         const planner::PlannerOptions& options) {
    Graph graph;
    graph.symbols = whole.symbols;
    Node node{
        .name = "op", .op = std::get<DefinitionPtr>(op.what), .operands = {}, .results = {}, .previous = {}};
    const Definition& definition = *op.definition();
    for (const TensorDecl& tensor : definition.tensors) {
        const bool is_operand = tensor.role == Role::kIn || tensor.role == Role::kIndex;
        if (!is_operand) continue;
        node.operands.push_back({static_cast<int>(graph.values.size())});
        graph.values.push_back(
            {.name = tensor.name, .kind = ValueKind::kConstant, .type = {}, .sources = {}});
    }
    node.results.push_back({static_cast<int>(graph.values.size())});
    graph.values.push_back({.name = "result", .kind = ValueKind::kIntermediate, .type = {}, .sources = {}});
    plan::Plan plan;
    planner::choose_stored_layout(graph, node, options, plan);
    rules::Form form;
    for (const ValueId operand : node.operands) {
        const auto stored = plan.stored.find(graph[operand].name);
        form.operands.push_back(stored == plan.stored.end() ? Layout{} : stored->second);
    }
    std::vector<rules::Form> forms;
    if (!plan.stored.empty()) forms.push_back(form);
    for (const kernels::Contraction& roles : kernels::contractions_of(definition)) {
        const std::optional<Layout> rows = planner::layout_of_rows(graph, node, roles);
        if (!rows) continue;
        rules::Form with_rows{.operands = std::vector<Layout>(node.operands.size()), .result = {}};
        for (size_t i = 0; i < node.operands.size(); ++i)
            if (node.operands[i] == lowering::value_of(node, roles.a.tensor)) with_rows.operands[i] = *rows;
        if (std::ranges::find(forms, with_rows) == forms.end()) forms.push_back(std::move(with_rows));
    }
    return forms;
}

}  // namespace

SearchOptions compiling_options(const Graph& graph, const plan::Plan& initial,
                                const planner::PlannerOptions& options) {
    SearchOptions search;
    if (!options.costs->is_measured()) search.margin = kMarginOfRoofs;
    search.units = options.units;
    search.fused = planner::fused_operators(graph, initial, options);
    // Ranks exchange whole parts, one behind the other.
    for (const Block& block : graph.blocks)
        for (const Node& node : block.nodes)
            if (ops::is_exchange(*node.definition())) search.fused.insert(&node);
    search.more_forms = [&](const egraph::Operator& op) { return preferred_forms(op, graph, options); };
    for (const plan::SpecialisationPlan& specialisation : initial.specialisations) {
        search.costs.push_back(by_kernels(graph, initial, specialisation, options));
        double steps = 0;
        for (const cost::WeightedSizes& sizes : cost::sizes_of(graph, initial, specialisation))
            steps += sizes.weight;
        search.copy_seconds.push_back(steps * options.costs->barrier_seconds(options.workers));
    }
    return search;
}

SearchOptions describing_options(const Graph& graph, const plan::Plan& initial,
                                 const planner::PlannerOptions& options, const machine::Machine& machine) {
    for (const machine::MemoryLevel& level : machine.memory)
        if (level.read_bandwidth.empty())
            throw Error(machine.name, level.name, "has no read_bandwidth, from which costs could follow",
                        "give one, or measure the machine with `tessera machine --measure`");
    for (const machine::ComputeUnit& unit : machine.units)
        if (unit.kind != machine::UnitKind::kScalar && machine::peak(unit) <= 0)
            throw Error(machine.name, unit.name, "has no peaks, from which costs could follow",
                        "give one, or measure the machine with `tessera machine --measure`");
    SearchOptions search;
    search.units = machine.units;
    search.fused = planner::fused_operators(graph, initial, options);
    for (const plan::SpecialisationPlan& specialisation : initial.specialisations)
        search.costs.push_back(by_units(graph, initial, specialisation, machine));
    return search;
}

}  // namespace tessera::layouts
