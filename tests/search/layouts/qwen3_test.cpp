// The repeating group of Qwen3-0.6B in all its specialisations: saturated at the default limits, proved
// optimal, the same twice.
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cost/measured_machine.h"
#include "import/import_shapes.h"
#include "ir/ops/decompose.h"
#include "lowering/movement/units.h"
#include "lowering/plan/constants.h"
#include "lowering/plan/copies.h"
#include "search/layouts/lay_out.h"
#include "search/planner/verify_plan.h"
#include "search/rules/vectorize/pack.h"
#include "support/temporary_folder.h"

namespace tessera::layouts {
namespace {

Graph qwen3_0_6b() {
    const TemporaryFolder folder;
    std::ofstream(folder.path() / "config.json") << R"({"model_type": "qwen3", "hidden_size": 1024,
        "intermediate_size": 3072, "num_hidden_layers": 28, "num_attention_heads": 16, "num_key_value_heads": 8,
        "head_dim": 128, "vocab_size": 151936, "rms_norm_eps": 1e-6, "tie_word_embeddings": true,
        "max_position_embeddings": 40960, "rope_theta": 1e6, "dtype": "bfloat16"})";
    Graph graph = ops::decompose(import::import_shapes(folder.path(), {.context = 4096}).graph);
    verify(graph, "qwen3");
    return graph;
}

planner::PlannerOptions measured() {
    planner::PlannerOptions options{.machine = "round", .lanes = 16, .vector_registers = 32};
    const machine::Machine machine = tessera::testing::measured_machine();
    options.units = machine.units;
    options.units.push_back(tessera::testing::pair_unit(16));
    options.costs = std::make_shared<const cost::CostModel>(machine);
    options.has_all_blocks = true;
    return options;
}

class Qwen3 : public ::testing::Test {
protected:
    Search search(int64_t limits) const {
        SearchOptions search = defaults;
        search.saturation.nodes *= limits;
        search.saturation.iterations *= static_cast<int>(limits);
        search.saturation.back_off.matches *= static_cast<size_t>(limits);
        search.extraction.conflicts *= limits;
        return search_layouts(graph, initial, search);
    }

    const Graph graph = qwen3_0_6b();
    const planner::PlannerOptions options = measured();
    const plan::Plan initial = planner::initial_plan(graph, options);
    const SearchOptions defaults = compiling_options(graph, initial, options);
};

TEST_F(Qwen3, SaturatesAtTheDefaultLimitsAndIsProvedOptimal) {
    const Search found = search(1);
    std::printf("%s\n", summary(found).c_str());
    EXPECT_EQ(found.saturation.stop, egraph::StopReason::kSaturated);
    EXPECT_EQ(found.result.status, extraction::Status::kOptimal);
    EXPECT_THAT(violations(found.problem.problem, found.result.choice), ::testing::IsEmpty());
    const Search doubled = search(2);
    EXPECT_EQ(doubled.saturation.nodes, found.saturation.nodes);
    EXPECT_EQ(print(doubled), print(found));
    const plan::Plan plan = decision_of(graph, initial, found);
    EXPECT_EQ(decision_of(graph, initial, doubled), plan);
    EXPECT_EQ(plan::print(plan), plan::print(decision_of(graph, initial, search(1))));
    EXPECT_NO_THROW(planner::verify_plan(
        plan::with_copies(graph, plan, "plan"),
        planner::complete_plan(plan::with_copies(graph, plan, "plan"), plan, options), "plan"));
}

TEST_F(Qwen3, NoLayoutsOfTheDefaultPlannerCostLess) {
    const Search found = search(1);
    // The same problem where any other form of a constant costs more than all the rest.
    const egraph::EGraph& egraph = found.graph.egraph;
    extraction::Problem forced = found.problem.problem;
    size_t forbidden = 0;
    for (size_t i = 0; i < forced.nodes.size(); ++i) {
        const egraph::TermId node = found.problem.nodes[i];
        for (const auto& [value, leaf] : found.graph.constants) {
            const bool is_form =
                egraph.are_equal(node, leaf) ||
                (rules::is_pack(egraph.op(node)) && egraph.are_equal(egraph.term(node).children[0], leaf));
            const Layout& layout = egraph.op(node).results.front().layout;
            if (!is_form || layout == plan::stored_layout(initial, graph[value].name)) continue;
            forced.nodes[i].cost += 1e9;
            ++forbidden;
        }
    }
    EXPECT_GT(forbidden, 7u);
    const extraction::Result result = extract(forced, {});
    ASSERT_EQ(result.status, extraction::Status::kOptimal);
    EXPECT_LT(result.cost, 1e9);
    EXPECT_LE(found.result.cost, result.cost);
}

}  // namespace
}  // namespace tessera::layouts
