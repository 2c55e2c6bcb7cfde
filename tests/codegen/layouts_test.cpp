// Layouts that the search decides on by random costs, so that all kinds of copies occur: the program that
// comes of them against the interpreter of the graph without them.
#include <cmath>

#include <gtest/gtest.h>

#include "codegen/compiled_plans.h"
#include "cost/measured_machine.h"
#include "ir/graph_text.h"
#include "kernels/micro_kernels.h"
#include "layouts/choose_layouts.h"
#include "movement/random_graph.h"
#include "movement/units.h"
#include "plan/copies.h"
#include "planner/verify_plan.h"

namespace tessera::testing {
namespace {

constexpr double kTolerance = 3e-5;  // as in differential_test.cpp

/// From 0.1 to 10 microseconds, the same for the same form.
double random_seconds(uint64_t seed, const egraph::Operator& op, std::span<const layouts::Operand> operands) {
    std::string text = std::to_string(seed) + egraph::key(op);
    for (const layouts::Operand& operand : operands) text += print(operand.type);
    uint64_t hash = 1469598103934665603u;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
    return 1e-6 * std::pow(10.0, static_cast<double>(hash % 2001) / 1000 - 1);
}

PlannerOptions options_for(uint64_t seed, int64_t lanes) {
    PlannerOptions options{.machine = "test",
                           .lanes = lanes,
                           .vector_registers = 32,
                           .resident_bytes = 256,
                           .cached_bytes = 256};
    options.units.push_back({.name = "vector",
                             .kind = UnitKind::kVector,
                             .operands = {{"A", "f32", {{'i', lanes}}},
                                          {"B", "f32", {{'i', lanes}}},
                                          {"C", "f32", {{'i', lanes}}}},
                             .registers = 32});
    if (seed % 2 == 0) options.units.push_back(pair_unit(lanes));
    if (seed % 4 < 2) {
        options.units.push_back(tile_unit({.m = 16, .n = lanes, .k = 32}));
        options.units.push_back(byte_tile_unit({.m = 16, .n = lanes, .k = 64}));
    }
    options.costs = std::make_shared<const CostModel>(measured_machine());
    return options;
}

class Layouts : public ::testing::TestWithParam<uint64_t> {};

TEST_P(Layouts, OfAnyCostsComputeWhatTheInterpreterDoes) {
    const uint64_t seed = GetParam();
    const std::vector<int64_t> widths = host_lanes();
    const int64_t lanes = widths[seed % widths.size()];
    const RandomGraph random = random_graph(seed, lanes);
    const PlannerOptions options = options_for(seed, lanes);
    const Plan initial = initial_plan(random.graph, options);
    layouts::SearchOptions search{.units = options.units};
    for (const SpecialisationPlan& specialisation : initial.specialisations)
        search.costs.push_back(
            [seed, real = layouts::by_kernels(random.graph, initial, specialisation, options)](
                const egraph::Operator& op, std::span<const layouts::Operand> operands) {
                layouts::FormCost cost = real(op, operands);
                cost.seconds = random_seconds(seed, op, operands);
                return cost;
            });
    const layouts::Search found = layouts::search_layouts(random.graph, initial, search);
    ASSERT_EQ(found.saturation.stop, egraph::StopReason::kSaturated);
    ASSERT_EQ(found.result.status, extraction::Status::kOptimal);
    ASSERT_TRUE(violations(found.problem.problem, found.result.choice).empty());
    const Plan decided = layouts::decision_of(random.graph, initial, found);
    ASSERT_EQ(parse_plan(print(decided), "plan", micro_kernels()), decided);
    const Graph graph = with_copies(random.graph, decided, "plan");
    verify(graph, "graph with copies");
    const Plan plan = complete_plan(graph, decided, options);
    verify_plan(graph, plan, "plan");
    RecordProperty("copies", static_cast<int>(plan.copies.size()));
    CompiledPlans compiled(lanes);
    compiled.add(graph, plan);
    compiled.compile();
    for (const int64_t tokens : {1, 7, 23}) {
        const GraphCall call = random.call(tokens);
        const Difference worst = difference(compiled.run(0, call), interpret_graph(random.graph, call));
        ASSERT_LE(worst.relative, kTolerance) << "T = " << tokens << ": " << worst.where << "\n"
                                              << print(graph) << print(plan);
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Layouts, ::testing::Range<uint64_t>(1, 17));

}  // namespace
}  // namespace tessera::testing
