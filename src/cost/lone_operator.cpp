#include "cost/lone_operator.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/core.h>

#include "cost/typical_rates.h"
#include "lowering/kernels/micro_kernels.h"
#include "lowering/lower.h"
#include "lowering/tensor_layouts.h"

namespace tessera::cost {
namespace {

Graph graph_at(const OperatorSizes& sizes) {
    Graph graph;
    graph.name = "lone";
    graph.symbols = sizes.symbols;
    graph.points = sizes.points;
    return graph;
}

plan::Plan plan_at(const OperatorSizes& sizes) {
    plan::Plan plan;
    plan.graph = "lone";
    plan.workers = sizes.workers;
    plan.specialisations = {sizes.specialisation};
    return plan;
}

}  // namespace

LonePrice lone_price(PricedBlock& block, const plan::Leaf& leaf) {
    const auto workers = static_cast<double>(block.evaluator.workers());
    const std::vector<Evaluation> found = block.evaluator.at_points({{}, {leaf}}, block.is_tile);
    LonePrice price;
    for (size_t p = 0; p < found.size(); ++p) {
        const Evaluation& at = found[p];
        if (price.why_infinite.empty()) price.why_infinite = at.why_infinite;
        price.near.push_back(at.compute / workers);
        price.alone.push_back((at.compute + at.stalls) / workers);
        price.at_points.push_back(at.seconds / workers);
        price.seconds += block.evaluator.points()[p].weight * price.at_points.back();
    }
    return price;
}

OperatorSizes operator_sizes(const Graph& graph, const plan::Plan& plan,
                             const plan::SpecialisationPlan& specialisation) {
    return {.symbols = graph.symbols,
            .points = points_of(graph, plan, specialisation),
            .specialisation = {.name = specialisation.name, .bounds = specialisation.bounds},
            .workers = plan.workers};
}

LoneOperator::LoneOperator(DefinitionPtr definition, std::span<const Operand> operands,
                           std::span<const TensorType> results, const OperatorSizes& sizes,
                           const CostModel& model, size_t constants)
    : model_(model),
      graph_(graph_at(sizes)),
      plan_(plan_at(sizes)),
      constants_([&] {
          Node node{.name = "op", .op = std::move(definition), .operands = {}, .results = {}, .previous = {}};
          for (size_t i = 0; i < operands.size(); ++i)
              node.operands.push_back(add(fmt::format("x{}", i), operands[i].type, operands[i].is_constant));
          for (size_t i = 0; i < results.size(); ++i)
              node.results.push_back(add(fmt::format("y{}", i), results[i], false));
          graph_.blocks.push_back({.name = "lone", .nodes = {std::move(node)}});
          return plan::constant_section(graph_, plan_);
      }()),
      input_(lowering::lowering_input(graph_, plan_, specialisation(), constants_)),
      priced_(input_, block(), sizes_of(graph_, plan_, specialisation()), model, constants) {}

ValueId LoneOperator::add(const std::string& name, TensorType type, bool is_constant) {
    if (is_constant)
        plan_.stored[name] = type.layout;
    else
        plan_.specialisations.front().tensors[name] = {.place = plan::Place::kArena, .layout = type.layout};
    type.layout = {};
    graph_.values.push_back({.name = name,
                             .kind = is_constant ? ValueKind::kConstant : ValueKind::kIntermediate,
                             .type = std::move(type),
                             .sources = is_constant ? std::vector{name} : std::vector<std::string>{}});
    return {static_cast<int>(graph_.values.size()) - 1};
}

const std::vector<Dim>& LoneOperator::shape(int tensor) const {
    return graph_[lowering::value_of(node(), tensor)].type.shape;
}

std::vector<Layout> LoneOperator::layouts() const {
    return lowering::layouts_of(graph_, plan_, node(), specialisation());
}

std::optional<lowering::Refusal> LoneOperator::why_no_strides(const plan::Leaf& leaf) const {
    return lowering::why_no_strides(input_, block(), {block().name, plan::Nest{{}, {leaf}}});
}

LonePrice LoneOperator::by_roof(const machine::ComputeUnit* matrix) {
    const std::vector<Evaluation> found = priced_.evaluator.at_points(
        {{}, {plan::Leaf{node().name, kernels::plain_micro_kernel()}}}, priced_.is_tile);
    const auto workers = static_cast<double>(priced_.evaluator.workers());
    const std::vector<Layout> layouts = this->layouts();
    const std::vector<WeightedSizes>& points = priced_.evaluator.points();
    LonePrice price;
    for (size_t p = 0; p < points.size(); ++p) {
        const std::vector<int64_t> extents = extents_at(*node().definition(), points[p].symbols);
        double box = 1;
        for (const int64_t extent : extents) box *= static_cast<double>(extent);
        const double near = matrix ? 2 * box / machine::peak(*matrix) : seconds_by_lanes(extents, layouts);
        const std::vector<double>& levels = found[p].levels;
        const double waiting = std::accumulate(levels.begin(), levels.end(), 0.0);
        price.near.push_back(near / workers);
        price.alone.push_back(near / workers);
        price.at_points.push_back(std::max(near, waiting) / workers);
        price.seconds += points[p].weight * price.at_points.back();
    }
    return price;
}

double LoneOperator::seconds_by_lanes(const std::vector<int64_t>& extents,
                                      const std::vector<Layout>& layouts) const {
    const int64_t lanes = machine::vector_lanes(model_.machine());
    double least = std::numeric_limits<double>::infinity();
    for (int x = -1; x < static_cast<int>(extents.size()); ++x) {
        for (int64_t width = x < 0 ? 1 : lanes; width >= 1; width /= 2) {
            const VectorWork work = vector_work(*node().definition(), extents, x, width, layouts);
            least = std::min(least, typical_operations(work));
        }
    }
    return least * seconds_of_an_operation(model_.machine());
}

}  // namespace tessera::cost
