#include "planner/loads.h"

#include <algorithm>
#include <variant>

#include "support/error.h"

namespace tessera::planner {
namespace {

using plan::CopyReader;
using plan::Load;
using plan::Nest;
using plan::StatedKernel;

bool is_load(const plan::Leaf& leaf, const std::vector<Load>& loads) {
    return std::ranges::any_of(loads, [&](const Load& load) { return load.node() == leaf.node; });
}

Nest without(Nest nest, const std::vector<Load>& loads) {
    std::erase_if(nest.items, [&](const auto& child) {
        const auto* leaf = std::get_if<plan::Leaf>(&child);
        return leaf && is_load(*leaf, loads);
    });
    for (auto& child : nest.items)
        if (auto* inner = std::get_if<Nest>(&child)) *inner = without(std::move(*inner), loads);
    return nest;
}

using Leaves = std::vector<const plan::Leaf*>;

void append(Leaves& leaves, const std::variant<plan::Leaf, Nest>& item) {
    if (const auto* leaf = std::get_if<plan::Leaf>(&item))
        leaves.push_back(leaf);
    else
        for (const plan::Leaf* inner : plan::leaves(std::get<Nest>(item))) leaves.push_back(inner);
}

/// The operators behind the load in its braces; none if it is not in the nest.
Leaves behind(const Nest& nest, const Load& load) {
    Leaves found;
    for (size_t i = 0; i < nest.items.size() && found.empty(); ++i) {
        if (const auto* inner = std::get_if<Nest>(&nest.items[i]))
            found = behind(*inner, load);
        else if (std::get<plan::Leaf>(nest.items[i]).node == load.node())
            for (size_t j = i + 1; j < nest.items.size(); ++j) append(found, nest.items[j]);
    }
    return found;
}

const Node* find_node(const Graph& graph, const std::string& name) {
    for (const Block& block : graph.blocks)
        if (const Node* node = block.find(name)) return node;
    return nullptr;
}

std::vector<CopyReader> readers_of(const Graph& graph, const StatedKernel& kernel, const Load& load) {
    const auto value = graph.find(load.of);
    if (!value)
        throw Error(kernel.where, load.of, "is loaded, but is no value of this model",
                    "the plan of an artefact names them: `tessera inspect OUT.tsr --plan`");
    std::vector<CopyReader> readers;
    for (const plan::Leaf* leaf : behind(kernel.nest, load)) {
        const Node* node = find_node(graph, leaf->node);
        for (size_t i = 0; node && i < node->operands.size(); ++i)
            if (node->operands[i] == *value)
                readers.push_back({node->name, node->definition()->tensors[i].name});
    }
    if (readers.empty())
        throw Error(kernel.where, load.of, "is loaded, but nothing behind it in its braces reads it",
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

std::vector<StatedKernel> without_loads(std::vector<StatedKernel> stated) {
    for (StatedKernel& kernel : stated) {
        kernel.nest = without(std::move(kernel.nest), kernel.loads);
        kernel.loads.clear();
    }
    return stated;
}

plan::Plan with_loads(const Graph& graph, plan::Plan plan, const std::vector<StatedKernel>& stated) {
    for (const StatedKernel& kernel : stated) {
        for (const Load& load : kernel.loads) {
            plan::CopyPlan copy{.of = load.of, .readers = readers_of(graph, kernel, load)};
            drop_readers(plan, copy.readers);
            plan.copies[load.copy] = std::move(copy);
            for (plan::SpecialisationPlan& each : plan.specialisations)
                if (kernel.specialisation.empty() || kernel.specialisation == each.name)
                    each.tensors[load.copy] = {.place = plan::Place::kArena, .layout = load.layout};
        }
    }
    return plan;
}

}  // namespace tessera::planner
