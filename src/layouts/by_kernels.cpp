// A form is tried as the compiler would compile it: as the only kernel of a graph that has nothing else.
#include <algorithm>

#include "layouts/form_cost.h"
#include "layouts/form_traffic.h"
#include "movement/lower.h"
#include "planner/leaf_choice.h"
#include "planner/weighted_sizes.h"
#include "support/error.h"

namespace tessera::layouts {
namespace {

/// One operator between tensors that are there.
struct LoneOperator {
    Graph graph;
    Plan plan;

    LoneOperator(const egraph::Operator& op, std::span<const Operand> operands, const Graph& whole,
                 const SpecialisationPlan& specialisation, const PlannerOptions& options) {
        graph.name = "form";
        graph.symbols = whole.symbols;
        plan.graph = graph.name;
        plan.workers = 1;
        plan.machine = options.machine;
        plan.specialisations = {{.name = specialisation.name, .bounds = specialisation.bounds}};
        Node node{.name = "op", .op = std::get<DefinitionPtr>(op.what)};
        for (size_t i = 0; i < operands.size(); ++i)
            node.operands.push_back(add(fmt::format("x{}", i), operands[i].type, operands[i].is_constant));
        node.results.push_back(add("y", op.results.front(), false));
        graph.blocks.push_back({.name = "form", .nodes = {std::move(node)}});
    }

private:
    ValueId add(const std::string& name, TensorType type, bool is_constant) {
        if (is_constant)
            plan.stored[name] = type.layout;
        else
            plan.specialisations.front().tensors[name] = {.place = Place::kArena, .layout = type.layout};
        type.layout = {};
        graph.values.push_back({.name = name,
                                .kind = is_constant ? ValueKind::kConstant : ValueKind::kIntermediate,
                                .type = std::move(type),
                                .sources = is_constant ? std::vector{name} : std::vector<std::string>{}});
        return {static_cast<int>(graph.values.size()) - 1};
    }
};

class ByKernels {
public:
    ByKernels(const Graph& graph, const SpecialisationPlan& specialisation, const PlannerOptions& options)
        : graph_(graph),
          specialisation_(specialisation),
          options_(options),
          sizes_(sizes_within(graph, specialisation)) {}

    FormCost operator()(const egraph::Operator& op, std::span<const Operand> operands) const {
        const LoneOperator alone(op, operands, graph_, specialisation_, options_);
        const Block& block = alone.graph.blocks.front();
        const SpecialisationPlan& plan = alone.plan.specialisations.front();
        struct Candidate {
            FormCost cost;
            Leaf leaf;
        };
        std::vector<Candidate> candidates;
        for (Leaf& leaf : leaf_candidates(block.nodes.front(), plan, options_)) {
            FormCost cost = cost_of(leaf, op, operands);
            candidates.push_back({std::move(cost), std::move(leaf)});
        }
        std::stable_sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
            return a.cost.why_infinite.empty() != b.cost.why_infinite.empty()
                       ? a.cost.why_infinite.empty()
                       : a.cost.seconds < b.cost.seconds;
        });
        const ConstantSection constants = constant_section(alone.graph, alone.plan);
        const LoweringInput input = lowering_input(alone.graph, alone.plan, plan, constants);
        std::string why = "no micro-kernel implements it";
        for (const Candidate& candidate : candidates) {
            if (!candidate.cost.why_infinite.empty()) {
                why = candidate.cost.why_infinite;
                break;
            }
            try {
                (void)lower_kernel(input, block, {block.name, {{}, {candidate.leaf}}});
                return candidate.cost;
            } catch (const Error& refusal) {
                why = refusal.what();
            }
        }
        return {.why_infinite = why};
    }

private:
    FormCost cost_of(const Leaf& leaf, const egraph::Operator& op, std::span<const Operand> operands) const {
        const CostModel& model = *options_.costs;
        const Definition& definition = *op.definition();
        const auto workers = static_cast<double>(options_.workers);
        const size_t memory = model.machine().memory.size() - 1;
        FormCost total{.by = print(Nest{{}, {leaf}})};
        for (const WeightedSizes& point : sizes_) {
            std::vector<int64_t> extents;
            const std::vector<int64_t> dims = dims_of(definition, point.symbols);
            for (const Iterator& iterator : definition.iterators)
                extents.push_back(evaluate_constant(iterator.extent, dims));
            const LeafCost cost =
                model.leaf(definition, leaf, extents, layouts_of(operands, op.results.front()));
            if (!cost.why_infinite.empty()) return {.why_infinite = cost.why_infinite};
            const double stall =
                cost.streamed_bytes * model.stall_per_byte(cost.stall_per_byte, memory, options_.workers);
            const double waiting = waiting_seconds(
                definition, operands, op.results.front(), point.symbols, model.machine(),
                [&](size_t level) { return model.seconds_per_byte(level, options_.workers); });
            total.seconds += point.weight / workers * std::max(cost.near_seconds + stall, waiting);
        }
        return total;
    }

    const Graph& graph_;
    const SpecialisationPlan& specialisation_;
    const PlannerOptions& options_;
    std::vector<WeightedSizes> sizes_;
};

}  // namespace

FormCosts by_kernels(const Graph& graph, const SpecialisationPlan& specialisation,
                     const PlannerOptions& options) {
    TESSERA_CHECK(options.costs);
    return ByKernels(graph, specialisation, options);
}

}  // namespace tessera::layouts
