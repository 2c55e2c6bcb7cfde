#include "layouts/lone_operator.h"

#include <fmt/core.h>

#include "cost/weighted_sizes.h"

namespace tessera::layouts {

LoneOperator::LoneOperator(const egraph::Operator& op, std::span<const Operand> operands, const Graph& whole,
                           const plan::Plan& initial, const plan::SpecialisationPlan& specialisation) {
    graph.name = "form";
    graph.symbols = whole.symbols;
    graph.points = cost::points_of(whole, initial, specialisation);
    plan.graph = graph.name;
    plan.workers = initial.workers;
    plan.specialisations = {{.name = specialisation.name, .bounds = specialisation.bounds}};
    Node node{
        .name = "op", .op = std::get<DefinitionPtr>(op.what), .operands = {}, .results = {}, .previous = {}};
    for (size_t i = 0; i < operands.size(); ++i)
        node.operands.push_back(add(fmt::format("x{}", i), operands[i].type, operands[i].is_constant));
    for (size_t i = 0; i < op.results.size(); ++i)
        node.results.push_back(add(fmt::format("y{}", i), op.results[i], false));
    graph.blocks.push_back({.name = "form", .nodes = {std::move(node)}});
}

ValueId LoneOperator::add(const std::string& name, TensorType type, bool is_constant) {
    if (is_constant)
        plan.stored[name] = type.layout;
    else
        plan.specialisations.front().tensors[name] = {.place = plan::Place::kArena, .layout = type.layout};
    type.layout = {};
    graph.values.push_back({.name = name,
                            .kind = is_constant ? ValueKind::kConstant : ValueKind::kIntermediate,
                            .type = std::move(type),
                            .sources = is_constant ? std::vector{name} : std::vector<std::string>{}});
    return {static_cast<int>(graph.values.size()) - 1};
}

}  // namespace tessera::layouts
