#include "search/egraph/matcher.h"

#include <algorithm>
#include <utility>

#include "support/error.h"

namespace tessera::egraph {
namespace {

/// True if the operator's attributes match the pattern under the present bindings; binds the rest.
bool bind(const Pattern& pattern, const Attributes& attributes, Attributes& bound) {
    for (const auto& [name, wanted] : pattern.attributes) {
        const auto value = attributes.find(name);
        if (value == attributes.end()) return false;
        if (const auto* literal = std::get_if<Attribute>(&wanted)) {
            if (*literal != value->second) return false;
            continue;
        }
        TESSERA_CHECK(std::holds_alternative<Bound>(wanted), "{} of {} is computed where it is matched", name,
                      pattern.family->name);
        const auto [known, is_new] = bound.try_emplace(std::get<Bound>(wanted).name, value->second);
        if (!is_new && known->second != value->second) return false;
    }
    return true;
}

}  // namespace

void Matcher::refresh() {
    nodes_by_operator_.assign(graph_.operators(), {});
    for (const ClassId e_class : graph_.classes())
        for (const TermId node : graph_.nodes(e_class))
            nodes_by_operator_[static_cast<size_t>(graph_.term(node).op.index)].push_back(node);
}

const std::optional<Attributes>& Matcher::recognised(const OperatorFamily& family, OperatorId op) {
    std::vector<std::optional<Attributes>>& known = recognised_[&family];
    for (size_t next = known.size(); next <= static_cast<size_t>(op.index); ++next)
        known.push_back(family.recognise(graph_.op(OperatorId{static_cast<int>(next)})));
    return known[static_cast<size_t>(op.index)];
}

std::vector<TermId> Matcher::candidates(const Pattern& pattern) {
    std::vector<TermId> result;
    if (!pattern.family) {
        for (const ClassId e_class : graph_.classes()) result.push_back(EGraph::any_term(e_class));
        return result;
    }
    for (size_t i = 0; i < nodes_by_operator_.size(); ++i)
        if (!nodes_by_operator_[i].empty() && recognised(*pattern.family, {static_cast<int>(i)}))
            result.insert(result.end(), nodes_by_operator_[i].begin(), nodes_by_operator_[i].end());
    std::sort(result.begin(), result.end(), [&](TermId a, TermId b) {
        return std::pair(graph_.find(a), a) < std::pair(graph_.find(b), b);
    });
    return result;
}

std::vector<Match> Matcher::find(const Pattern& pattern, size_t most) {
    most_ = most;
    for (const TermId term : candidates(pattern)) {
        if (!has_room()) break;
        const Match match{
            .root = graph_.find(term), .holes = {}, .lists = {}, .attributes = {}, .operators = {}};
        if (pattern.family)
            solve_node(pattern, term, {}, match);
        else
            solve({{&pattern, term}}, match);
    }
    return std::exchange(found_, {});
}

/// Goals are met from the last one on, so that each operator is noted before its children.
void Matcher::solve(std::vector<Goal> goals, Match match) {
    while (!goals.empty()) {
        const auto [pattern, term] = goals.back();
        goals.pop_back();
        const ClassId e_class = graph_.find(term);
        if (pattern->family) {
            for (const TermId node : graph_.nodes(e_class)) solve_node(*pattern, node, goals, match);
            return;
        }
        if (pattern->accepts && !pattern->accepts(graph_.facts(e_class))) return;
        const auto [known, is_new] = match.holes.try_emplace(pattern->hole, EGraph::any_term(e_class));
        if (!is_new && graph_.find(known->second) != e_class) return;
    }
    found_.push_back(std::move(match));
}

void Matcher::solve_node(const Pattern& pattern, TermId node, const std::vector<Goal>& rest, Match match) {
    if (!has_room()) return;
    const Term& term = graph_.term(node);
    const bool takes_all = !pattern.all_children.empty();
    if (!takes_all && term.children.size() != pattern.children.size()) return;
    const std::optional<Attributes>& attributes = recognised(*pattern.family, term.op);
    if (!attributes || !bind(pattern, *attributes, match.attributes)) return;
    match.operators.push_back(term.op);
    std::vector<Goal> goals = rest;
    if (takes_all) {
        std::vector<TermId> children;
        for (const TermId child : term.children) children.push_back(EGraph::any_term(graph_.find(child)));
        const auto [known, is_new] = match.lists.try_emplace(pattern.all_children, children);
        if (!is_new && known->second != children) return;
    }
    for (size_t i = pattern.children.size(); i-- > 0;)
        goals.push_back({&pattern.children[i], term.children[i]});
    solve(std::move(goals), std::move(match));
}

}  // namespace tessera::egraph
