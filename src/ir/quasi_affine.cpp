#include "ir/quasi_affine.h"

#include <algorithm>
#include <numeric>

#include "ir/checked_arithmetic.h"
#include "ir/integer_value.h"

/// The normal form is built bottom-up. For a positive constant c, and with r = the part of a form e whose
/// factors are no multiples of c (so e = c q + r):
///
///     e div c = q + r div c        e mod c = r mod c         (x div a + k) div c = (x + k a) div (a c)
///
/// and r div c is the constant m where r stays within [m c, m c + c) in the box: `h mod 4` is h where h < 4.
/// Thus
/// `(32 g + j) div 32` is g for j < 32, and iterators that seem entangled come apart.
namespace tessera {
namespace {

using Kind = QuasiAtom::Kind;

bool same_atom(const QuasiAtom& a, const QuasiAtom& b) {
    if (a.kind != b.kind) return false;
    if (a.kind == Kind::kIterator) return a.iterator == b.iterator;
    if (a.kind == Kind::kRead) return same(a.read, b.read);
    return a.divisor == b.divisor && same(*a.inner, *b.inner);
}

class Builder {
public:
    Builder(std::span<const int64_t> dims, std::span<const int64_t> extents, const std::string& where)
        : dims_(dims), extents_(extents), where_(where) {}

    QuasiAffine build(const ExprPtr& expr) const {
        if (is_constant(expr))
            return {integer_value(
                        *expr, {.dims = dims_, .iterators = {}, .fill_position = 0, .read = nullptr}, where_),
                    {}};
        if (const auto* iterator = std::get_if<IteratorRef>(&expr->node)) {
            if (extents_[static_cast<size_t>(iterator->index)] == 1) return {};
            return {0,
                    {{1,
                      {.kind = Kind::kIterator,
                       .iterator = iterator->index,
                       .divisor = 1,
                       .inner = nullptr,
                       .read = nullptr}}}};
        }
        if (std::holds_alternative<Read>(expr->node)) {
            return {
                0,
                {{1, {.kind = Kind::kRead, .iterator = -1, .divisor = 1, .inner = nullptr, .read = expr}}}};
        }
        if (const auto* apply = std::get_if<Apply>(&expr->node)) return build(*apply);
        refuse("a cast of an iterator");
    }

private:
    static bool is_constant(const ExprPtr& expr) {
        bool found = false;
        walk(expr, [&](const Expr& node) {
            found |=
                std::holds_alternative<IteratorRef>(node.node) || std::holds_alternative<Read>(node.node);
            return !found;
        });
        return !found;
    }

    QuasiAffine build(const Apply& apply) const {
        QuasiAffine left = build(apply.arguments[0]);
        if (apply.function == Function::kNegate) return scaled(left, -1);
        if (apply.arguments.size() != 2) refuse(fmt::format("`{}`", name(apply.function)));
        const QuasiAffine right = build(apply.arguments[1]);
        switch (apply.function) {
            case Function::kAdd:
                return sum(std::move(left), right, 1);
            case Function::kSub:
                return sum(std::move(left), right, -1);
            case Function::kMul:
                if (left.terms.empty()) return scaled(right, left.constant);
                if (right.terms.empty()) return scaled(left, right.constant);
                refuse("the product of two iterators");
            case Function::kFloorDiv:
            case Function::kMod:
                if (!right.terms.empty()) refuse("a divisor that is not constant");
                return divided(left, right.constant,
                               apply.function == Function::kMod ? Kind::kMod : Kind::kFloorDiv);
            default:
                refuse(fmt::format("`{}`", name(apply.function)));
        }
    }

    QuasiAffine scaled(const QuasiAffine& form, int64_t factor) const { return sum({}, form, factor); }

    /// a + factor * b
    QuasiAffine sum(QuasiAffine a, const QuasiAffine& b, int64_t factor) const {
        a.constant = checked_add(a.constant, checked_mul(factor, b.constant, where_), where_);
        for (const QuasiTerm& term : b.terms) {
            const int64_t coefficient = checked_mul(factor, term.coefficient, where_);
            const auto equal = std::ranges::find_if(
                a.terms, [&](const QuasiTerm& t) { return same_atom(t.atom, term.atom); });
            if (equal == a.terms.end()) {
                if (coefficient != 0) a.terms.push_back({coefficient, term.atom});
                continue;
            }
            equal->coefficient = checked_add(equal->coefficient, coefficient, where_);
            if (equal->coefficient == 0) a.terms.erase(equal);
        }
        return a;
    }

    QuasiAffine divided(const QuasiAffine& form, int64_t divisor, Kind kind) const {
        if (divisor == 0) throw Error(where_, "", "a map divides by zero");
        if (divisor < 0) {
            const QuasiAffine positive = divided(scaled(form, -1), checked_sub(0, divisor, where_), kind);
            return kind == Kind::kMod ? scaled(positive, -1) : positive;
        }
        QuasiAffine quotient;
        QuasiAffine rest;
        quotient.constant = checked_floor_div(form.constant, divisor, where_);
        rest.constant = checked_floor_mod(form.constant, divisor, where_);
        for (const QuasiTerm& term : form.terms) {
            if (term.coefficient % divisor == 0) {
                quotient.terms.push_back({term.coefficient / divisor, term.atom});
            } else {
                rest.terms.push_back(term);
            }
        }
        const IntegerInterval range = enclosing_range(rest, extents_, where_);
        const int64_t whole = checked_floor_div(range.low, divisor, where_);
        if (whole == checked_floor_div(range.high, divisor, where_)) {
            if (kind == Kind::kMod) return sum(rest, {checked_mul(whole, divisor, where_), {}}, -1);
            return sum(quotient, {whole, {}}, 1);
        }
        if (kind == Kind::kMod) return remainder(rest, divisor);
        return sum(quotient, floor_division(rest, divisor), 1);
    }

    QuasiAffine floor_division(const QuasiAffine& rest, int64_t divisor) const {
        if (rest.terms.size() == 1 && rest.terms[0].coefficient == 1 &&
            rest.terms[0].atom.kind == Kind::kFloorDiv) {
            const QuasiAtom& nested = rest.terms[0].atom;
            const int64_t constant = checked_mul(rest.constant, nested.divisor, where_);
            return divided(sum(*nested.inner, {constant, {}}, 1),
                           checked_mul(nested.divisor, divisor, where_), Kind::kFloorDiv);
        }
        return atom(Kind::kFloorDiv, rest, divisor);
    }

    /// (x mod m) mod c is x mod c where c divides m.
    QuasiAffine remainder(const QuasiAffine& rest, int64_t divisor) const {
        for (size_t i = 0; i < rest.terms.size(); ++i) {
            const QuasiTerm term = rest.terms[i];
            if (term.atom.kind != Kind::kMod ||
                checked_mul(term.coefficient, term.atom.divisor, where_) % divisor != 0)
                continue;
            QuasiAffine opened = rest;
            opened.terms.erase(opened.terms.begin() + static_cast<std::ptrdiff_t>(i));
            return divided(sum(std::move(opened), *term.atom.inner, term.coefficient), divisor, Kind::kMod);
        }
        return atom(Kind::kMod, rest, divisor);
    }

    static QuasiAffine atom(Kind kind, const QuasiAffine& inner, int64_t divisor) {
        return {0,
                {{1,
                  {.kind = kind,
                   .iterator = -1,
                   .divisor = divisor,
                   .inner = std::make_shared<const QuasiAffine>(inner),
                   .read = nullptr}}}};
    }

    [[noreturn]] void refuse(const std::string& what) const {
        throw Error(
            where_, "", fmt::format("a map holds {}", what),
            "a map is a sum of iterators with constant factors, and div and mod of such by constants");
    }

    std::span<const int64_t> dims_;
    std::span<const int64_t> extents_;
    const std::string& where_;
};

void collect_iterators(const QuasiAffine& form, std::vector<int>& found) {
    for (const QuasiTerm& term : form.terms) {
        if (term.atom.kind == Kind::kIterator) found.push_back(term.atom.iterator);
        if (term.atom.inner) collect_iterators(*term.atom.inner, found);
        if (term.atom.read) std::ranges::copy(iterators_in(term.atom.read), std::back_inserter(found));
    }
}

int64_t value_of(const QuasiAtom& atom, std::span<const int64_t> iterators) {
    if (atom.kind == Kind::kIterator) return iterators[static_cast<size_t>(atom.iterator)];
    TESSERA_CHECK(atom.kind != Kind::kRead, "the value of an index operand is not known here");
    const int64_t inner = evaluate(*atom.inner, iterators);
    const int64_t remainder = inner % atom.divisor + (inner % atom.divisor < 0 ? atom.divisor : 0);
    return atom.kind == Kind::kMod ? remainder : (inner - remainder) / atom.divisor;
}

std::optional<int64_t> product(int64_t a, int64_t b) {
    int64_t result = 0;
    return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
}

std::optional<Period> period(const QuasiAtom& atom, int iterator) {
    if (atom.kind == Kind::kIterator) return Period{1, atom.iterator == iterator ? 1 : 0};
    TESSERA_CHECK(atom.kind != Kind::kRead, "the value of an index operand is not known here");
    const std::optional<Period> inner = period(*atom.inner, iterator);
    if (!inner) return std::nullopt;
    // The inner shift must become a multiple of the divisor.
    const int64_t times = atom.divisor / std::gcd(inner->shift, atom.divisor);
    const std::optional<int64_t> steps = product(inner->steps, times);
    const std::optional<int64_t> shift = product(inner->shift, times);
    if (!steps || !shift) return std::nullopt;
    return Period{*steps, atom.kind == Kind::kMod ? 0 : *shift / atom.divisor};
}

}  // namespace

bool same(const QuasiAffine& a, const QuasiAffine& b) {
    if (a.constant != b.constant || a.terms.size() != b.terms.size()) return false;
    return std::ranges::all_of(a.terms, [&](const QuasiTerm& term) {
        return std::ranges::any_of(b.terms, [&](const QuasiTerm& other) {
            return term.coefficient == other.coefficient && same_atom(term.atom, other.atom);
        });
    });
}

bool is_indirect(const QuasiAffine& form) {
    return std::ranges::any_of(form.terms, [](const QuasiTerm& term) {
        return term.atom.kind == Kind::kRead || (term.atom.inner && is_indirect(*term.atom.inner));
    });
}

std::vector<int> iterators_in(const QuasiAffine& form) {
    std::vector<int> found;
    collect_iterators(form, found);
    std::ranges::sort(found);
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

QuasiAffine quasi_affine(const ExprPtr& component, std::span<const int64_t> dims,
                         std::span<const int64_t> extents, const std::string& where) {
    QuasiAffine form = Builder(dims, extents, where).build(component);
    enclosing_range(form, extents, where);  // no value in the box exceeds 64 bits, nor does a partial sum
    return form;
}

int64_t evaluate(const QuasiAffine& form, std::span<const int64_t> iterators) {
    int64_t value = form.constant;
    for (const QuasiTerm& term : form.terms) value += term.coefficient * value_of(term.atom, iterators);
    return value;
}

std::optional<Period> period(const QuasiAffine& form, int iterator) {
    Period whole;
    for (const QuasiTerm& term : form.terms) {
        const std::optional<Period> part = period(term.atom, iterator);
        if (!part) return std::nullopt;
        const int64_t common = std::gcd(whole.steps, part->steps);
        const std::optional<int64_t> steps = product(whole.steps / common, part->steps);
        const std::optional<int64_t> before = product(whole.shift, part->steps / common);
        const std::optional<int64_t> rate = product(term.coefficient, part->shift);
        const std::optional<int64_t> added = rate ? product(*rate, whole.steps / common) : std::nullopt;
        if (!steps || !before || !added || __builtin_add_overflow(*before, *added, &whole.shift))
            return std::nullopt;
        whole.steps = *steps;
    }
    return whole;
}

}  // namespace tessera
