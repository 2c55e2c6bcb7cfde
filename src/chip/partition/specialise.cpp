#include "chip/partition/specialise.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "ir/facts/evaluate.h"
#include "ir/facts/share.h"
#include "ir/integer_value.h"

namespace tessera::partition {
namespace {

/// The expression with each child replaced by the result of `change`.
template <typename Change>
ExprPtr with_changed_children(const ExprPtr& expr, const Change& change) {
    const auto all = [&](const std::vector<ExprPtr>& exprs) {
        std::vector<ExprPtr> changed;
        for (const ExprPtr& each : exprs) changed.push_back(change(each));
        return changed;
    };
    if (const auto* r = std::get_if<Read>(&expr->node))
        return read(r->tensor, all(r->coordinates), r->declared_map);
    if (const auto* a = std::get_if<Apply>(&expr->node)) return apply(a->function, all(a->arguments));
    if (const auto* c = std::get_if<Cast>(&expr->node)) return cast(c->to, change(c->argument));
    return expr;
}

/// The contents at these coordinates.
ExprPtr at_coordinates(const ExprPtr& contents, const std::vector<ExprPtr>& coordinates) {
    if (const auto* i = std::get_if<IteratorRef>(&contents->node))
        return coordinates.at(static_cast<size_t>(i->index));
    return with_changed_children(contents,
                                 [&](const ExprPtr& child) { return at_coordinates(child, coordinates); });
}

class Specialiser {
public:
    Specialiser(const Definition& definition, const std::map<int, IndexContents>& contents)
        : contents_(contents) {
        int next = 0;
        for (size_t t = 0; t < definition.tensors.size(); ++t)
            position_.push_back(contents.contains(static_cast<int>(t)) ? -1 : next++);
    }

    ExprPtr operator()(const ExprPtr& expr) const {
        if (!expr) return expr;
        ExprPtr changed = with_changed_children(expr, *this);
        const auto* r = std::get_if<Read>(&changed->node);
        if (!r) return changed;
        if (const auto known = contents_.find(r->tensor); known != contents_.end())
            return at_coordinates(known->second, r->coordinates);
        return read(position_[static_cast<size_t>(r->tensor)], r->coordinates, r->declared_map);
    }

private:
    const std::map<int, IndexContents>& contents_;
    std::vector<int> position_;  ///< of each tensor among those that stay
};

/// The parts of a conjunction.
void add_conditions(const ExprPtr& predicate, std::vector<ExprPtr>& conditions) {
    if (!predicate) return;
    const auto* both = std::get_if<Apply>(&predicate->node);
    if (both == nullptr || both->function != Function::kAnd) {
        conditions.push_back(predicate);
        return;
    }
    for (const ExprPtr& part : both->arguments) add_conditions(part, conditions);
}

bool reads_anything(const ExprPtr& expr) {
    if (std::holds_alternative<Read>(expr->node)) return true;
    bool reads = false;
    (void)with_changed_children(expr, [&](const ExprPtr& child) {
        reads = reads || reads_anything(child);
        return child;
    });
    return reads;
}

/// The only iterator of more than one iteration that a condition depends on.
std::optional<size_t> only_iterator(const facts::BoundDefinition& bound, const ExprPtr& condition) {
    std::optional<size_t> only;
    for (const int i : iterators_in(condition)) {
        const auto index = static_cast<size_t>(i);
        if (bound.extents.iterators[index] == 1) continue;
        if (only && *only != index) return std::nullopt;
        only = index;
    }
    return only;
}

/// True if an element into which nothing is folded is the same without the post-expression, as if no
/// iteration reaches it.
bool keeps_identity(const facts::BoundDefinition& bound) {
    const Definition& definition = bound.definition;
    if (!definition.post) return true;
    if (reads_anything(definition.post) || !iterators_in(definition.post).empty()) return false;
    const double start = identity(definition.monoid);
    const auto folded = [&](const Expr&) { return facts::Column{start}; };
    return facts::evaluate_column(definition.post, 1, bound.extents.dims, folded).front() == start;
}

bool writes_along(const Definition& definition, size_t iterator) {
    for (const int result : definition.results())
        for (const int i : iterators_in(definition.tensors[static_cast<size_t>(result)].map))
            if (static_cast<size_t>(i) == iterator) return true;
    return false;
}

}  // namespace

facts::BoundDefinition without_idle_ends(const facts::BoundDefinition& bound) {
    std::vector<ExprPtr> conditions;
    add_conditions(bound.definition.where, conditions);
    facts::IterationBox box = facts::whole_box(bound);
    for (const ExprPtr& condition : conditions) {
        const auto only = reads_anything(condition) ? std::nullopt : only_iterator(bound, condition);
        if (!only || (writes_along(bound.definition, *only) && !keeps_identity(bound))) continue;
        std::vector<int64_t> at(box.size(), 0);
        const auto holds = [&](int64_t value) {
            at[*only] = value;
            return integer_value(*condition, {.dims = bound.extents.dims, .iterators = at}, bound.where) != 0;
        };
        facts::Range& range = box[*only];
        while (range.size() > 1 && !holds(range.first)) ++range.first;
        while (range.size() > 1 && !holds(range.last - 1)) --range.last;
    }
    return facts::restricted_to(bound, box);
}

Definition specialised(const Definition& definition, const std::map<int, IndexContents>& contents) {
    const Specialiser specialise(definition, contents);
    Definition result = definition;
    result.tensors.clear();
    for (size_t t = 0; t < definition.tensors.size(); ++t) {
        if (contents.contains(static_cast<int>(t))) continue;
        TensorDecl tensor = definition.tensors[t];
        for (ExprPtr& component : tensor.map) component = specialise(component);
        result.tensors.push_back(std::move(tensor));
    }
    for (ExprPtr& part : result.body) part = specialise(part);
    result.post = specialise(result.post);
    result.where = specialise(result.where);
    return result;
}

}  // namespace tessera::partition
