#include "ir/facts/image.h"

#include <algorithm>
#include <numeric>

#include "ir/facts/address_forms.h"
#include "ir/facts/digits.h"
#include "ir/facts/term_groups.h"
#include "support/error.h"

// From a box and a map to products of sets:
//
//   1. variables that stand everywhere in one proportion become one (fuse_variables)
//   2. the others are split into digits of the divisors that they meet (split_into_digits)
//   3. variables that two axes still share are enumerated; the rest of an axis is a sum of independent
//      terms, whose values are the sum of their sets: progressions, or the enumerated values of terms that
//      are not affine
//
// No step looks at a form's meaning; where the first two resolve everything, no iteration is enumerated at
// all.

namespace tessera::facts {
namespace {

bool intersects(const std::vector<int>& a, const std::vector<int>& b) {
    return std::ranges::any_of(a, [&](int v) { return std::ranges::binary_search(b, v); });
}

IntegerSet enumerated_values(const std::vector<Term>& terms, const std::vector<int>& variables,
                             const Space& space) {
    const int64_t count = combinations(variables, space);
    const Form form{0, terms};
    const Bounds within = bounds(form, space);
    std::vector<int64_t> values;
    const int64_t width = within.high - within.low + 1;
    if (width > 16 * count + 4096) {
        values.reserve(static_cast<size_t>(count));
        for_each_point(variables, space, [&](const auto& point) {
            values.push_back(evaluate(form, point, space));
            return true;
        });
    } else {
        std::vector<bool> seen(static_cast<size_t>(width), false);
        for_each_point(variables, space, [&](const auto& point) {
            seen[static_cast<size_t>(evaluate(form, point, space) - within.low)] = true;
            return true;
        });
        for (int64_t i = 0; i < width; ++i)
            if (seen[static_cast<size_t>(i)]) values.push_back(within.low + i);
    }
    return IntegerSet::of_values(std::move(values));
}

IntegerSet value_set(const Form& form, const Space& space) {
    // Multiples of a common factor are counted in steps of it.
    int64_t stride = 0;
    for (const Term& term : form.terms) stride = std::gcd(stride, term.factor);
    if (stride == 0 || stride >= kLargestStride) stride = 1;
    Form steps{0, form.terms};
    for (Term& term : steps.terms) term.factor /= stride;

    IntegerSet values({0, 1});
    std::vector<Term> progressions;
    for (const TermGroup& group : independent_groups(steps)) {
        if (group.terms.size() == 1 && std::holds_alternative<Variable>(group.terms[0].atom->node))
            progressions.push_back(group.terms[0]);
        else
            values = sum(values, enumerated_values(group.terms, group.variables, space));
    }
    std::ranges::sort(progressions, {}, [](const Term& term) { return std::abs(term.factor); });
    for (const Term& term : progressions) {
        const auto v = static_cast<size_t>(std::get<Variable>(term.atom->node).id);
        values = sum_progression(values, term.factor, space.extents[v]);
    }
    return values.strided(stride, form.constant);
}

// Variables that stand in several axes, ascending.
std::vector<int> shared_variables(const std::vector<Form>& forms) {
    std::map<int, int> axes_with;
    for (const Form& form : forms)
        for (const int v : variables_in(form)) ++axes_with[v];
    std::vector<int> shared;
    for (const auto& [v, axes] : axes_with)
        if (axes > 1) shared.push_back(v);
    return shared;
}

// One axis, given the values of the shared variables.
struct Axis {
    Form form;
    bool splits = true;  ///< into terms of shared variables only and terms without any
    Form shared_part;
    IntegerSet free_part;

    Axis(const Form& whole, const std::vector<int>& shared, const Space& space) : form(whole) {
        Form free = constant_form(whole.constant);
        for (const Term& term : whole.terms) {
            const std::vector<int> inside = variables_in(*term.atom);
            const bool touches = intersects(inside, shared);
            if (touches && !std::ranges::includes(shared, inside)) splits = false;
            (touches ? shared_part : free).terms.push_back(term);
        }
        if (splits) free_part = value_set(free, space);
    }

    IntegerSet at(const std::vector<int64_t>& point, const std::vector<int>& shared,
                  const Space& space) const {
        if (splits) return free_part.shifted(evaluate(shared_part, point, space));
        std::vector<Form> values;
        for (size_t v = 0; v < space.extents.size(); ++v)
            values.push_back(variable_form(static_cast<int>(v)));
        for (const int v : shared)
            values[static_cast<size_t>(v)] = constant_form(point[static_cast<size_t>(v)]);
        return value_set(substitute(form, values, space), space);
    }
};

using Visit = std::function<bool(const std::vector<IntegerSet>&)>;

bool visit_component(const Component& component, const std::vector<bool>& whole_axis,
                     std::span<const Range> within, const Visit& visit) {
    const std::vector<int> shared = shared_variables(component.forms);
    std::vector<Axis> axes;
    for (const Form& form : component.forms) axes.emplace_back(form, shared, component.space);
    std::vector<IntegerSet> product(axes.size());
    return for_each_point(shared, component.space, [&](const std::vector<int64_t>& point) {
        for (size_t a = 0; a < axes.size(); ++a) {
            product[a] = whole_axis[a] ? IntegerSet(within[a])
                                       : axes[a].at(point, shared, component.space).clipped(within[a]);
            if (product[a].empty()) return true;
        }
        return visit(product);
    });
}

}  // namespace

std::vector<Range> ranges_of(std::span<const int64_t> shape) {
    std::vector<Range> ranges;
    for (const int64_t extent : shape) ranges.push_back({0, extent});
    return ranges;
}

void add_image(ElementSet& elements, const BoundDefinition& bound, const std::vector<ExprPtr>& components,
               const IterationBox& box, std::span<const Range> within) {
    for_each_product(bound, components, box, within, [&](const std::vector<IntegerSet>& product) {
        elements.add({product.begin(), product.begin() + static_cast<std::ptrdiff_t>(elements.rank())});
        return true;
    });
}

std::optional<std::vector<Range>> image_bounds(const BoundDefinition& bound,
                                               const std::vector<ExprPtr>& components,
                                               const IterationBox& box, std::span<const Range> within) {
    std::optional<std::vector<Range>> bounds;
    for_each_product(bound, components, box, within, [&](const std::vector<IntegerSet>& product) {
        if (!bounds) bounds.emplace(product.size(), Range{INT64_MAX, INT64_MIN});
        for (size_t a = 0; a < product.size(); ++a) {
            Range& range = (*bounds)[a];
            range = {std::min(range.first, product[a].min()), std::max(range.last, product[a].max() + 1)};
        }
        return true;
    });
    return bounds;
}

void for_each_product(const BoundDefinition& bound, const std::vector<ExprPtr>& components,
                      const IterationBox& box, std::span<const Range> within, const Visit& visit) {
    Component component{{&bound, {}}, {}};
    std::vector<Form> iterators;
    for (size_t i = 0; i < box.size(); ++i) {
        if (box[i].empty()) return;
        component.space.extents.push_back(box[i].size());
        Form value = constant_form(box[i].first);
        if (box[i].size() > 1) value.terms = variable_form(static_cast<int>(i)).terms;
        iterators.push_back(std::move(value));
    }
    std::vector<bool> whole_axis;
    for (const ExprPtr& expr : components) {
        Form form = to_form(expr, iterators, component.space, Simplify::kNo);
        whole_axis.push_back(has_unknown_lookup(form, component.space));
        component.forms.push_back(whole_axis.back() ? Form{} : std::move(form));
    }
    for (const Component& part : split_into_digits(fuse_variables(std::move(component))))
        if (!visit_component(part, whole_axis, within, visit)) return;
}

}  // namespace tessera::facts
