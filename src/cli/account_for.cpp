#include <algorithm>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "cli/layout_account.h"
#include "ir/graph_text.h"
#include "lowering/kernels/micro_kernels.h"
#include "lowering/plan/constants.h"
#include "support/error.h"
#include "support/near_names.h"

namespace tessera::cli {
namespace {

ValueId find_tensor(const Graph& graph, const plan::Plan& plan, const std::string& name,
                    const std::string& where) {
    if (const auto value = graph.find(name)) return *value;
    if (const auto copy = plan.copies.find(name); copy != plan.copies.end())
        return *graph.find(copy->second.of);
    std::vector<std::string> known;
    for (const Value& value : graph.values) known.push_back(value.name);
    for (const auto& [copy, of] : plan.copies) known.push_back(copy);
    const std::vector<std::string> near = near_names(name, known);
    throw Error(where, name, "is no tensor of the graph",
                near.empty() ? "`tessera inspect OUT.tsr --graph` shows them"
                             : fmt::format("did you mean {}?", fmt::join(near, " or ")));
}

std::string why_left_alone(const compiler::LayoutSearch& again, const layouts::ValueForms& value) {
    if (value.at && value.made_by.empty()) return "the block is given it so";
    return layouts::why_left_alone(again.search.graph.egraph, value.original);
}

/// The layout in which an operator makes the value: that of the copy that `is_made`, if there is one.
std::optional<Layout> layout_in(const plan::Plan& plan, const layouts::ValueForms& value) {
    const std::string& tensor = value.tensors.front();
    if (!value.at) return plan::stored_layout(plan, tensor);
    if (value.made_by.empty() || value.at->specialisation >= plan.specialisations.size()) return std::nullopt;
    std::string made = tensor;
    for (const auto& [name, copy] : plan.copies)
        if (copy.of == tensor && copy.is_made) made = name;
    const auto& tensors = plan.specialisations[value.at->specialisation].tensors;
    const auto found = tensors.find(made);
    if (found == tensors.end() || found->second.place != plan::Place::kArena) return std::nullopt;
    return found->second.layout;
}

}  // namespace

TensorAccounts account_for(const runtime::Artefact& artefact, const compiler::LayoutSearch& again,
                           const std::string& tensor) {
    const plan::Plan plan = plan::parse_plan(artefact.plan(), artefact.where(), kernels::micro_kernels());
    const Value& found = again.graph[find_tensor(again.graph, plan, tensor, artefact.where())];
    TensorAccounts all{.tensor = found.name,
                       .description = fmt::format("{} {}", tessera::name(found.kind), print(found.type)),
                       .accounts = {}};
    const auto values = layouts::forms_of_values(again.graph, again.initial, again.search);
    for (const layouts::ValueForms& value : values) {
        if (std::ranges::find(value.tensors, found.name) == value.tensors.end()) continue;
        TensorAccount account{.value = value,
                              .in_artefact = layout_in(plan, value),
                              .left_alone = why_left_alone(again, value),
                              .account = {}};
        account.account = layouts::account_of(again.search, values, value, again.options);
        all.accounts.push_back(std::move(account));
    }
    return all;
}

}  // namespace tessera::cli
