#include "search/layouts/value_forms.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "search/layouts/components.h"

namespace tessera::layouts {
namespace {

using egraph::ClassId;
using egraph::TermId;

/// A value's place in the list: constants first; then specialisation, block, leaf or operator, which of them.
using Position = std::tuple<size_t, size_t, int, int>;

class Listing {
public:
    Listing(const Graph& graph, const plan::Plan& initial, const Search& search)
        : graph_(graph),
          initial_(initial),
          search_(search),
          values_(values_of_classes(search.graph.egraph)) {}

    std::vector<ValueForms> run() {
        for (const auto& [value, term] : search_.graph.constants)
            name(term, {0, 0, 0, value.index}, graph_[value].name, {}, "");
        add_leaves();
        for (size_t s = 0; s < search_.graph.values.size(); ++s)
            for (size_t b = 0; b < graph_.blocks.size(); ++b) add_operators({s, b});
        add_forms();
        std::vector<std::pair<Position, ValueForms>> sorted;
        for (auto& [value, found] : found_)
            if (!found.second.forms.empty()) sorted.push_back(std::move(found));
        std::sort(sorted.begin(), sorted.end(),
                  [](const auto& a, const auto& b) { return a.first < b.first; });
        std::vector<ValueForms> list;
        for (auto& each : sorted) list.push_back(std::move(each.second));
        return list;
    }

private:
    ClassId value_of(TermId term) const { return values_.at(search_.graph.egraph.find(term)); }

    void name(TermId term, Position position, const std::string& tensor, std::optional<Instance> at,
              const std::string& made_by) {
        const ClassId value = value_of(term);
        auto& [where, known] = found_[value];
        if (known.tensors.empty()) {
            where = position;
            known.value = value;
            known.at = at;
            known.made_by = made_by;
            known.original = term;
        }
        known.tensors.push_back(tensor);
    }

    void add_leaves() {
        const egraph::EGraph& egraph = search_.graph.egraph;
        for (const ClassId e_class : egraph.classes())
            for (const TermId term : egraph.nodes(e_class)) {
                const auto leaf = search_.graph.leaves.find(egraph.term(term).op);
                if (leaf == search_.graph.leaves.end()) continue;
                const Instance at = leaf->second;
                const size_t prefix = initial_.specialisations[at.specialisation].name.size() +
                                      graph_.blocks[at.block].name.size() + 2;
                const std::string tensor = std::get<egraph::Leaf>(egraph.op(term).what).name.substr(prefix);
                if (const auto value = graph_.find(tensor))
                    name(term, {1 + at.specialisation, at.block, 0, value->index}, tensor, at, "");
            }
    }

    void add_operators(const Instance& at) {
        int number = 0;
        for (const Node& node : graph_.blocks[at.block].nodes)
            for (const ValueId result : node.results)
                name(search_.graph.values[at.specialisation].at(result),
                     {1 + at.specialisation, at.block, 1, number++}, graph_[result].name, at, node.name);
    }

    void add_forms() {
        const egraph::ExtractionProblem& problem = search_.problem;
        for (size_t i = 0; i < problem.nodes.size(); ++i) {
            const auto e_class = static_cast<size_t>(problem.problem.nodes[i].e_class);
            const auto node = static_cast<int>(i);
            add({problem.nodes[i], node, search_.result.choice[e_class] == node, search_.costs[i]});
        }
        for (const auto& [term, cost] : search_.impossible)
            add({.term = term, .node = -1, .is_chosen = false, .cost = cost});
        const auto rank = [](const ValueForm& form) {
            return std::tuple(form.node < 0, !form.is_chosen, form.cost.seconds);
        };
        for (auto& [value, found] : found_)
            std::stable_sort(found.second.forms.begin(), found.second.forms.end(),
                             [&](const ValueForm& a, const ValueForm& b) { return rank(a) < rank(b); });
    }

    void add(ValueForm form) {
        // The parts of a node with several results, and what stands for one that is left alone, have no name.
        if (const auto found = found_.find(value_of(form.term)); found != found_.end())
            found->second.second.forms.push_back(std::move(form));
    }

    const Graph& graph_;
    const plan::Plan& initial_;
    const Search& search_;
    const std::map<ClassId, ClassId> values_;
    std::map<ClassId, std::pair<Position, ValueForms>> found_;
};

}  // namespace

std::vector<ValueForms> forms_of_values(const Graph& graph, const plan::Plan& initial, const Search& search) {
    return Listing(graph, initial, search).run();
}

}  // namespace tessera::layouts
