#include "measure/kernel_cases.h"

#include <algorithm>
#include <optional>
#include <set>

#include "compiler/planner_options.h"
#include "cost/vector_work.h"
#include "kernels/micro_kernel.h"
#include "movement/lower.h"
#include "plan/constants.h"
#include "plan/leaf_parameters.h"
#include "planner/leaf_choice.h"
#include "planner/place_buffers.h"
#include "planner/verify_plan.h"
#include "support/error.h"

namespace tessera {
namespace {

constexpr int64_t kFewRows = 12;

std::map<std::string, int64_t> work_of(const Definition& definition, const Leaf& leaf) {
    std::vector<int64_t> extents;
    for (const Iterator& iterator : definition.iterators)
        extents.push_back(evaluate_constant(iterator.extent, {}));
    const auto parameters = numbers(leaf);
    const auto lanes = parameters.find("lanes");
    return named(vector_work(definition, extents, iterator_of(definition, leaf, "x"),
                             lanes == parameters.end() ? 1 : lanes->second));
}

UnitKind unit_of(const Leaf& leaf) {
    return find_micro_kernel(leaf.micro_kernel)->unit;
}

/// Of a product, candidates of narrower vectors are for edges, and those that take A for the weight for other
/// operators.
bool is_wanted(const Leaf& leaf, const KernelSubject& subject, const Machine& machine) {
    if (subject.streamed.empty()) return leaf.micro_kernel == "loops";
    const auto lanes = leaf.parameters.find("lanes");
    if (lanes == leaf.parameters.end() || lanes->second != std::to_string(vector_lanes(machine)))
        return false;
    if (leaf.micro_kernel == "loops" && subject.sizes.at("m") > 1) return false;
    if (subject.has_whole_tiles && unit_of(leaf) != UnitKind::kMatrix) return false;
    for (const char* rows_of_b : {"n", "d"})
        if (const auto found = leaf.parameters.find(rows_of_b);
            found != leaf.parameters.end() && found->second != subject.streamed)
            return false;
    return true;
}

/// The plan of one kernel without loops, or nothing where its lanes do not fit how the weight is stored.
std::optional<KernelCase> lowered(size_t number, const Graph& graph, Plan plan, const Leaf& leaf) {
    SpecialisationPlan& specialisation = plan.specialisations.front();
    specialisation.kernels.front().nest = {{}, {leaf}};
    try {
        plan = place_buffers(graph, std::move(plan));
        verify_plan(graph, plan, "measuring");
        const ConstantSection constants = constant_section(graph, plan);
        return KernelCase{.subject = number,
                          .micro_kernel = leaf.micro_kernel,
                          .parameters = numbers(leaf),
                          .program = lower(graph, plan, plan.specialisations.front(), constants),
                          .constants_bytes = constants.bytes,
                          .arena_bytes = plan.specialisations.front().arena_bytes};
    } catch (const Error&) {
        return std::nullopt;
    }
}

}  // namespace

std::vector<KernelCase> kernel_cases(const std::vector<KernelSubject>& subjects, const Machine& machine) {
    PlannerOptions options = planner_options(machine, 1);
    options.costs = nullptr;  // what is measured must not follow from what was
    std::vector<KernelCase> cases;
    for (size_t i = 0; i < subjects.size(); ++i) {
        const Graph& graph = subjects[i].graph;
        verify(graph, graph.name);
        options.has_all_blocks = subjects[i].is_typical;
        const Node& node = graph.blocks[0].nodes[0];
        Plan plan = default_plan(graph, options);
        Plan row_major = plan;
        row_major.stored.clear();
        std::set<std::pair<std::string, std::map<std::string, int64_t>>> seen;
        std::map<UnitKind, std::string> preferred;
        for (const Leaf& leaf : leaf_candidates(node, plan.specialisations.front(), options)) {
            if (!is_wanted(leaf, subjects[i], machine) || seen.contains({leaf.micro_kernel, numbers(leaf)}))
                continue;
            const bool has_many_rows =
                subjects[i].sizes.contains("m") && subjects[i].sizes.at("m") > kFewRows;
            const auto first = preferred.find(unit_of(leaf));
            if (has_many_rows && first != preferred.end() && first->second != leaf.micro_kernel) continue;
            for (const Plan* stored : {&plan, &row_major}) {
                auto found = lowered(i, graph, *stored, leaf);
                if (!found) continue;
                seen.insert({found->micro_kernel, found->parameters});
                preferred.emplace(unit_of(leaf), leaf.micro_kernel);
                if (subjects[i].streamed.empty()) found->work = work_of(*node.definition(), leaf);
                found->program.specialisation = fmt::format("case_{}", cases.size());
                cases.push_back(std::move(*found));
                break;
            }
            // Of what is no product, the first way that lowers is the one that the planner takes.
            if (subjects[i].streamed.empty() && !seen.empty()) break;
        }
    }
    return cases;
}

}  // namespace tessera
