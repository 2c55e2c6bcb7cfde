#include <algorithm>
#include <limits>
#include <map>

#include <fmt/core.h>

#include "ir/graph_text.h"
#include "lowering/plan/constants.h"
#include "search/layouts/choose_layouts.h"
#include "search/layouts/components.h"
#include "search/rules/vectorize/pack.h"
#include "support/error.h"

namespace tessera::layouts {
namespace {

using egraph::ClassId;
using egraph::EGraph;
using egraph::TermId;

/// Tie-break between forms of a constant that cost the same, in favour of the layout in the initial plan.
constexpr double kOtherForm = 1e-13;

class LayoutSearch {
public:
    LayoutSearch(const Graph& graph, const plan::Plan& initial, const SearchOptions& options)
        : graph_(graph), initial_(initial), options_(options) {}

    Search run() {
        search_.graph = search_graph(graph_, initial_, options_.fused);
        const auto rules = rules::pack_rules(
            {.units = options_.units, .symbols = graph_.symbols, .more_forms = options_.more_forms});
        search_.saturation = egraph::saturate(search_.graph.egraph, rules, options_.saturation);
        values_ = values_of_classes(search_.graph.egraph);
        for (const auto& [value, term] : search_.graph.constants)
            constants_.emplace(values_.at(egraph().find(term)), term);
        find_instances();
        search_.problem = egraph::extraction_problem(egraph(), search_.graph.roots,
                                                     [&](TermId term) { return seconds(term); });
        for (const TermId node : search_.problem.nodes) search_.costs.push_back(known_.at(node));
        release_constants();
        allow_one_each();
        search_.result = extraction::extract(search_.problem.problem, options_.extraction);
        if (search_.result.choice.empty()) search_.why_none = why_none();
        return std::move(search_);
    }

private:
    const EGraph& egraph() const { return search_.graph.egraph; }
    Operand operand_of(TermId term) const {
        const egraph::ClassFacts& facts = egraph().facts(term);
        return {facts.types.front(), facts.is_constant};
    }

    /// From the leaves upwards: every node of a class belongs to one instance.
    void find_instances() {
        bool is_news = true;
        while (std::exchange(is_news, false)) {
            for (const ClassId e_class : egraph().classes()) {
                if (instances_.contains(e_class)) continue;
                for (const TermId node : egraph().nodes(e_class)) {
                    const auto leaf = search_.graph.leaves.find(egraph().term(node).op);
                    if (leaf != search_.graph.leaves.end()) instances_.emplace(e_class, leaf->second);
                    for (const TermId child : egraph().term(node).children) {
                        const auto known = instances_.find(egraph().find(child));
                        if (known != instances_.end()) instances_.emplace(e_class, known->second);
                    }
                }
                is_news = is_news || instances_.contains(e_class);
            }
        }
    }

    double seconds(TermId term) {
        const auto [known, is_new] = known_.try_emplace(term);
        if (is_new) known->second = cost_of(term);
        if (known->second.why_infinite.empty()) return known->second.seconds;
        search_.impossible.emplace_back(term, known->second);
        return std::numeric_limits<double>::infinity();
    }

    FormCost cost_of(TermId term) {
        const egraph::Operator& op = egraph().op(term);
        const ClassId e_class = egraph().find(term);
        const auto constant = constants_.find(values_.at(e_class));
        if (constant != constants_.end()) return cost_of_stored(term, constant->second);
        if (!op.definition()) return {};
        const Instance at = instances_.at(e_class);
        std::vector<Operand> operands;
        std::string key = fmt::format("{} {}", at.specialisation, egraph().term(term).op.index);
        for (const TermId child : egraph().term(term).children) {
            operands.push_back(operand_of(child));
            key += "; " + print(operands.back().type);
        }
        const auto [form, is_new] = forms_.try_emplace(key);
        if (is_new) form->second = options_.costs[at.specialisation](op, operands);
        FormCost cost = form->second;
        if (rules::is_pack(egraph().op(term)) && !options_.copy_seconds.empty())
            cost.seconds += options_.copy_seconds[at.specialisation];
        if (!is_preferred(term)) cost.seconds *= options_.margin;
        cost.seconds *= static_cast<double>(graph_.blocks[at.block].repeat);
        return cost;
    }

    /// True if all lies as in the initial plan: constants as stored there, everything else row-major.
    bool is_preferred(TermId term) const {
        if (!egraph().op(term).results.front().layout.is_row_major()) return false;
        return std::ranges::all_of(egraph().term(term).children, [&](TermId child) {
            const Layout& layout = egraph().facts(child).types.front().layout;
            const auto constant = constants_.find(values_.at(egraph().find(child)));
            return constant == constants_.end() ? layout.is_row_major()
                                                : layout == preferred(constant->second);
        });
    }

    const Layout& preferred(TermId constant) const {
        return plan::stored_layout(initial_, std::get_if<egraph::Leaf>(&egraph().op(constant).what)->name);
    }

    /// Cost of a constant as it comes from the checkpoint, or packed before it is stored.
    FormCost cost_of_stored(TermId term, TermId leaf) const {
        const bool is_leaf = egraph().term(term).children.empty();
        if (!is_leaf && !egraph().are_equal(egraph().term(term).children.front(), leaf))
            return {.why_infinite = "constants are packed from their row-major form"};
        const bool is_stored_so = egraph().op(term).results.front().layout == preferred(leaf);
        return {.seconds = is_stored_so ? 0 : kOtherForm, .by = "stored so"};
    }

    /// Packing a constant takes no time in a step, and needs nothing there.
    void release_constants() {
        for (size_t i = 0; i < search_.problem.nodes.size(); ++i)
            if (constants_.contains(values_.at(egraph().find(search_.problem.nodes[i]))))
                search_.problem.problem.nodes[i].children.clear();
    }

    /// Every operator is computed in one form, every constant stored in one.
    void allow_one_each() {
        std::map<ClassId, std::vector<int>> makers;
        for (size_t i = 0; i < search_.problem.nodes.size(); ++i) {
            const TermId node = search_.problem.nodes[i];
            const ClassId value = values_.at(egraph().find(node));
            if (constants_.contains(value) || !rules::is_pack(egraph().op(node)))
                makers[value].push_back(static_cast<int>(i));
        }
        for (auto& [value, nodes] : makers)
            if (nodes.size() > 1) search_.problem.problem.at_most_one.push_back(std::move(nodes));
    }

    std::string why_none() const {
        std::string why = search_.result.status == extraction::Status::kInfeasible
                              ? "has an operator that nothing computes in any layout"
                              : "found no layouts within the search's budget";
        for (const auto& [term, cost] : search_.impossible)
            if (!rules::is_pack(egraph().op(term)))
                why += fmt::format("\n  {}: {}", label(egraph().op(term)), cost.why_infinite);
        return why;
    }

    const Graph& graph_;
    const plan::Plan& initial_;
    const SearchOptions& options_;
    Search search_;
    std::map<ClassId, ClassId> values_;
    std::map<ClassId, TermId> constants_;  ///< by value
    std::map<ClassId, Instance> instances_;
    std::map<TermId, FormCost> known_;
    std::map<std::string, FormCost> forms_;
};

}  // namespace

Search find_layouts(const Graph& graph, const plan::Plan& initial, const SearchOptions& options) {
    TESSERA_CHECK(options.costs.size() == initial.specialisations.size());
    return LayoutSearch(graph, initial, options).run();
}

Search search_layouts(const Graph& graph, const plan::Plan& initial, const SearchOptions& options) {
    Search found = find_layouts(graph, initial, options);
    if (!found.why_none.empty())
        throw Error(graph.name, "layouts", found.why_none, "compile with --search-effort 0");
    return found;
}

}  // namespace tessera::layouts
