#include "search/planner/loads.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <variant>

#include "support/error.h"

namespace tessera::planner {
namespace {

using plan::CopyReader;
using plan::Load;
using plan::NestWithLoads;
using plan::StatedKernel;
using plan::StatedWithLoads;

/// Calls `act` with each load and the names of the operators behind it in its braces.
template <typename Act>
void for_each_load(const NestWithLoads& nest, const Act& act) {
    for (auto item = nest.items.begin(); item != nest.items.end(); ++item) {
        if (const auto* inner = std::get_if<NestWithLoads>(&*item)) for_each_load(*inner, act);
        const auto* load = std::get_if<Load>(&*item);
        if (!load) continue;
        std::vector<std::string> behind;
        NestWithLoads{.loops = {}, .items = {std::next(item), nest.items.end()}}.for_each_operator(
            [&](const plan::Leaf& leaf) { behind.push_back(leaf.node); });
        act(*load, behind);
    }
}

std::vector<StatedKernel> each_nest(std::span<const StatedWithLoads> stated,
                                    plan::Nest (*change)(const NestWithLoads&)) {
    std::vector<StatedKernel> kernels;
    for (const StatedWithLoads& each : stated)
        kernels.push_back({each.where, each.specialisation, change(each.nest)});
    return kernels;
}

const Node* find_node(const Graph& graph, const std::string& name) {
    for (const Block& block : graph.blocks)
        if (const Node* node = block.find(name)) return node;
    return nullptr;
}

std::vector<CopyReader> readers_of(const Graph& graph, const std::string& where, const Load& load,
                                   const std::vector<std::string>& behind) {
    const auto value = graph.find(load.of);
    if (!value)
        throw Error(where, load.of, "is loaded, but is no value of this model",
                    "the plan of an artefact names them: `tessera inspect OUT.tsr --plan`");
    std::vector<CopyReader> readers;
    for (const std::string& reader : behind) {
        const Node* node = find_node(graph, reader);
        for (size_t i = 0; node && i < node->operands.size(); ++i)
            if (node->operands[i] == *value)
                readers.push_back({node->name, node->definition()->tensors[i].name});
    }
    if (readers.empty())
        throw Error(where, load.of, "is loaded, but nothing behind it in its braces reads it",
                    "load it in front of its reader");
    return readers;
}

/// Readers have one operand each: the other copy is not read by these.
void drop_readers(plan::Plan& plan, const std::vector<CopyReader>& readers) {
    for (auto copy = plan.copies.begin(); copy != plan.copies.end();) {
        std::vector<CopyReader>& others = copy->second.readers;
        const size_t before = others.size();
        std::erase_if(others, [&](const CopyReader& other) {
            return std::ranges::find(readers, other) != readers.end();
        });
        if (others.empty() && before > 0 && !copy->second.is_made) {
            for (plan::SpecialisationPlan& each : plan.specialisations) each.tensors.erase(copy->first);
            copy = plan.copies.erase(copy);
        } else {
            ++copy;
        }
    }
}

}  // namespace

std::vector<StatedKernel> without_loads(std::span<const StatedWithLoads> stated) {
    return each_nest(stated, plan::without_loads);
}

std::vector<StatedKernel> with_copies(std::span<const StatedWithLoads> stated) {
    return each_nest(stated, plan::with_copies);
}

plan::Plan with_loads(const Graph& graph, plan::Plan plan, std::span<const StatedWithLoads> stated) {
    for (const StatedWithLoads& kernel : stated)
        for_each_load(kernel.nest, [&](const Load& load, const std::vector<std::string>& behind) {
            plan::CopyPlan copy{.of = load.of, .readers = readers_of(graph, kernel.where, load, behind)};
            drop_readers(plan, copy.readers);
            plan.copies[load.copy] = std::move(copy);
            for (plan::SpecialisationPlan& each : plan.specialisations)
                if (kernel.specialisation.empty() || kernel.specialisation == each.name)
                    each.tensors[load.copy] = {.place = plan::Place::kArena, .layout = load.layout};
        });
    return plan;
}

}  // namespace tessera::planner
