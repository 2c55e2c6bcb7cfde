#include "ir/facts/depends.h"

#include <algorithm>

#include "ir/facts/address_forms.h"
#include "ir/facts/term_groups.h"

// In the simplified form of a component only the terms that hold the iterator matter. If it stands in one
// linear term, it counts. If it stands under a div or mod, those terms alone are evaluated along the iterator
// until two values differ; a term that never differs has usually vanished in the simplification already (`k
// div 100` with k below 100).

namespace tessera::facts {
namespace {

bool changes_along(const Form& form, int iterator, const Space& space) {
    Form with;
    bool below_division = false;
    for (const Term& term : form.terms) {
        const std::vector<int> inside = variables_in(*term.atom);
        if (!std::ranges::binary_search(inside, iterator)) continue;
        with.terms.push_back(term);
        below_division = below_division || !std::holds_alternative<Variable>(term.atom->node);
    }
    if (!below_division) return !with.terms.empty();
    std::vector<int> variables = variables_in(with);
    std::erase(variables, iterator);
    variables.push_back(iterator);  // runs fastest
    const auto x = static_cast<size_t>(iterator);
    int64_t first = 0;
    return !for_each_point(variables, space, [&](const std::vector<int64_t>& point) {
        const int64_t value = evaluate(with, point, space);
        if (point[x] == 0) first = value;
        return value == first;
    });
}

}  // namespace

bool address_depends(const BoundDefinition& bound, const std::vector<ExprPtr>& coordinates, int iterator) {
    const Space space{&bound, bound.extents.iterators};
    const std::vector<Form> iterators = iterator_variables(space);
    for (const ExprPtr& component : coordinates)
        for (const Form& form : address_forms(component, iterators, space).forms)
            if (changes_along(form, iterator, space)) return true;
    return false;
}

bool element_depends(const BoundDefinition& bound, const std::vector<ExprPtr>& coordinates, int iterator) {
    if (!address_depends(bound, coordinates, iterator)) return false;
    const Space space{&bound, bound.extents.iterators};
    const std::vector<Form> iterators = iterator_variables(space);
    for (const ExprPtr& component : coordinates) {
        const Form form = to_form(component, iterators, space);
        if (has_unknown_lookup(form, space) || changes_along(form, iterator, space)) return true;
    }
    return false;
}

std::vector<std::vector<int>> derive_depends(const BoundDefinition& bound) {
    std::vector<std::vector<int>> facts(bound.definition.tensors.size());
    for (size_t t = 0; t < facts.size(); ++t) {
        const std::vector<Access> accesses = accesses_of(bound.definition, static_cast<int>(t));
        for (size_t i = 0; i < bound.definition.iterators.size(); ++i)
            if (std::ranges::any_of(accesses, [&](const Access& access) {
                    return address_depends(bound, access.coordinates, static_cast<int>(i));
                }))
                facts[t].push_back(static_cast<int>(i));
    }
    return facts;
}

}  // namespace tessera::facts
