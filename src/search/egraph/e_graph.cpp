// Terms keep the children with which they were added; classes are the trees of a union-find over terms.
//
//     add f(a)   add f(b)   unite a, b:   f(a), f(b) are "dirty" parents of the class that was merged away;
//     rebuild:   the canonical forms f({a,b}) of both collide: f(a) = f(b) by congruence.
//
// A term that is added when an equal one is known becomes another name of it, connected by congruence, and no
// further e-node: explanations speak of terms as they were written.
#include "search/egraph/e_graph.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "ir/graph_text.h"
#include "support/error.h"

namespace tessera::egraph {
namespace {

void sort_and_unite(std::vector<TermId>& terms) {
    std::sort(terms.begin(), terms.end());
    terms.erase(std::unique(terms.begin(), terms.end()), terms.end());
}

std::string print_types(const std::vector<TensorType>& types) {
    std::string text;
    for (const TensorType& type : types) text += (text.empty() ? "" : ", ") + print(type);
    return text;
}

}  // namespace

size_t EGraph::TermHash::operator()(const Term& term) const {
    // FNV-1a over the numbers.
    uint64_t hash = 0xcbf29ce484222325;
    const auto mix = [&](int value) { hash = (hash ^ static_cast<uint64_t>(value)) * 0x100000001b3; };
    mix(term.op.index);
    for (const TermId child : term.children) mix(child.index);
    return hash ^ (hash >> 29);
}

OperatorId EGraph::intern(const Operator& op) {
    const OperatorId next{static_cast<int>(operators_.size())};
    const auto [known, is_new] = operator_ids_.try_emplace(key(op), next);
    if (is_new) operators_.push_back(op);
    return known->second;
}

ClassId EGraph::find(TermId term) const {
    int root = term.index;
    while (up_[static_cast<size_t>(root)] != root) root = up_[static_cast<size_t>(root)];
    for (int next = term.index; next != root;) next = std::exchange(up_[static_cast<size_t>(next)], root);
    return {root};
}

Term EGraph::canonical(const Term& term) const {
    Term result = term;
    for (TermId& child : result.children) child = any_term(find(child));
    return result;
}

void EGraph::check_children(const Operator& op, const std::vector<TermId>& children) const {
    for (const TermId child : children)
        TESSERA_CHECK(child.index >= 0 && static_cast<size_t>(child.index) < terms_.size(), "{}", label(op));
    if (std::holds_alternative<Leaf>(op.what)) TESSERA_CHECK(children.empty(), "{}", label(op));
    if (const auto* projection = std::get_if<Projection>(&op.what)) {
        TESSERA_CHECK(children.size() == 1, "{}", label(op));
        const std::vector<TensorType>& types = facts(children.front()).types;
        TESSERA_CHECK(projection->result >= 0 && static_cast<size_t>(projection->result) < types.size() &&
                          op.results == std::vector{types[static_cast<size_t>(projection->result)]},
                      "{} of {}", label(op), print_types(types));
    }
    if (const Definition* definition = op.definition()) {
        size_t next = 0;
        for (const TensorDecl& tensor : definition->tensors) {
            if (tensor.role != Role::kIn && tensor.role != Role::kIndex) continue;
            TESSERA_CHECK(next < children.size(), "{} has {} operands", label(op), children.size());
            const std::vector<TensorType>& types = facts(children[next++]).types;
            TESSERA_CHECK(types.size() == 1 && types.front().element == tensor.type, "{} has {} for {}",
                          label(op), print_types(types), tensor.name);
        }
        TESSERA_CHECK(children.size() == next + (op.updates ? 1 : 0), "{} has {} operands", label(op),
                      children.size());
        TESSERA_CHECK(op.results.size() == definition->results().size(), "{}", label(op));
    }
    TESSERA_CHECK(!op.results.empty(), "{} has no result", label(op));
}

ClassFacts EGraph::facts_of(const Term& term) const {
    const Operator& what = op(term.op);
    const auto* leaf = std::get_if<Leaf>(&what.what);
    const bool is_constant = leaf ? leaf->kind == ValueKind::kConstant
                                  : std::all_of(term.children.begin(), term.children.end(),
                                                [&](TermId child) { return facts(child).is_constant; });
    return {what.results, is_constant, leaf && leaf->is_finite};
}

TermId EGraph::add(const Operator& op, std::vector<TermId> children) {
    check_children(op, children);
    return add(intern(op), std::move(children));
}

TermId EGraph::add(OperatorId op, std::vector<TermId> children) {
    const Term term{op, std::move(children)};
    const TermId id{static_cast<int>(terms_.size())};
    if (const auto [known, is_new] = exact_.try_emplace(term, id); !is_new) return known->second;
    terms_.push_back(term);
    up_.push_back(id.index);
    classes_.emplace_back();
    proofs_.add_term();
    const auto [same, is_new] = canonical_.try_emplace(canonical(term), id);
    if (!is_new) {
        up_.back() = find(same->second).index;
        proofs_.connect(id, same->second, {});
        return id;
    }
    at(find(id)) = {.nodes = {id}, .parents = {}, .facts = facts_of(term)};
    for (const TermId child : term.children) at(find(child)).parents.push_back(id);
    ++node_count_;
    ++class_count_;
    return id;
}

bool EGraph::unite(TermId a, TermId b, std::string_view reason) {
    if (are_equal(a, b)) return false;
    return join(a, b, proofs_.reason(reason));
}

bool EGraph::join(TermId a, TermId b, const Reason& reason) {
    ClassId kept = find(a), gone = find(b);
    if (kept == gone) return false;
    TESSERA_CHECK(facts(kept).types == facts(gone).types, "{} makes {} and {} equal, of types {} and {}",
                  reason.is_congruence() ? "congruence" : proofs_.rule_name(reason.rule), label(op(a)),
                  label(op(b)), print_types(facts(kept).types), print_types(facts(gone).types));
    proofs_.connect(a, b, reason);
    if (at(kept).parents.size() < at(gone).parents.size()) std::swap(kept, gone);
    up_[static_cast<size_t>(gone.index)] = kept.index;
    Class merged = std::exchange(at(gone), {});
    Class& into = at(kept);
    if (merged.facts.is_constant != into.facts.is_constant) {
        into.facts.is_constant = true;
        changed_facts_.push_back(kept);
    }
    into.facts.is_finite = into.facts.is_finite || merged.facts.is_finite;
    dirty_.insert(dirty_.end(), merged.parents.begin(), merged.parents.end());
    into.nodes.insert(into.nodes.end(), merged.nodes.begin(), merged.nodes.end());
    into.parents.insert(into.parents.end(), merged.parents.begin(), merged.parents.end());
    touched_.push_back(kept);
    --class_count_;
    return true;
}

void EGraph::rebuild() {
    while (!is_rebuilt()) {
        restore_congruence();
        propagate_facts();
    }
    remove_duplicates();
}

void EGraph::restore_congruence() {
    while (!dirty_.empty()) {
        std::vector<TermId> terms = std::exchange(dirty_, {});
        sort_and_unite(terms);
        for (const TermId id : terms) {
            touched_.push_back(find(id));
            // The entry under the old form stays: no term has that form any more.
            const auto [same, is_new] = canonical_.try_emplace(canonical(term(id)), id);
            if (!is_new) join(id, same->second, {});
        }
    }
}

void EGraph::propagate_facts() {
    // Facts only rise, from not constant to constant, so this ends.
    while (!changed_facts_.empty()) {
        const ClassId changed = find(any_term(changed_facts_.back()));
        changed_facts_.pop_back();
        for (const TermId parent : at(changed).parents) {
            const ClassId above = find(parent);
            if (at(above).facts.is_constant || !facts_of(term(parent)).is_constant) continue;
            at(above).facts.is_constant = true;
            changed_facts_.push_back(above);
        }
    }
}

void EGraph::remove_duplicates() {
    std::vector<ClassId> classes;
    for (const ClassId touched : std::exchange(touched_, {})) classes.push_back(find(any_term(touched)));
    std::sort(classes.begin(), classes.end());
    classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
    for (const ClassId e_class : classes) {
        std::vector<TermId>& nodes = at(e_class).nodes;
        sort_and_unite(nodes);
        const size_t before = nodes.size();
        TermTable seen;
        std::erase_if(nodes, [&](TermId id) { return !seen.try_emplace(canonical(term(id)), id).second; });
        node_count_ -= static_cast<int64_t>(before - nodes.size());
        sort_and_unite(at(e_class).parents);
    }
}

std::vector<ClassId> EGraph::classes() const {
    TESSERA_CHECK(is_rebuilt());
    std::vector<ClassId> result;
    for (size_t i = 0; i < up_.size(); ++i)
        if (up_[i] == static_cast<int>(i)) result.push_back({static_cast<int>(i)});
    return result;
}

}  // namespace tessera::egraph
