// The measured table decides between register blocks; without it the order of preference stays.

#include "search/planner/ranked_leaves.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "cost/measured_machine.h"
#include "lowering/kernels/parameters.h"
#include "search/planner/priced.h"
#include "search/planner/usual_machine.h"
#include "search/planner/verify_plan.h"

namespace tessera::planner {
namespace {

Graph product(int64_t rows, const char* weights = "f32") {
    return parse_graph(fmt::format(R"(graph "g"
input x: f32[{0}, 1024]
constant w: {1}[256, 1024] from "w"
value y: f32[{0}, 256]

block main
  node y(x, w) -> y
    op matmul(t: {0}, n: 256, k*: 1024)
    in X f32[t, k]
    in W {1}[n, k]
    out Y f32[t, n] = sum(X * W)
output y
)",
                                   rows, weights),
                       "g");
}

/// With times of `contract` on one row in so many groups of lanes, near and from memory.
PlannerOptions options(const std::map<int64_t, std::pair<double, double>>& seconds_of_groups) {
    machine::Machine machine = testing::measured_machine();
    std::erase_if(machine.micro_kernels, [](const auto& time) { return time.name != "loops"; });
    for (const auto& [groups, seconds] : seconds_of_groups) {
        const std::map<std::string, int64_t> parameters = {{"rows", 1}, {"groups", groups}, {"lanes", 16}},
                                             sizes = {{"m", 1}, {"n", 256}, {"k", 1024}};
        machine.micro_kernels.push_back(
            testing::kernel_time("contract", "f32", "f32", parameters, sizes, "L2", seconds.first));
        machine.micro_kernels.push_back(
            testing::kernel_time("contract", "f32", "f32", parameters, sizes, "memory", seconds.second));
    }
    return {.machine = "doctored",
            .costs = std::make_shared<const cost::CostModel>(machine),
            .has_all_blocks = true};
}

std::string groups_chosen(const Graph& graph, const PlannerOptions& options) {
    const plan::Plan plan = default_plan(graph, options);
    EXPECT_NO_THROW(verify_plan(graph, plan, "default plan"));
    const plan::Leaf& leaf = plan.specialisations[0].kernels[0].nest.root();
    EXPECT_EQ(leaf.kernel->name, "contract");
    return std::to_string(leaf.number(kernels::parameter::kGroups));
}

TEST(RankedLeaves, TheBlockThatTheTableSaysIsFastestIsTaken) {
    const double far = 150e-6;  // B is 1 MiB: 105 us at the rate of the memory
    EXPECT_EQ(
        groups_chosen(product(1), options({{1, {90e-6, far}}, {2, {80e-6, 120e-6}}, {4, {70e-6, far}}})),
        "2");
    EXPECT_EQ(
        groups_chosen(product(1), options({{1, {90e-6, far}}, {2, {80e-6, far}}, {4, {70e-6, 120e-6}}})),
        "4");
}

TEST(RankedLeaves, FetchingAheadIsTakenWhereItWasFaster) {
    struct Case {
        double near, middle, far;  ///< how many times as long products take that fetch ahead so
        int64_t taken;             ///< 0: none
    };
    for (const Case& times :
         {Case{0.7, 1.2, 1.2, 4096}, Case{1.2, 0.7, 0.9, 6144}, Case{1.2, 0.9, 0.7, 16384},
          Case{0.9, 0.8, 0.7, 16384}, Case{1.0, 1.0, 1.0, 0}, Case{1.2, 1.2, 1.2, 0}}) {
        PlannerOptions measured = options({{1, {90e-6, 150e-6}}});
        machine::Machine machine = measured.costs->machine();
        for (const machine::MicroKernelTime& time : std::vector(machine.micro_kernels)) {
            for (const int64_t prefetch : {512, 1024, 2048, 4096, 6144, 16384}) {
                machine::MicroKernelTime ahead = time;
                ahead.parameters["prefetch"] = prefetch;
                if (time.level == "memory")
                    ahead.seconds *= prefetch <= 4096   ? times.near
                                     : prefetch <= 6144 ? times.middle
                                                        : times.far;
                machine.micro_kernels.push_back(ahead);
            }
        }
        measured.costs = std::make_shared<const cost::CostModel>(machine);
        const plan::Plan plan = default_plan(product(1), measured);
        const plan::Leaf& leaf = plan.specialisations[0].kernels[0].nest.root();
        EXPECT_EQ(leaf.number(kernels::parameter::kPrefetch), times.taken)
            << times.near << " " << times.middle << " " << times.far;
    }
}

TEST(RankedLeaves, PartialSumsAreTakenWhereTheyWereFaster) {
    for (const double times : {0.9, 0.98, 1.0, 1.1}) {
        PlannerOptions measured = options({{1, {90e-6, 150e-6}}});
        machine::Machine machine = measured.costs->machine();
        for (machine::MicroKernelTime time : std::vector(machine.micro_kernels)) {
            time.parameters["partial_sums"] = 4;
            time.seconds *= times;
            machine.micro_kernels.push_back(time);
        }
        measured.costs = std::make_shared<const cost::CostModel>(machine);
        const plan::Plan plan = default_plan(product(1), measured);
        const plan::Leaf& leaf = plan.specialisations[0].kernels[0].nest.root();
        EXPECT_EQ(leaf.is_given(kernels::parameter::kPartialSums), times < 1) << times;
    }
}

TEST(RankedLeaves, StreamsAreTakenWhereTheyWereFaster) {
    for (const double times : {0.8, 1.0, 1.1}) {
        PlannerOptions measured = options({{2, {90e-6, 150e-6}}});
        machine::Machine machine = measured.costs->machine();
        for (machine::MicroKernelTime time : std::vector(machine.micro_kernels)) {
            time.parameters["partial_sums"] = 2;
            machine.micro_kernels.push_back(time);
            time.parameters["streams"] = 2;
            if (time.level == "memory") time.seconds *= times;
            machine.micro_kernels.push_back(time);
        }
        measured.costs = std::make_shared<const cost::CostModel>(machine);
        const plan::Plan plan = default_plan(product(1), measured);
        const plan::Leaf& leaf = plan.specialisations[0].kernels[0].nest.root();
        EXPECT_EQ(leaf.is_given(kernels::parameter::kStreams), times < 1) << times;
    }
}

TEST(RankedLeaves, PanelsAreTakenWhereTheyWereFaster) {
    const Graph graph = product(64, "bf16");
    for (const double gain : {0.7, 1.2}) {
        machine::Machine machine = testing::measured_machine();
        std::erase_if(machine.micro_kernels, [](const auto& time) { return time.name != "loops"; });
        std::map<std::string, int64_t> parameters = {{"rows", 12}, {"groups", 2}, {"lanes", 16}};
        const std::map<std::string, int64_t> sizes = {{"m", 144}, {"n", 256}, {"k", 1024}};
        const auto add = [&](double seconds) {
            for (const char* level : {"L2", "memory"})
                machine.micro_kernels.push_back(
                    testing::kernel_time("contract", "f32", "bf16", parameters, sizes, level, seconds));
        };
        add(1e-3);
        parameters["panel_blocks"] = 4;
        add(gain * 1e-3);
        const plan::Plan plan = default_plan(
            graph, {.machine = "doctored", .costs = std::make_shared<const cost::CostModel>(machine)});
        const plan::Leaf& leaf = plan.specialisations[0].kernels[0].nest.root();
        EXPECT_EQ(leaf.is_given(kernels::parameter::kPanelBlocks), gain < 1) << gain;
    }
}

// Sixteen rows weigh too little to be seen in the sum of the points.
TEST(RankedLeaves, OfThoseThatTakeAsLongTheOneIsTakenThatIsFasterAtSomePoint) {
    const Graph graph = parse_graph(R"(graph "g"
symbol T in 1..512
point prefill_16 weight 1: T = 16
point prefill_512 weight 1: T = 512
input x: f32[T, 1024]
constant w: bf16[256, 1024] from "w"
value y: f32[T, 256]

block main
  node y(x, w) -> y
    op matmul(t: T, n: 256, k*: 1024)
    dim T in 1..512
    in X f32[t, k]
    in W bf16[n, k]
    out Y f32[t, n] = sum(X * W)
output y
)",
                                    "g");
    for (const double gain : {0.8, 1.0}) {
        machine::Machine machine = testing::measured_machine();
        std::erase_if(machine.micro_kernels, [](const auto& time) { return time.name != "loops"; });
        const auto add = [&](int64_t rows, const std::map<std::string, int64_t>& mode, double seconds) {
            std::map<std::string, int64_t> parameters = {{"rows", 12}, {"groups", 2}, {"lanes", 16}};
            parameters.insert(mode.begin(), mode.end());
            for (const char* level : {"L2", "memory"})
                machine.micro_kernels.push_back(testing::kernel_time("contract", "f32", "bf16", parameters,
                                                                     {{"m", rows}, {"n", 256}, {"k", 1024}},
                                                                     level, seconds));
        };
        add(12, {}, 1e-4);
        add(12, {{"prefetch", 2048}}, gain * 1e-4);
        add(144, {{"panel_blocks", 4}}, 6e-4);
        const plan::Plan plan =
            default_plan(graph, {.machine = "doctored",
                                 .costs = std::make_shared<const cost::CostModel>(machine),
                                 .has_all_blocks = true});
        const plan::Leaf& leaf = plan.specialisations[0].kernels[0].nest.root();
        EXPECT_TRUE(leaf.is_given(kernels::parameter::kPanelBlocks)) << gain;
        EXPECT_EQ(leaf.is_given(kernels::parameter::kPrefetch), gain < 1) << gain;
    }
}

TEST(RankedLeaves, WhereTheMemoryDecidesTheOneIsTakenThatWaitsLess) {
    const std::string preferred =
        groups_chosen(product(1), testing::on_usual_machine({.machine = "unmeasured"}));
    const double near = 10e-6, far = 50e-6;  // faster than the memory gives
    const auto chosen = [&](double of_two, double of_four, double near_four) {
        return groups_chosen(product(1),
                             options({{1, {near, far}}, {2, {near, of_two}}, {4, {near_four, of_four}}}));
    };
    EXPECT_EQ(chosen(far / 2, far / 3, near), "4");
    EXPECT_EQ(chosen(far / 3, far / 2, near), "2");
    EXPECT_EQ(chosen(far, far / 2, 1.5 * near), preferred) << "computes more";
    EXPECT_EQ(chosen(far, far, near), preferred);
}

TEST(RankedLeaves, WithoutMeasurementsNothingChanges) {
    for (const int64_t rows : {1, 3, 64}) {
        const Graph graph = product(rows);
        const PlannerOptions unmeasured = testing::on_usual_machine({.machine = "unmeasured"});
        const plan::Plan plan = default_plan(graph, unmeasured);
        const Node& node = graph.blocks[0].nodes[0];
        const std::vector<plan::Leaf> candidates = leaf_candidates(node, plan.specialisations[0], unmeasured);
        const plan::ConstantSection constants = plan::constant_section(graph, plan);
        const lowering::LoweringInput input =
            lowering::lowering_input(graph, plan, plan.specialisations[0], constants);
        cost::PricedBlock block = priced_block(input, graph.blocks[0], unmeasured);
        EXPECT_EQ(ranked_leaves(block, graph, node, plan.specialisations[0], unmeasured), candidates);
        // Additional candidates follow the preferred ones.
        PlannerOptions all = unmeasured;
        all.has_all_blocks = true;
        EXPECT_EQ(leaf_candidates(node, plan.specialisations[0], all).front(), candidates.front());
        EXPECT_GT(leaf_candidates(node, plan.specialisations[0], all).size(), candidates.size());
    }
}

TEST(RankedLeaves, TheSameTableGivesTheSamePlan) {
    const PlannerOptions measured = options({{1, {90e-6, 150e-6}}, {2, {80e-6, 120e-6}}});
    EXPECT_EQ(default_plan(product(1), measured), default_plan(product(1), measured));
}

}  // namespace
}  // namespace tessera::planner
