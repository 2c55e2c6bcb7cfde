#include "search/egraph/rule.h"

#include <algorithm>
#include <set>
#include <utility>

#include "support/error.h"

namespace tessera::egraph {
namespace {

/// True if the types differ only in properties that definitions do not decide.
bool only_policies_differ(const std::vector<TensorType>& a, const std::vector<TensorType>& b) {
    if (a == b || a.size() != b.size()) return false;
    return std::equal(a.begin(), a.end(), b.begin(), [](TensorType x, const TensorType& y) {
        x.accumulator = y.accumulator;
        x.rounding = y.rounding;
        return x == y;
    });
}

struct Names {
    std::set<std::string> holes, attributes;
};

void collect(const Pattern& pattern, Names& names) {
    if (!pattern.family) {
        names.holes.insert(pattern.hole);
        return;
    }
    for (const auto& [name, value] : pattern.attributes)
        if (const auto* bound = std::get_if<Bound>(&value)) names.attributes.insert(bound->name);
    for (const Pattern& child : pattern.children) collect(child, names);
}

void check_makes(const std::string& rule, const Pattern& pattern, const Names& known) {
    if (!pattern.family) {
        TESSERA_CHECK(known.holes.contains(pattern.hole), "rule {}: {} is not bound", rule, pattern.hole);
        return;
    }
    TESSERA_CHECK(pattern.all_children.empty(), "rule {}: {} makes no list of children", rule,
                  pattern.family->name);
    TESSERA_CHECK(pattern.family->make, "rule {}: the family {} makes no operators", rule,
                  pattern.family->name);
    for (const auto& [name, value] : pattern.attributes)
        if (const auto* bound = std::get_if<Bound>(&value))
            TESSERA_CHECK(known.attributes.contains(bound->name), "rule {}: {} is not bound", rule,
                          bound->name);
    for (const Pattern& child : pattern.children) check_makes(rule, child, known);
}

std::optional<TermId> make(EGraph& graph, const Pattern& pattern, const Match& match, bool is_root) {
    if (!pattern.family) {
        const TermId term = match[pattern.hole];
        if (is_root &&
            only_policies_differ(graph.facts(term).types, graph.facts(EGraph::any_term(match.root)).types))
            return std::nullopt;
        return term;
    }
    std::vector<TermId> children;
    std::vector<TensorType> types;
    for (const Pattern& part : pattern.children) {
        const auto child = make(graph, part, match, false);
        if (!child) return std::nullopt;
        children.push_back(*child);
        types.push_back(graph.facts(*child).types.front());
    }
    Attributes attributes;
    for (const auto& [name, value] : pattern.attributes) {
        if (const auto* literal = std::get_if<Attribute>(&value)) attributes[name] = *literal;
        if (const auto* bound = std::get_if<Bound>(&value))
            attributes[name] = match.attributes.at(bound->name);
        if (const auto* computed = std::get_if<Computed>(&value)) attributes[name] = (*computed)(match);
    }
    auto op = pattern.family->make(attributes, types);
    if (op && is_root) op = joining(*std::move(op), graph.facts(EGraph::any_term(match.root)));
    if (!op) return std::nullopt;
    return graph.add(*op, std::move(children));
}

TermId rebuild_match(EGraph& graph, const Pattern& pattern, const Match& match, size_t& next) {
    if (!pattern.hole.empty()) return match[pattern.hole];
    const OperatorId op = match.operators[next++];
    std::vector<TermId> children;
    if (!pattern.all_children.empty()) children = match.lists.at(pattern.all_children);
    for (const Pattern& child : pattern.children)
        children.push_back(rebuild_match(graph, child, match, next));
    return graph.add(op, std::move(children));
}

}  // namespace

Operator joining(Operator op, const ClassFacts& facts) {
    if (only_policies_differ(op.results, facts.types)) op.results = facts.types;
    return op;
}

Rule::Rule(Parts parts) : parts_(std::move(parts)) {
    TESSERA_CHECK(!parts_.name.empty());
    Names known;
    collect(parts_.from, known);
    if (const auto* to = std::get_if<Pattern>(&parts_.to)) check_makes(parts_.name, *to, known);
}

std::vector<TermId> Rule::construct(EGraph& graph, const Match& match) const {
    if (const auto* all = std::get_if<ConstructAll>(&parts_.to)) return (*all)(graph, match);
    const auto* to = std::get_if<Pattern>(&parts_.to);
    const auto made = to ? make(graph, *to, match, true) : std::get<Construct>(parts_.to)(graph, match);
    return made ? std::vector{*made} : std::vector<TermId>{};
}

TermId Rule::matched(EGraph& graph, const Match& match) const {
    size_t next = 0;
    return rebuild_match(graph, parts_.from, match, next);
}

}  // namespace tessera::egraph
