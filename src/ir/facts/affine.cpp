#include "ir/facts/affine.h"

#include <algorithm>
#include <compare>
#include <numeric>

#include "ir/checked_arithmetic.h"
#include "support/error.h"

// floor((16 a + b) / 32) with b in [0, 16) is floor(a / 2): the low part b never carries over a multiple
// of 16. Together with taking whole multiples of the divisor out, that rule resolves every split of an
// iterator into aligned digits (digits.h), which leaves affine forms where the notation has div and mod.

namespace tessera::facts {
namespace {

std::strong_ordering compare(const Form& a, const Form& b);

std::strong_ordering compare(const Atom& a, const Atom& b) {
    if (&a == &b) return std::strong_ordering::equal;
    if (auto by_kind = a.node.index() <=> b.node.index(); by_kind != 0) return by_kind;
    if (const auto* v = std::get_if<Variable>(&a.node)) return v->id <=> std::get<Variable>(b.node).id;
    if (const auto* q = std::get_if<Quotient>(&a.node)) {
        const auto& other = std::get<Quotient>(b.node);
        if (auto order = q->divisor <=> other.divisor; order != 0) return order;
        return compare(q->inner, other.inner);
    }
    if (const auto* r = std::get_if<Remainder>(&a.node)) {
        const auto& other = std::get<Remainder>(b.node);
        if (auto order = r->divisor <=> other.divisor; order != 0) return order;
        return compare(r->inner, other.inner);
    }
    const auto& left = std::get<Lookup>(a.node);
    const auto& right = std::get<Lookup>(b.node);
    if (auto order = left.tensor <=> right.tensor; order != 0) return order;
    if (auto order = left.coordinates.size() <=> right.coordinates.size(); order != 0) return order;
    for (size_t i = 0; i < left.coordinates.size(); ++i)
        if (auto order = compare(left.coordinates[i], right.coordinates[i]); order != 0) return order;
    return std::strong_ordering::equal;
}

std::strong_ordering compare(const Form& a, const Form& b) {
    if (auto order = a.constant <=> b.constant; order != 0) return order;
    if (auto order = a.terms.size() <=> b.terms.size(); order != 0) return order;
    for (size_t i = 0; i < a.terms.size(); ++i) {
        if (auto order = a.terms[i].factor <=> b.terms[i].factor; order != 0) return order;
        if (auto order = compare(*a.terms[i].atom, *b.terms[i].atom); order != 0) return order;
    }
    return std::strong_ordering::equal;
}

Form atom_form(Atom atom, int64_t factor = 1) {
    Form form;
    form.terms.push_back({factor, std::make_shared<const Atom>(std::move(atom))});
    return form;
}

Bounds bounds(const Atom& atom, const Space& space) {
    if (const auto* v = std::get_if<Variable>(&atom.node))
        return {0, space.extents[static_cast<size_t>(v->id)] - 1};
    if (const auto* q = std::get_if<Quotient>(&atom.node)) {
        const Bounds inner = facts::bounds(q->inner, space);
        return {floor_div(inner.low, q->divisor), floor_div(inner.high, q->divisor)};
    }
    if (const auto* r = std::get_if<Remainder>(&atom.node)) return {0, r->divisor - 1};
    const int tensor = std::get<Lookup>(atom.node).tensor;
    const auto& contents = space.bound->contents[static_cast<size_t>(tensor)];
    if (contents.empty()) {
        const IntegerRange any = range(ElementType::kI32);
        return {any.low, any.high};
    }
    const auto [low, high] = std::minmax_element(contents.begin(), contents.end());
    return {static_cast<int64_t>(*low), static_cast<int64_t>(*high)};
}

// The form divided into factor * high + low, where low stays within [0, factor) over the space.
struct HighLow {
    int64_t factor;
    Form high;
    Form low;
};

// The largest low part that cannot carry within the divisor; factor 1 if there is none.
HighLow split_low_part(const Form& form, int64_t divisor, const Space& space) {
    std::vector<Term> by_factor = form.terms;
    std::stable_sort(by_factor.begin(), by_factor.end(),
                     [](const Term& a, const Term& b) { return std::abs(a.factor) > std::abs(b.factor); });
    int64_t factor = divisor;
    for (size_t kept = 0; kept <= by_factor.size(); ++kept) {
        if (kept > 0) factor = std::gcd(factor, by_factor[kept - 1].factor);
        if (kept == 0) continue;
        if (factor == 1) break;
        Form low{floor_mod(form.constant, factor), {}};
        for (size_t i = kept; i < by_factor.size(); ++i) low = add(low, Form{0, {by_factor[i]}}, space);
        const Bounds within = facts::bounds(low, space);
        if (within.low < 0 || within.high >= factor) continue;
        Form high{floor_div(form.constant, factor), {}};
        for (size_t i = 0; i < kept; ++i)
            high = add(high, Form{0, {{by_factor[i].factor / factor, by_factor[i].atom}}}, space);
        return {factor, high, low};
    }
    return {1, form, {}};
}

void collect_variables(const Form& form, std::vector<int>& found);

void collect_variables(const Atom& atom, std::vector<int>& found) {
    if (const auto* v = std::get_if<Variable>(&atom.node)) {
        found.push_back(v->id);
    } else if (const auto* q = std::get_if<Quotient>(&atom.node)) {
        collect_variables(q->inner, found);
    } else if (const auto* r = std::get_if<Remainder>(&atom.node)) {
        collect_variables(r->inner, found);
    } else {
        for (const Form& coordinate : std::get<Lookup>(atom.node).coordinates)
            collect_variables(coordinate, found);
    }
}

void collect_variables(const Form& form, std::vector<int>& found) {
    for (const Term& term : form.terms) collect_variables(*term.atom, found);
}

std::vector<int> sorted_unique(std::vector<int> values) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return values;
}

}  // namespace

int64_t floor_div(int64_t a, int64_t b) {
    return a / b - (a % b < 0);
}
int64_t floor_mod(int64_t a, int64_t b) {
    return a % b < 0 ? a % b + b : a % b;
}

Form constant_form(int64_t value) {
    return {value, {}};
}

Form variable_form(int id, int64_t factor) {
    return atom_form({Variable{id}}, factor);
}

Form lookup_form(int tensor, std::vector<Form> coordinates) {
    return atom_form({Lookup{tensor, std::move(coordinates)}});
}

Form add(const Form& a, const Form& b, const Space& space) {
    Form sum{checked_add(a.constant, b.constant, space.bound->where), {}};
    sum.terms.reserve(a.terms.size() + b.terms.size());
    size_t i = 0;
    size_t j = 0;
    while (i < a.terms.size() || j < b.terms.size()) {
        const auto order = i == a.terms.size()   ? std::strong_ordering::greater
                           : j == b.terms.size() ? std::strong_ordering::less
                                                 : compare(*a.terms[i].atom, *b.terms[j].atom);
        if (order < 0) {
            sum.terms.push_back(a.terms[i++]);
        } else if (order > 0) {
            sum.terms.push_back(b.terms[j++]);
        } else {
            const int64_t factor = checked_add(a.terms[i].factor, b.terms[j].factor, space.bound->where);
            if (factor != 0) sum.terms.push_back({factor, a.terms[i].atom});
            ++i;
            ++j;
        }
    }
    return sum;
}

Form scale(const Form& a, int64_t factor, const Space& space) {
    if (factor == 0) return {};
    Form scaled{checked_mul(a.constant, factor, space.bound->where), a.terms};
    for (Term& term : scaled.terms) term.factor = checked_mul(term.factor, factor, space.bound->where);
    return scaled;
}

Bounds bounds(const Form& form, const Space& space) {
    Bounds total{form.constant, form.constant};
    for (const Term& term : form.terms) {
        const Bounds atom = bounds(*term.atom, space);
        const int64_t a = checked_mul(term.factor, atom.low, space.bound->where);
        const int64_t b = checked_mul(term.factor, atom.high, space.bound->where);
        total.low = checked_add(total.low, std::min(a, b), space.bound->where);
        total.high = checked_add(total.high, std::max(a, b), space.bound->where);
    }
    return total;
}

Form raw_quotient(const Form& form, int64_t divisor) {
    return atom_form({Quotient{form, divisor}});
}
Form raw_remainder(const Form& form, int64_t divisor) {
    return atom_form({Remainder{form, divisor}});
}

Form quotient(const Form& form, int64_t divisor, const Space& space) {
    if (divisor == 1) return form;
    Form whole{floor_div(form.constant, divisor), {}};
    Form rest{floor_mod(form.constant, divisor), {}};
    for (const Term& term : form.terms) {
        if (const int64_t q = term.factor / divisor; q != 0) whole.terms.push_back({q, term.atom});
        if (const int64_t r = term.factor % divisor; r != 0) rest.terms.push_back({r, term.atom});
    }
    const Bounds within = bounds(rest, space);
    const int64_t first = floor_div(within.low, divisor);
    if (first == floor_div(within.high, divisor)) {
        whole.constant = checked_add(whole.constant, first, space.bound->where);
        return whole;
    }
    const HighLow parts = split_low_part(rest, divisor, space);
    if (parts.factor > 1) return add(whole, quotient(parts.high, divisor / parts.factor, space), space);
    // floor((floor(A / c) + k) / d) = floor((A + k c) / (c d))
    if (rest.terms.size() == 1 && rest.terms[0].factor == 1) {
        if (const auto* inner = std::get_if<Quotient>(&rest.terms[0].atom->node)) {
            const Form shift = constant_form(checked_mul(rest.constant, inner->divisor, space.bound->where));
            const int64_t both = checked_mul(divisor, inner->divisor, space.bound->where);
            return add(whole, quotient(add(inner->inner, shift, space), both, space), space);
        }
    }
    return add(whole, raw_quotient(rest, divisor), space);
}

Form remainder(const Form& form, int64_t divisor, const Space& space) {
    if (divisor == 1) return {};
    Form rest{floor_mod(form.constant, divisor), {}};
    for (const Term& term : form.terms)
        if (const int64_t r = term.factor % divisor; r != 0) rest.terms.push_back({r, term.atom});
    const Bounds within = bounds(rest, space);
    const int64_t first = floor_div(within.low, divisor);
    if (first == floor_div(within.high, divisor))
        return add(rest, constant_form(-checked_mul(first, divisor, space.bound->where)), space);
    const HighLow parts = split_low_part(rest, divisor, space);
    if (parts.factor > 1)
        return add(scale(remainder(parts.high, divisor / parts.factor, space), parts.factor, space),
                   parts.low, space);
    if (rest.terms.size() == 1 && rest.terms[0].factor == 1 && rest.constant == 0)
        if (const auto* inner = std::get_if<Remainder>(&rest.terms[0].atom->node);
            inner && inner->divisor % divisor == 0)
            return remainder(inner->inner, divisor, space);
    return raw_remainder(rest, divisor);
}

Form substitute(const Form& form, std::span<const Form> values, const Space& space, Divisions divisions) {
    const bool simplifies = divisions == Divisions::kSimplified;
    const auto inside = [&](const Form& inner) { return substitute(inner, values, space, divisions); };
    Form result = constant_form(form.constant);
    for (const Term& term : form.terms) {
        Form value;
        if (const auto* v = std::get_if<Variable>(&term.atom->node)) {
            value = values[static_cast<size_t>(v->id)];
        } else if (const auto* q = std::get_if<Quotient>(&term.atom->node)) {
            value = simplifies ? quotient(inside(q->inner), q->divisor, space)
                               : raw_quotient(inside(q->inner), q->divisor);
        } else if (const auto* r = std::get_if<Remainder>(&term.atom->node)) {
            value = simplifies ? remainder(inside(r->inner), r->divisor, space)
                               : raw_remainder(inside(r->inner), r->divisor);
        } else {
            const auto& lookup = std::get<Lookup>(term.atom->node);
            std::vector<Form> coordinates;
            for (const Form& coordinate : lookup.coordinates) coordinates.push_back(inside(coordinate));
            value = lookup_form(lookup.tensor, std::move(coordinates));
        }
        result = add(result, scale(value, term.factor, space), space);
    }
    return result;
}

int64_t evaluate(const Atom& atom, std::span<const int64_t> point, const Space& space) {
    if (const auto* v = std::get_if<Variable>(&atom.node)) return point[static_cast<size_t>(v->id)];
    if (const auto* q = std::get_if<Quotient>(&atom.node))
        return floor_div(evaluate(q->inner, point, space), q->divisor);
    if (const auto* r = std::get_if<Remainder>(&atom.node))
        return floor_mod(evaluate(r->inner, point, space), r->divisor);
    const auto& lookup = std::get<Lookup>(atom.node);
    const auto& shape = space.bound->shape(lookup.tensor);
    size_t position = 0;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
        const int64_t at = evaluate(lookup.coordinates[axis], point, space);
        if (at < 0 || at >= shape[axis])
            throw Error(space.bound->where, space.bound->tensor(lookup.tensor).name,
                        fmt::format("is read at {} on axis {}, outside [0, {})", at, axis, shape[axis]),
                        "an index operand must be read within its shape");
        position = position * static_cast<size_t>(shape[axis]) + static_cast<size_t>(at);
    }
    return static_cast<int64_t>(space.bound->contents[static_cast<size_t>(lookup.tensor)][position]);
}

int64_t evaluate(const Form& form, std::span<const int64_t> point, const Space& space) {
    int64_t value = form.constant;
    for (const Term& term : form.terms)
        value = checked_add(value,
                            checked_mul(term.factor, evaluate(*term.atom, point, space), space.bound->where),
                            space.bound->where);
    return value;
}

std::vector<int> variables_in(const Form& form) {
    std::vector<int> found;
    collect_variables(form, found);
    return sorted_unique(std::move(found));
}

std::vector<int> variables_in(const Atom& atom) {
    std::vector<int> found;
    collect_variables(atom, found);
    return sorted_unique(std::move(found));
}

bool has_unknown_lookup(const Form& form, const Space& space) {
    for (const Term& term : form.terms) {
        if (const auto* q = std::get_if<Quotient>(&term.atom->node)) {
            if (has_unknown_lookup(q->inner, space)) return true;
        } else if (const auto* r = std::get_if<Remainder>(&term.atom->node)) {
            if (has_unknown_lookup(r->inner, space)) return true;
        } else if (const auto* l = std::get_if<Lookup>(&term.atom->node)) {
            if (space.bound->contents[static_cast<size_t>(l->tensor)].empty()) return true;
        }
    }
    return false;
}

}  // namespace tessera::facts
