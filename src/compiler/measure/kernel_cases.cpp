#include "compiler/measure/kernel_cases.h"

#include <algorithm>
#include <optional>
#include <set>

#include "compiler/planner_options.h"
#include "cost/priced_block.h"
#include "cost/vector_work.h"
#include "cost/weighted_sizes.h"
#include "lowering/kernels/parameters.h"
#include "lowering/lower.h"
#include "lowering/plan/constants.h"
#include "lowering/tensor_layouts.h"
#include "search/planner/leaf_choice.h"
#include "search/planner/place_buffers.h"
#include "search/planner/verify_plan.h"
#include "support/error.h"

namespace tessera::measure {
namespace {

constexpr int64_t kFewRows = 12;

/// The work of all calls of the operators inside the loops.
std::map<std::string, int64_t> work_of(const Graph& graph, const plan::Plan& plan,
                                       const machine::Machine& machine) {
    const plan::SpecialisationPlan& specialisation = plan.specialisations.front();
    const plan::ConstantSection constants = plan::constant_section(graph, plan);
    const lowering::LoweringInput input = lowering::lowering_input(graph, plan, specialisation, constants);
    const cost::CostModel model(machine);
    cost::PricedBlock priced(input, graph.blocks.front(), cost::sizes_of(graph, plan, specialisation), model,
                             machine.memory.size() - 1);
    const cost::Evaluator::Numbered kernel =
        priced.evaluator.numbered(specialisation.kernels.front().nest, priced.is_tile);
    cost::VectorWork sum;
    for (size_t at = 0; at < kernel.leaves.size(); ++at) {
        const cost::Evaluator::Part part = priced.evaluator.part(kernel.kernel, at);
        const int op = kernel.kernel.operators[at].op;
        const Node& node = *priced.links.operators[static_cast<size_t>(op)].node;
        const cost::VectorWork each =
            cost::vector_work(*node.definition(), priced.evaluator.extents(op, part.extents.front()),
                              priced.evaluator.leaf(kernel.leaves[at]), machine::vector_lanes(machine),
                              lowering::layouts_of(graph, plan, node, specialisation));
        for (const auto& [name, member] : cost::kVectorWorkCounts)
            sum.*member += part.executions.front() * each.*member;
    }
    return cost::named(sum);
}

/// For a product, candidates of narrower vectors are not wanted, since they serve edges, nor those that read
/// A as the weight, which serve other operators.
bool is_wanted(const plan::Leaf& leaf, const KernelSubject& subject, const machine::Machine& machine) {
    if (subject.streamed.empty()) return leaf.kernel->is_plain;
    if (leaf.number(kernels::parameter::kLanes) != machine::vector_lanes(machine)) return false;
    if (leaf.kernel->is_plain && subject.sizes.at("m") > 1) return false;
    // Products by panels do not prefetch.
    if (leaf.is_given(kernels::parameter::kPanelBlocks) && leaf.is_given(kernels::parameter::kPrefetch))
        return false;
    // A cache lies in pages.
    if (subject.is_cached && leaf.is_given(kernels::parameter::kStreams)) return false;
    if (subject.has_whole_tiles && leaf.kernel->unit != machine::UnitKind::kMatrix) return false;
    const plan::Parameter* rows_of_b = leaf.kernel->product.n;
    return !rows_of_b || !leaf.is_given(*rows_of_b) || leaf.iterator(*rows_of_b) == subject.streamed;
}

/// The plan of one kernel, or nothing where its lanes do not fit how the weight is stored.
std::optional<KernelCase> lowered(const KernelSubject& subject, plan::Plan plan, const plan::Nest& nest,
                                  const machine::Machine& machine) {
    const Graph& graph = subject.graph;
    plan::SpecialisationPlan& specialisation = plan.specialisations.front();
    specialisation.kernels.front().nest = nest;
    const plan::Leaf& leaf = nest.root();
    const plan::ConstantSection constants = plan::constant_section(graph, plan);
    if (lowering::why_no_strides(lowering::lowering_input(graph, plan, specialisation, constants),
                                 graph.blocks.front(), specialisation.kernels.front()))
        return std::nullopt;
    planner::LoweredPlan placed = planner::lowered_and_placed(graph, std::move(plan));
    planner::verify_lowered(graph, placed, "measuring");
    const bool is_product = !subject.streamed.empty();
    return KernelCase{
        .micro_kernel = std::string(leaf.kernel->name),
        .parameters = leaf.numbers(),
        .work = is_product ? std::map<std::string, int64_t>{} : work_of(graph, placed.plan, machine),
        .program = std::move(placed.programs.front()),
        .constants_bytes = constants.bytes,
        .arena_bytes = placed.plan.specialisations.front().arena_bytes};
}

/// A row at a time, so that the products of a norm wait for the end of its sum.
plan::StatedKernel row_chain(const Block& block) {
    plan::StatedKernel chain{.where = block.name, .specialisation = {}, .nest = {}};
    const std::vector<Iterator>& iterators = block.nodes.back().definition()->iterators;
    for (size_t x = 0; x + 1 < iterators.size(); ++x) chain.nest.loops.push_back({iterators[x].name, 1});
    for (const Node& node : block.nodes)
        chain.nest.items.emplace_back(plan::Leaf(node.name, plan::open_micro_kernel()));
    return chain;
}

machine::Machine without_measurements(machine::Machine machine) {
    for (machine::MemoryLevel& level : machine.memory) {
        level.read_bandwidth.clear();
        level.latency_seconds.reset();
    }
    for (machine::ComputeUnit& unit : machine.units) unit.peaks.clear();
    machine.barriers.clear();
    machine.micro_kernels.clear();
    return machine;
}

}  // namespace

std::vector<KernelCase> kernel_cases(const std::vector<KernelSubject>& subjects,
                                     const machine::Machine& machine) {
    // New measurements must not depend on old ones.
    const planner::PlannerOptions of_machine = compiler::planner_options(without_measurements(machine), 1);
    std::vector<KernelCase> cases;
    const auto add = [&](size_t subject, std::optional<KernelCase> found) {
        if (!found) return false;
        found->subject = subject;
        found->program.specialisation = fmt::format("case_{}", cases.size());
        cases.push_back(std::move(*found));
        return true;
    };
    for (size_t i = 0; i < subjects.size(); ++i) {
        const Graph& graph = subjects[i].graph;
        verify(graph, graph.name);
        planner::PlannerOptions options = of_machine;
        options.has_all_blocks = subjects[i].is_typical;
        const Node& node = graph.blocks[0].nodes[0];
        if (graph.blocks[0].nodes.size() > 1) options.stated = {row_chain(graph.blocks[0])};
        plan::Plan plan = planner::default_plan(graph, options);
        if (subjects[i].is_cached) {
            for (auto& [name, layout] : plan.stored) layout.lanes.resize(1);
        }
        if (graph.blocks[0].nodes.size() > 1) {
            const plan::Nest chain = plan.specialisations.front().kernels.front().nest;
            add(i, lowered(subjects[i], std::move(plan), chain, machine));
            continue;
        }
        plan::Plan row_major = plan;
        row_major.stored.clear();
        std::set<std::pair<std::string, std::map<std::string, int64_t>>> seen;
        std::map<machine::UnitKind, std::string> preferred;
        for (const plan::Leaf& leaf : planner::leaf_candidates(node, plan.specialisations.front(), options)) {
            if (!is_wanted(leaf, subjects[i], machine) ||
                seen.contains({std::string(leaf.kernel->name), leaf.numbers()}))
                continue;
            const bool has_many_rows =
                subjects[i].sizes.contains("m") && subjects[i].sizes.at("m") > kFewRows;
            const auto first = preferred.find(leaf.kernel->unit);
            if (has_many_rows && first != preferred.end() && first->second != leaf.kernel->name) continue;
            // For other operators than products, the planner takes the first way that lowers, or the same
            // with more lanes.
            if (subjects[i].streamed.empty() && !seen.empty() &&
                leaf.number(kernels::parameter::kLanes) <= machine::vector_lanes(machine))
                break;
            for (const plan::Plan* stored : {&plan, &row_major}) {
                if (!add(i, lowered(subjects[i], *stored, {{}, {leaf}}, machine))) continue;
                seen.insert({std::string(leaf.kernel->name), leaf.numbers()});
                preferred.emplace(leaf.kernel->unit, std::string(leaf.kernel->name));
                break;
            }
        }
    }
    return cases;
}

}  // namespace tessera::measure
