// The e-graph's explanations are of equal terms, and a value in two layouts is two classes: a form in another
// layout than the graph's is explained from the copy of the original into that layout.
#include "search/layouts/derivation.h"

#include <fmt/core.h>

#include "search/egraph/explain.h"
#include "search/layouts/components.h"
#include "search/rules/vectorize/pack.h"

namespace tessera::layouts {
namespace {

using egraph::TermId;

/// A form takes a rule or two; further steps of a proof of congruence explain nothing.
constexpr size_t kMostSteps = 16;

}  // namespace

Derivations::Derivations(const Search& search, const std::vector<ValueForms>& values)
    : search_(search), values_(values_of_classes(search.graph.egraph)) {
    for (const ValueForms& value : values) names_.emplace(value.value, value.tensors.front());
}

TermId Derivations::begin_of(const ValueForms& value, TermId form) const {
    const egraph::EGraph& graph = search_.graph.egraph;
    if (graph.are_equal(value.original, form)) return value.original;
    for (const TermId node : graph.nodes(graph.find(form)))
        if (rules::is_pack(graph.op(node)) &&
            graph.are_equal(graph.term(node).children.front(), value.original))
            return node;
    return form;
}

std::vector<DerivationStep> Derivations::of(const ValueForms& value, TermId form) const {
    std::vector<DerivationStep> steps;
    for (const egraph::Step& step :
         explain(search_.graph.egraph, begin_of(value, form), form, kMostSteps).steps)
        steps.push_back({.rule = step.rule,
                         .is_forward = step.is_forward,
                         .before = text(step.before),
                         .after = text(step.after)});
    return steps;
}

std::string Derivations::text(TermId term) const {
    const egraph::EGraph& graph = search_.graph.egraph;
    std::string text = label(graph.op(term));
    const std::vector<TermId>& children = graph.term(term).children;
    const bool is_pack = rules::is_pack(graph.op(term));
    for (size_t i = 0; i < children.size(); ++i) {
        // The operand of a copy is shown; terms are as deep as the model, so any other term stops at the next
        // value.
        const auto name = names_.find(values_.at(graph.find(children[i])));
        const std::string operand =
            is_pack && !graph.term(children[i]).children.empty()
                ? this->text(children[i])
                : fmt::format("{}: {}", name == names_.end() ? label(graph.op(children[i])) : name->second,
                              print(graph.facts(children[i]).types.front().layout));
        text += (i == 0 ? "(" : ", ") + operand;
    }
    return fmt::format("{}{} -> {}", text, children.empty() ? "" : ")",
                       print(graph.op(term).results.front().layout));
}

}  // namespace tessera::layouts
