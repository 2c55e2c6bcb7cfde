#include "lowering/movement/planned_graphs.h"

#include <cmath>

#include <fmt/format.h>

#include "cost/measured_machine.h"
#include "ir/graph_text.h"
#include "lowering/kernels/micro_kernels.h"
#include "lowering/movement/plan_variation.h"
#include "lowering/movement/units.h"
#include "lowering/plan/copies.h"
#include "search/layouts/choose_layouts.h"
#include "search/planner/usual_machine.h"
#include "search/planner/verify_plan.h"
#include "support/error.h"

namespace tessera::testing {
namespace {

/// The specialisation for all numbers of tokens alone.
plan::Plan general_one(plan::Plan plan) {
    plan.specialisations.erase(plan.specialisations.begin(), plan.specialisations.end() - 1);
    return plan;
}

std::vector<PlannedGraph> edited(const RandomGraph& graph, const plan::Plan& start, uint64_t seed, int first,
                                 int step, int count) {
    std::mt19937_64 random(seed);
    std::vector<PlannedGraph> plans;
    for (int i = 0; i < count; ++i) {
        const Variation variation = vary(graph.graph, start, first + step * i, 300, random);
        std::string history = fmt::format("seed {}\n", seed);
        for (const Edit& edit : variation.edits) {
            if (edit.refused.empty()) history += edit.what + "\n";
        }
        plans.push_back({graph, variation.plan, std::move(history), {}});
    }
    return plans;
}

/// Enough for some merges in each block; a search to the end would take most of the time of these tests.
constexpr int64_t kNests = 12;

planner::PlannerOptions worker_options(int64_t lanes, int64_t workers, double barrier) {
    return on_usual_machine({.machine = "test",
                             .lanes = lanes,
                             .vector_registers = 32,
                             .workers = workers,
                             .barriers_of_a_layer = barrier == 0 ? 1000 : 5,
                             .nests = kNests},
                            barrier);
}

/// From 0.1 to 10 microseconds, the same for the same form.
double random_seconds(uint64_t seed, const egraph::Operator& op, std::span<const layouts::Operand> operands) {
    std::string text = std::to_string(seed) + egraph::key(op);
    for (const layouts::Operand& operand : operands) text += print(operand.type);
    uint64_t hash = 1469598103934665603u;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
    return 1e-6 * std::pow(10.0, static_cast<double>(hash % 2001) / 1000 - 1);
}

planner::PlannerOptions layout_options(uint64_t seed, int64_t lanes) {
    planner::PlannerOptions options = differential_options(seed, lanes);
    options.units.insert(options.units.begin(), {.name = "vector",
                                                 .kind = machine::UnitKind::kVector,
                                                 .operands = {{"A", "f32", {{'i', lanes}}},
                                                              {"B", "f32", {{'i', lanes}}},
                                                              {"C", "f32", {{'i', lanes}}}},
                                                 .registers = 32});
    options.costs = std::make_shared<const cost::CostModel>(measured_machine());
    return options;
}

}  // namespace

int64_t lanes_of(uint64_t seed) {
    constexpr int64_t kWidths[] = {16, 8, 4};
    return kWidths[seed % std::size(kWidths)];
}

planner::PlannerOptions differential_options(uint64_t seed, int64_t lanes) {
    planner::PlannerOptions options{
        .machine = "test", .lanes = lanes, .vector_registers = 32, .nests = kNests};
    if (seed % 2 == 0) options.units.push_back(pair_unit(lanes));
    if (seed % 4 < 2) {
        options.units.push_back(tile_unit({.m = 16, .n = lanes, .k = 32}));
        options.units.push_back(byte_tile_unit({.m = 16, .n = lanes, .k = 64}));
    }
    return on_usual_machine(std::move(options));
}

PlannedGraph default_planned(uint64_t seed, int64_t lanes) {
    RandomGraph graph = random_graph(seed, lanes);
    verify(graph.graph, "random graph");
    plan::Plan plan = planner::default_plan(graph.graph, differential_options(seed, lanes));
    planner::verify_plan(graph.graph, plan, "default plan");
    return {std::move(graph), std::move(plan), fmt::format("seed {}", seed), {}};
}

std::vector<PlannedGraph> edited_plans(uint64_t seed, int64_t lanes, int count) {
    const RandomGraph graph = random_graph(seed, lanes);
    const plan::Plan start = general_one(planner::default_plan(
        graph.graph,
        on_usual_machine({.machine = "test", .lanes = lanes, .vector_registers = 32, .nests = kNests})));
    return edited(graph, start, seed, 2, 3, count);
}

std::vector<PlannedGraph> plans_of_workers(uint64_t seed, int64_t lanes) {
    const RandomGraph graph = random_graph(seed, lanes);
    std::vector<PlannedGraph> plans;
    for (const int64_t workers : {2, 3, 5}) {
        for (const double barrier : {0.0, 1e-7}) {
            plan::Plan plan = planner::default_plan(graph.graph, worker_options(lanes, workers, barrier));
            planner::verify_plan(graph.graph, plan, "default plan");
            plans.push_back({graph,
                             std::move(plan),
                             fmt::format("seed {}, {} workers, a barrier of {} s", seed, workers, barrier),
                             {}});
        }
    }
    return plans;
}

std::vector<PlannedGraph> edited_plans_of_workers(uint64_t seed, int64_t lanes, int count) {
    const RandomGraph graph = random_graph(seed, lanes);
    return edited(graph, general_one(planner::default_plan(graph.graph, worker_options(lanes, 2, 0))), seed,
                  4, 4, count);
}

std::vector<PlannedGraph> ragged_plans(int64_t lanes, const std::vector<int64_t>& extents) {
    std::vector<PlannedGraph> plans;
    for (const int64_t extent : extents) {
        RandomGraph graph = graph_of_every_family(static_cast<uint64_t>(extent), lanes, extent);
        verify(graph.graph, "ragged graph");
        plan::Plan plan = planner::default_plan(
            graph.graph,
            on_usual_machine({.machine = "test", .lanes = lanes, .vector_registers = 32, .nests = kNests}));
        planner::verify_plan(graph.graph, plan, "default plan");
        plans.push_back({std::move(graph), std::move(plan), fmt::format("extent {}", extent), {}});
    }
    return plans;
}

PlannedGraph laid_out(uint64_t seed, int64_t lanes) {
    RandomGraph random = random_graph(seed, lanes);
    const planner::PlannerOptions options = layout_options(seed, lanes);
    const plan::Plan initial = planner::initial_plan(random.graph, options);
    layouts::SearchOptions search{.units = options.units};
    search.fused = planner::fused_operators(random.graph, initial, options);
    for (const plan::SpecialisationPlan& specialisation : initial.specialisations)
        search.costs.push_back(
            [seed, real = layouts::by_kernels(random.graph, initial, specialisation, options)](
                const egraph::Operator& op, std::span<const layouts::Operand> operands) {
                layouts::FormCost cost = real(op, operands);
                cost.seconds = random_seconds(seed, op, operands);
                return cost;
            });
    const layouts::Search found = layouts::search_layouts(random.graph, initial, search);
    if (found.saturation.stop != egraph::StopReason::kSaturated ||
        found.result.status != extraction::Status::kOptimal ||
        !violations(found.problem.problem, found.result.choice).empty())
        throw Error("layouts", fmt::format("seed {}", seed), "are not those of the least cost");
    const plan::Plan decided = layouts::decision_of(random.graph, initial, found);
    if (!(plan::parse_plan(plan::print(decided), "plan", kernels::micro_kernels()) == decided))
        throw Error("layouts", fmt::format("seed {}", seed), "print and parse as others");
    Graph graph = plan::with_copies(random.graph, decided, "plan");
    verify(graph, "graph with copies");
    plan::Plan plan = planner::complete_plan(graph, decided, options);
    planner::verify_plan(graph, plan, "plan");
    return {std::move(random), std::move(plan), fmt::format("seed {}", seed), std::move(graph)};
}

}  // namespace tessera::testing
