// Every way through the emitted code is taken at least once: declared micro-kernels times the ways in which a
// tensor that they read or write may lie. Random graphs are planned and their plans edited at random, which
// is quick, until the plans together take every path; those that take a new one are compiled, run and
// compared with the interpreter.
#include "backend/paths.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <ostream>
#include <string_view>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "backend/compiled_plans.h"
#include "lowering/kernels/micro_kernels.h"
#include "lowering/kernels/parameters.h"
#include "lowering/movement/plan_editor.h"
#include "lowering/movement/plan_variation.h"
#include "lowering/movement/random_graph.h"
#include "lowering/movement/units.h"
#include "lowering/plan/parts.h"
#include "lowering/storage.h"
#include "search/planner/default_planner.h"
#include "search/planner/leaf_choice.h"
#include "search/planner/usual_machine.h"
#include "support/error.h"

namespace tessera::testing {

void PrintTo(const Path& path, std::ostream* out) {
    *out << path.micro_kernel << " " << path.access << " " << path.storage;
}

namespace {

constexpr uint64_t kMostGraphs = 2000;
constexpr int64_t kLanes = 4;  // every host has them

struct PlannedGraph {
    RandomGraph graph;
    plan::Plan plan;
};

const planner::PlannerOptions kOptions = testing::on_usual_machine(
    {.machine = "test",
     .lanes = kLanes,
     .vector_registers = 16,
     .units = {tile_unit({.m = 4, .n = kLanes, .k = 8}), byte_tile_unit({.m = 4, .n = kLanes, .k = 16})},
     .nests = 0});

const Node& node_of(const Graph& graph, const plan::Leaf& leaf) {
    for (const Block& block : graph.blocks)
        for (const Node& node : block.nodes)
            if (node.name == leaf.node) return node;
    TESSERA_CHECK(false, "{}", leaf.node);
    return graph.blocks.front().nodes.front();
}

/// The value whose storage this one uses.
ValueId base(const Graph& graph, const plan::Plan& plan, ValueId value) {
    const auto& tensors = plan.specialisations[0].tensors;
    for (auto at = tensors.find(graph[value].name); at != tensors.end();
         at = tensors.find(graph[value].name)) {
        if (at->second.place != plan::Place::kView && at->second.place != plan::Place::kInPlace) break;
        value = *graph.find(at->second.of);
    }
    return value;
}

void replace_leaf(plan::Nest& nest, const plan::Leaf& by) {
    for (auto& child : nest.items) {
        if (auto* inner = std::get_if<plan::Nest>(&child)) {
            replace_leaf(*inner, by);
        } else if (std::get<plan::Leaf>(child).node == by.node) {
            child = by;
        }
    }
}

/// The first of these plans that is legal.
std::optional<plan::Plan> legal_one_of(const std::vector<plan::Plan>& plans, const Graph& graph) {
    for (const plan::Plan& plan : plans) {
        try {
            return placed_and_verified(graph, plan);
        } catch (const Error&) {  // the next one
        }
    }
    return std::nullopt;
}

/// The plan with one micro-kernel in the place of others, wherever that is legal: the starting point of edits
/// that would seldom come to it by chance. Weights are row-major where that is legal.
plan::Plan preferring(std::string_view micro_kernel, const Graph& graph, plan::Plan plan) {
    for (const Block& block : graph.blocks) {
        for (const Node& node : block.nodes) {
            if (!kernels::find_micro_kernel(micro_kernel)->why_not(*node.definition()).empty()) continue;
            for (const plan::Leaf& candidate :
                 planner::leaf_candidates(node, plan.specialisations[0], kOptions)) {
                if (candidate.kernel->name != micro_kernel) continue;
                plan::Plan edited = plan;
                for (plan::KernelPlan& kernel : edited.specialisations[0].kernels)
                    replace_leaf(kernel.nest, candidate);
                // Tiles that suit one micro-kernel are in the way of others.
                plan::Plan whole = edited;
                for (plan::KernelPlan& kernel : whole.specialisations[0].kernels)
                    if (plan::leaves(kernel.nest).size() == 1 && kernel.nest.root() == candidate)
                        kernel.nest.loops.clear();
                const auto with_row_major = [&](plan::Plan next) {
                    for (const ValueId operand : node.operands)
                        next.stored.erase(graph[base(graph, plan, operand)].name);
                    return next;
                };
                if (const auto legal =
                        legal_one_of({with_row_major(whole), whole, with_row_major(edited), edited}, graph)) {
                    plan = *legal;
                    break;
                }
            }
        }
    }
    return plan;
}

/// The kind of edit that most likely leads to a path; empty if none stands out.
std::string_view kind_towards(const Path& path) {
    if (kernels::find_micro_kernel(path.micro_kernel)->combines_parts)
        return "parts";  // the combination belongs to no other path
    if (path.storage == "tile") return "fuse";
    if (path.storage == "in place") return "alias";
    return {};
}

/// The plan with some edits of this kind.
plan::Plan edited(std::string_view kind_name, const Graph& graph, plan::Plan plan, std::mt19937_64& random) {
    const auto& kinds = PlanEditor::kinds();
    const auto kind =
        std::find_if(kinds.begin(), kinds.end(), [&](const auto& k) { return k.first == kind_name; });
    for (int attempt = 0; attempt < 24; ++attempt) {
        plan::Plan next = plan;
        PlanEditor(graph, next, random).apply(*kind);
        if (auto legal = legal_one_of({next}, graph)) plan = std::move(*legal);
    }
    return plan;
}

/// The plan with the micro-kernel's leaves without lanes, and with row-major operands.
plan::Plan by_scalars(std::string_view micro_kernel, const Graph& graph, plan::Plan plan) {
    for (plan::KernelPlan& kernel : plan.specialisations[0].kernels) {
        const plan::Nest nest = kernel.nest;
        for (const plan::Leaf* leaf : plan::leaves(nest)) {
            if (leaf->kernel->name != micro_kernel) continue;
            plan::Leaf scalar = *leaf;
            scalar.reset(kernels::parameter::kLanes);
            replace_leaf(kernel.nest, scalar);
            for (const ValueId operand : node_of(graph, *leaf).operands)
                plan.stored.erase(graph[base(graph, plan, operand)].name);
        }
    }
    return plan;
}

/// The tensors that the micro-kernel reads or writes, by their names in the plan: for `combine` the parts
/// that it reads.
std::vector<std::pair<std::string, ValueId>> accessed(const Path& path, const Graph& graph,
                                                      const plan::Plan& plan) {
    const bool reads_parts =
        path.access == "reads" && kernels::find_micro_kernel(path.micro_kernel)->combines_parts;
    const bool is_read = path.access == "reads" && !reads_parts;
    std::vector<std::pair<std::string, ValueId>> found;
    for (const plan::KernelPlan& kernel : plan.specialisations[0].kernels) {
        for (const plan::Leaf* leaf : plan::leaves(kernel.nest)) {
            if (leaf->kernel->name != path.micro_kernel) continue;
            const Node& node = node_of(graph, *leaf);
            const Definition& d = *node.definition();
            for (int t = 0; t < static_cast<int>(d.tensors.size()); ++t) {
                const Role role = d.tensors[static_cast<size_t>(t)].role;
                if (role == Role::kIndex || (role == Role::kIn) != is_read) continue;
                const ValueId value = lowering::value_of(node, t), stored = base(graph, plan, value);
                if (reads_parts) {
                    found.emplace_back(plan::parts_of(graph[value].name), value);
                } else {
                    found.emplace_back(graph[stored].name, stored);
                }
            }
        }
    }
    return found;
}

/// The plan with the tensors of a micro-kernel in another order of their axes, where one is legal: lanes may
/// have to lie beside each other, scalars need not, neither its own nor those of plain loops that read or
/// write the same.
plan::Plan reordered(const Path& path, const Graph& graph, const plan::Plan& plan) {
    for (const plan::Plan& from : {plan, by_scalars(path.micro_kernel, graph, plan),
                                   by_scalars(kernels::plain_micro_kernel().name, graph, plan)}) {
        for (const auto& [name, value] : accessed(path, graph, from)) {
            std::vector<int> order(graph[value].type.shape.size());
            std::iota(order.begin(), order.end(), 0);
            while (std::next_permutation(order.begin(), order.end())) {
                plan::Plan next = from;
                auto& tensors = next.specialisations[0].tensors;
                const auto at = tensors.find(name);
                (at == tensors.end() ? next.stored[name] : at->second.layout) = {order, {}};
                if (const auto legal = legal_one_of({next}, graph)) return *legal;
            }
        }
    }
    return plan;
}

/// Plans that together take every existing path; each takes at least one path that the earlier ones do not.
std::vector<PlannedGraph> search(std::set<Path> wanted) {
    std::vector<PlannedGraph> found;
    for (uint64_t seed = 1; seed <= kMostGraphs && !wanted.empty(); ++seed) {
        std::mt19937_64 random(seed);
        const RandomGraph graph = random_graph(seed, kLanes);
        plan::Plan plan = planner::default_plan(graph.graph, kOptions);
        plan.specialisations.erase(plan.specialisations.begin(), plan.specialisations.end() - 1);
        // One after the other, so that a path which seldom occurs does not keep the rest waiting.
        const auto turn = static_cast<ptrdiff_t>(seed % wanted.size());
        const Path goal = *std::next(wanted.begin(), turn);
        if (!kernels::find_micro_kernel(goal.micro_kernel)->combines_parts)
            plan = preferring(goal.micro_kernel, graph.graph, std::move(plan));
        if (const auto kind = kind_towards(goal); !kind.empty())
            plan = edited(kind, graph.graph, std::move(plan), random);
        if (goal.storage == "order") plan = reordered(goal, graph.graph, plan);
        for (int edits = 0; edits < 6; ++edits) {
            if (edits > 0) plan = vary(graph.graph, plan, 6, 40, random).plan;
            bool is_new = false;
            for (const Path& path : paths_of(graph.graph, plan)) is_new |= wanted.erase(path) > 0;
            if (is_new) found.push_back({graph, plan});
        }
    }
    return found;
}

std::string table(const std::map<Path, int>& reached) {
    std::vector<std::string> columns = storage_classes();
    for (const std::string& type : narrow_types()) columns.push_back(type);
    std::string text = fmt::format("{:10} {:8}", "", "");
    for (const std::string& column : columns) text += fmt::format("{:>10}", column);
    std::pair<std::string, std::string> row;
    for (const Path& head : all_paths()) {
        if (std::pair(head.micro_kernel, head.access) == row) continue;
        row = {head.micro_kernel, head.access};
        text += fmt::format("\n{:10} {:8}", head.micro_kernel, head.access);
        for (const std::string& column : columns) {
            const Path path{head.micro_kernel, head.access, column};
            const auto at = reached.find(path);
            text += fmt::format("{:>10}", at != reached.end()            ? std::to_string(at->second)
                                          : why_impossible(path).empty() ? "MISSED"
                                                                         : "-");
        }
    }
    return text + "\n";
}

/// Legal, but nothing here comes to it: where a matrix unit multiplies, no random graph has a result of three
/// axes, the last of which is in lanes.
bool is_out_of_reach(const Path& path) {
    return (path.micro_kernel == "contract_block_tiles" || path.micro_kernel == "stream_tiles") &&
           path.access == "writes" && path.storage == "order";
}

TEST(Paths, EachIsTakenAndComputesWhatTheInterpreterDoes) {
    std::set<Path> possible;
    for (const Path& path : all_paths()) {
        if (why_impossible(path).empty() && !is_out_of_reach(path)) possible.insert(path);
    }
    const std::vector<PlannedGraph> runs = search(possible);
    CompiledPlans compiled(kLanes);
    for (const PlannedGraph& run : runs) compiled.add(run.graph.graph, run.plan);
    compiled.compile();

    std::map<Path, int> reached;
    for (size_t r = 0; r < runs.size(); ++r) {
        for (const int64_t tokens : {1, 7, 23}) {
            const GraphCall call = runs[r].graph.call(tokens);
            const Difference worst =
                difference(compiled.run(r, call), interpret_graph(runs[r].graph.graph, call));
            ASSERT_LE(worst.relative, kTolerance) << "T = " << tokens << ": " << worst.where << "\n"
                                                  << print(runs[r].graph.graph) << plan::print(runs[r].plan);
        }
        for (const Path& path : paths_of(runs[r].graph.graph, runs[r].plan)) ++reached[path];
    }
    fmt::print("{} plans; in how many of them a micro-kernel reads or writes what lies so:\n{}", runs.size(),
               table(reached));
    for (const Path& path : possible) EXPECT_TRUE(reached.contains(path)) << ::testing::PrintToString(path);
    for (const auto& [path, count] : reached)
        EXPECT_EQ(why_impossible(path), "") << ::testing::PrintToString(path);
}

}  // namespace
}  // namespace tessera::testing
