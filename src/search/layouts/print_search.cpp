#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "search/layouts/choose_layouts.h"
#include "search/layouts/components.h"
#include "search/layouts/form_text.h"

namespace tessera::layouts {

using egraph::ClassId;

std::string summary(const Search& search) {
    return fmt::format("{} e-nodes, {}, {}", search.saturation.nodes, name(search.saturation.stop),
                       name(search.result.status));
}

std::string cut_short(const Search& search) {
    if (search.saturation.stop != egraph::StopReason::kSaturated)
        return fmt::format("stopped at {} e-nodes, the {}", search.saturation.nodes,
                           name(search.saturation.stop));
    return search.result.status == extraction::Status::kOptimal ? "" : "not proved to be the cheapest";
}

std::string print(const Search& search) {
    const egraph::EGraph& graph = search.graph.egraph;
    std::string text = fmt::format(
        "{} e-nodes in {} classes, {} iterations: {}\n{:.3f} us, bound {:.3f} us, {} conflicts: {}\n",
        search.saturation.nodes, search.saturation.classes, search.saturation.iterations,
        name(search.saturation.stop), search.result.cost * 1e6, search.result.bound * 1e6,
        search.result.conflicts, name(search.result.status));
    for (const egraph::RuleReport& rule : search.saturation.rules)
        text += fmt::format("  {}: {} matches, {} new\n", rule.name, rule.matches, rule.unions);
    struct Form {
        size_t node;
        bool is_chosen;
    };
    const std::map<ClassId, ClassId> values = values_of_classes(graph);
    std::map<ClassId, std::vector<Form>> forms;
    for (size_t i = 0; i < search.problem.nodes.size(); ++i) {
        const auto e_class = static_cast<size_t>(search.problem.problem.nodes[i].e_class);
        forms[values.at(graph.find(search.problem.nodes[i]))].push_back(
            {i, search.result.choice[e_class] == static_cast<int>(i)});
    }
    std::vector<std::vector<Form>> sorted;
    for (auto& [value, all] : forms) {
        std::stable_sort(all.begin(), all.end(), [&](const Form& a, const Form& b) {
            return a.is_chosen != b.is_chosen ? a.is_chosen
                                              : search.costs[a.node].seconds < search.costs[b.node].seconds;
        });
        if (all.size() > 1) sorted.push_back(std::move(all));
    }
    std::stable_sort(sorted.begin(), sorted.end(), [&](const auto& a, const auto& b) {
        return search.costs[a.front().node].seconds > search.costs[b.front().node].seconds;
    });
    for (const std::vector<Form>& all : sorted) {
        text += '\n';
        for (const Form& form : all)
            text += fmt::format("{} {:12.3f} us  {}  by {}\n", form.is_chosen ? "*" : " ",
                                search.costs[form.node].seconds * 1e6,
                                form_text(graph, search.problem.nodes[form.node]),
                                search.costs[form.node].by.empty() ? "nothing" : search.costs[form.node].by);
    }
    if (!search.impossible.empty()) text += "\nimpossible:\n";
    for (const auto& [term, cost] : search.impossible)
        text += fmt::format("  {}: {}\n", form_text(graph, term), cost.why_infinite);
    return text;
}

}  // namespace tessera::layouts
