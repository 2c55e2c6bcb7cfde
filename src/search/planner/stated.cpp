#include "search/planner/stated.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "lowering/numbered_nest.h"
#include "search/schedule/operator_order.h"
#include "search/schedule/solve_tiles.h"
#include "support/error.h"

namespace tessera::planner {
namespace {

using lowering::NumberedNest;
using plan::StatedKernel;

const Node* find_node(const Block& block, const std::string& name) {
    const auto at = std::ranges::find(block.nodes, name, &Node::name);
    return at == block.nodes.end() ? nullptr : &*at;
}

/// With every open tile as large as its loop.
NumberedNest with_whole_tiles(NumberedNest nest) {
    for (NumberedNest::Loop& loop : nest.loops)
        if (loop.tile == plan::kOpenTile) loop.tile = std::numeric_limits<int64_t>::max();
    for (auto& item : nest.items)
        if (auto* inner = std::get_if<NumberedNest>(&item)) *inner = with_whole_tiles(std::move(*inner));
    return nest;
}

void check_loops(const Block& block, const plan::Nest& nest, const StatedKernel& kernel) {
    const Definition& root = *find_node(block, nest.root().node)->definition();
    for (const plan::LoopTile& loop : nest.loops)
        if (root.iterator(loop.iterator) < 0)
            throw Error(kernel.where, loop.iterator,
                        fmt::format("is no iterator of {}, the nest's last operator", nest.root().node));
    for (const auto& child : nest.items)
        if (const auto* inner = std::get_if<plan::Nest>(&child)) check_loops(block, *inner, kernel);
}

void check_block(const Block& block, const StatedKernel& kernel) {
    for (const plan::Leaf* leaf : plan::leaves(kernel.nest)) {
        const Node* node = find_node(block, leaf->node);
        if (!node)
            throw Error(kernel.where, leaf->node,
                        fmt::format("is no operator of block {}, to which {} belongs", block.name,
                                    kernel.nest.root().node));
        if (leaf->kernel != &plan::open_micro_kernel()) plan::check_parameters(*node->definition(), *leaf);
    }
    check_loops(block, kernel.nest, kernel);
}

/// Why no order of execution has the kernel: another one reads of it, and is read by it.
std::optional<lowering::Refusal> why_out_of_order(const schedule::BlockContext& block,
                                                  const NumberedNest& nest, const StatedKernel& kernel) {
    const schedule::OperatorOrder order(block);
    const auto name = [&](int op) { return block.links.operators[static_cast<size_t>(op)].node->name; };
    std::vector<schedule::Region> kernels;
    for (const NumberedNest& each : block.stated) kernels.push_back(schedule::region_of(each));
    for (int op = 0; op < static_cast<int>(order.size()); ++op)
        if (std::ranges::none_of(kernels, [&](const auto& each) { return schedule::contains(each, op); }))
            kernels.push_back({op});
    if (order.sorted(kernels)) return std::nullopt;
    const schedule::Region own = schedule::region_of(nest);
    for (const int op : own)
        for (const schedule::Region& other : kernels)
            for (const int reader : other)
                if (other != own && order.reaches(op, reader) && order.reaches(other, own))
                    return lowering::Refusal{
                        kernel.where, name(op),
                        fmt::format("is read by {}, whose kernel runs before {}", name(reader),
                                    name(nest.root())),
                        fmt::format("fuse {} too, or leave {} out", name(reader), name(op))};
    return lowering::Refusal{kernel.where, name(nest.root()),
                             "is in one of several stated kernels that wait for each other",
                             "state smaller ones"};
}

}  // namespace

void check_stated(const Graph& graph, const plan::Plan& plan, const std::vector<StatedKernel>& stated) {
    std::map<std::string, std::string> places;  // of operators, by specialisation
    for (const StatedKernel& kernel : stated) {
        if (!kernel.specialisation.empty() &&
            std::ranges::none_of(plan.specialisations,
                                 [&](const auto& each) { return each.name == kernel.specialisation; }))
            throw Error(kernel.where, kernel.specialisation, "is no specialisation of this model",
                        "the plan of an artefact names them: `tessera inspect OUT.tsr --plan`");
        const auto block = std::ranges::find_if(graph.blocks, [&](const Block& each) {
            return find_node(each, kernel.nest.root().node) != nullptr;
        });
        if (block == graph.blocks.end())
            throw Error(kernel.where, kernel.nest.root().node, "is no operator of this model",
                        "the plan of an artefact names them: `tessera inspect OUT.tsr --plan`");
        check_block(*block, kernel);
        for (const plan::SpecialisationPlan& each : plan.specialisations) {
            if (!kernel.specialisation.empty() && kernel.specialisation != each.name) continue;
            for (const plan::Leaf* leaf : plan::leaves(kernel.nest))
                if (const auto [at, is_new] = places.emplace(each.name + " " + leaf->node, kernel.where);
                    !is_new)
                    throw Error(kernel.where, leaf->node,
                                fmt::format("is in another kernel for {} too, at {}", each.name, at->second));
        }
    }
}

std::string_view name(StatedRefusal::Kind kind) {
    switch (kind) {
        case StatedRefusal::Kind::kForm:
            return "form";
        case StatedRefusal::Kind::kTiles:
            return "tiles";
        case StatedRefusal::Kind::kLowering:
            break;
    }
    return "lowering";
}

std::variant<std::vector<schedule::SolvedKernel>, StatedRefusal> solve_stated(
    std::span<const StatedKernel> stated, const std::string& specialisation, schedule::BlockContext& block) {
    std::vector<const StatedKernel*> here;
    for (const StatedKernel& kernel : stated) {
        if (!kernel.specialisation.empty() && kernel.specialisation != specialisation) continue;
        const auto all = plan::leaves(kernel.nest);
        const auto is_missing = [&](const plan::Leaf* leaf) { return block.links.find(leaf->node) < 0; };
        if (std::ranges::all_of(all, is_missing)) continue;
        if (const auto view = std::ranges::find_if(all, is_missing); view != all.end())
            return StatedRefusal{
                StatedRefusal::Kind::kForm,
                {kernel.where, (*view)->node, "is a view of its operand, which nothing computes",
                 "leave it out of the nest"}};
        for (const plan::Leaf* leaf : all) {
            const int op = block.links.find(leaf->node);
            block.is_alone[static_cast<size_t>(op)] = true;
            if (leaf->kernel != &plan::open_micro_kernel())
                block.leaves[static_cast<size_t>(op)] = {block.evaluator.number_of(op, *leaf)};
        }
        here.push_back(&kernel);
        block.stated.push_back(lowering::numbered(block.links, kernel.nest));
    }
    std::vector<schedule::SolvedKernel> all;
    for (size_t i = 0; i < here.size(); ++i) {
        const NumberedNest& nest = block.stated[i];
        if (auto why = why_out_of_order(block, nest, *here[i]))
            return StatedRefusal{StatedRefusal::Kind::kForm, *std::move(why)};
        const std::vector<bool> is_tile = schedule::tiles_of(block, nest);
        if (const auto why = lowering::why_illegal(block.links, with_whole_tiles(nest), is_tile))
            return StatedRefusal{StatedRefusal::Kind::kTiles, {here[i]->where, "nest", why->text(), {}}};
        int64_t work = 0;
        auto solved = schedule::solve_tiles(block, nest, {}, work);
        if (!solved)
            return StatedRefusal{
                StatedRefusal::Kind::kLowering,
                {here[i]->where, "nest",
                 fmt::format("lowers under no choice of its open tiles and micro-kernels in {}",
                             specialisation),
                 "leave more of them open"}};
        all.push_back(*std::move(solved));
    }
    return all;
}

std::optional<lowering::Refusal> fix_stated(const std::vector<StatedKernel>& stated,
                                            const std::string& specialisation,
                                            schedule::BlockContext& block) {
    auto solved = solve_stated(stated, specialisation, block);
    if (auto* refusal = std::get_if<StatedRefusal>(&solved)) return std::move(refusal->why);
    return std::nullopt;
}

}  // namespace tessera::planner
