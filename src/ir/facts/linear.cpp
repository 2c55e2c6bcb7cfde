#include "ir/facts/linear.h"

#include <algorithm>
#include <cmath>

#include "ir/facts/body_form.h"
#include "ir/facts/contributions.h"
#include "ir/facts/folded_range.h"

// A sum of values that are linear in X is linear in X; so is the post-expression's result, if each of its
// monomials holds the folded value or X once. Under max and prod that holds only where nothing is really
// folded: where all values that meet in one element are the same, or there is only one. Out-of-range values
// are the identity or NaN, decided case by case. Elements that are never finite add up, whatever the parts
// give: only finite elements can fail to.

namespace tessera::facts {
namespace {

bool is_none(const Contribution& c) {
    return c.dependence == Dependence::kNone;
}

bool is_linear(const Contribution& c) {
    return c.is_zero || c.dependence == Dependence::kLinear;
}

// kNone if all values are the same on both devices, kLinear if all add up.
Dependence together(const std::vector<Contribution>& values) {
    if (std::ranges::all_of(values, is_none)) return Dependence::kNone;
    return std::ranges::all_of(values, is_linear) ? Dependence::kLinear : Dependence::kOther;
}

/// The elements of a result that the contributions reach.
class Reached {
public:
    Reached(const BoundDefinition& bound, int result)
        : bound_(bound), result_(result), elements_(static_cast<size_t>(bound.rank(result))) {}

    void add(const Contribution& c) { add_reached(elements_, c.part->bound, c.part->executed, result_); }
    int64_t count() const { return elements_.count(); }
    bool holds(const Contribution& c) const {
        Reached with = *this;
        with.add(c);
        return with.count() == count();
    }
    bool holds_all() const {
        int64_t all = 1;
        for (const int64_t extent : bound_.shape(result_)) all *= extent;
        return count() == all;
    }

private:
    const BoundDefinition& bound_;
    int result_;
    ElementSet elements_;
};

/// The values folded under max, min or the score's maximum.
class Extremum {
public:
    Extremum(const BoundDefinition& bound, int result, const std::vector<Contribution>& all)
        : bound_(bound), result_(result), lost_(bound, result) {
        Reached never_numbers(bound, result);
        Reached lost_to_same(bound, result);
        for (const Contribution& c : all) {
            if (c.outcome != Outcome::kAbsorbing || !c.part->executed.is_exact()) continue;
            lost_.add(c);
            if (is_none(c)) lost_to_same.add(c);
            if (c.is_nan) never_numbers.add(c);
        }
        for (const Contribution& c : all) {
            if (c.outcome == Outcome::kIdentity) continue;
            const bool is_usual = c.outcome == Outcome::kUsual;
            same_ = same_ && (is_none(c) || never_numbers.holds(c) || (is_usual && lost_to_same.holds(c)));
            if (lost_.holds(c)) continue;
            if (is_usual) finite_.push_back(c);
            if (!is_usual && !is_none(c)) unsure_.push_back(c);
        }
    }

    bool loses_all() const { return lost_.holds_all(); }
    /// Values that may reach a finite element; all others fold the identity or leave their elements infinite
    /// or NaN.
    const std::vector<Contribution>& finite() const { return finite_; }
    /// Both devices have the same result.
    bool is_same() const { return same_; }
    /// Finite elements are the same on both devices.
    bool finite_is_same() const { return std::ranges::all_of(finite_, is_none) && !is_unsure(); }
    /// No element is finite, except by its previous contents.
    bool only_keeps() const { return finite_.empty() && unsure_.empty(); }

    /// Every finite element is one value, of which the parts add up.
    bool adds() const {
        int64_t reached = 0;
        Reached any(bound_, result_);
        for (const Contribution& c : finite_) {
            if (!is_linear(c) || !folds_one_value(c, result_)) return false;
            Reached alone(bound_, result_);
            alone.add(c);
            any.add(c);
            reached += alone.count();
        }
        return any.count() == reached && !is_unsure();
    }

private:
    // True if an element may be a number in the whole and not in a part.
    bool is_unsure() const {
        Reached finite(bound_, result_);
        for (const Contribution& c : finite_) finite.add(c);
        return std::ranges::any_of(unsure_, [&](const Contribution& c) {
            Reached alone(bound_, result_);
            alone.add(c);
            Reached either = finite;
            either.add(c);
            return either.count() != finite.count() + alone.count();
        });
    }

    const BoundDefinition& bound_;
    int result_;
    Reached lost_;  ///< elements that are never finite
    bool same_ = true;
    std::vector<Contribution> finite_;
    std::vector<Contribution> unsure_;  ///< no numbers or the identity, by what the tensor holds
};

class LinearDerivation {
public:
    explicit LinearDerivation(const BoundDefinition& bound)
        : bound_(bound),
          definition_(bound.definition),
          executed_(bound, whole_box(bound)),
          cases_(iteration_cases(bound, definition_.body)) {
        if (!executed_.none()) whole_.push_back(std::make_unique<IterationCase>(bound));
    }

    std::optional<Signature> split(int tensor) {
        if (bound_.tensor(tensor).role != Role::kIn) return std::nullopt;
        if (definition_.where)
            for (const Read& read : reads_in({definition_.where}))
                if (read.tensor == tensor) return std::nullopt;  // other iterations on each device
        Signature signature(definition_.tensors.size());
        const Sbp partial{Sbp::Kind::kPartial, -1, Monoid::kSum};
        signature[static_cast<size_t>(tensor)] = partial;
        std::vector<Dependence> results = dependence_of_results(tensor, cases_);
        if (std::ranges::find(results, Dependence::kOther) != results.end() &&
            definition_.monoid != Monoid::kProd)
            results = dependence_of_results(tensor, whole_);
        bool any = false;
        for (size_t r = 0; r < results.size(); ++r) {
            if (results[r] == Dependence::kOther) return std::nullopt;
            if (results[r] == Dependence::kNone) continue;
            signature[static_cast<size_t>(definition_.results()[r])] = partial;
            any = true;
        }
        return any ? std::optional(signature) : std::nullopt;
    }

private:
    std::vector<Dependence> dependence_of_results(int tensor, const IterationCases& cases) {
        if (definition_.monoid == Monoid::kSoftmaxSum) return of_weights_and_values(tensor, cases);
        const std::vector<Contribution> values = of_body(tensor, cases, 0);
        const Dependence folded = of_fold(values);
        if (!definition_.post) return {folded};
        if (folded == Dependence::kLinear && is_never_finite(values)) return {folded};
        return {of_post(tensor, folded)};
    }

    std::vector<Contribution> of_body(int tensor, const IterationCases& cases, size_t part) const {
        const double start = identity(definition_.monoid);
        // Out of range, a score is -inf and a value 0.
        return contributions(bound_, cases, definition_.body[part], tensor, part == 1 ? 0.0 : start,
                             part == 1 ? 0.0 : start);
    }

    Dependence of_fold(const std::vector<Contribution>& values) const {
        switch (definition_.monoid) {
            case Monoid::kNone:
                if (is_update() && std::ranges::all_of(values, is_none) && all_written(values))
                    return Dependence::kNone;
                return is_update() && together(values) == Dependence::kNone ? of_kept(values)
                                                                            : together(values);
            case Monoid::kSum:
                return is_update() ? of_kept(values) : together(values);
            case Monoid::kProd:
                return of_product(values);
            default:
                return of_extremum(values);
        }
    }

    // With previous contents, which are split too.
    static Dependence of_kept(const std::vector<Contribution>& values) {
        return std::ranges::all_of(values, is_linear) ? Dependence::kLinear : Dependence::kOther;
    }

    Dependence of_product(const std::vector<Contribution>& values) const {
        const int result = definition_.results()[0];
        Reached zeros(bound_, result);
        for (const Contribution& c : values)
            if (c.is_zero && c.part->executed.is_exact()) zeros.add(c);
        if (zeros.holds_all()) return Dependence::kNone;
        std::vector<Contribution> factors;
        for (const Contribution& c : values)
            if (c.outcome != Outcome::kIdentity && !zeros.holds(c)) factors.push_back(c);
        if (is_update()) return factors.empty() ? Dependence::kLinear : Dependence::kOther;
        if (std::ranges::all_of(factors, is_none)) return Dependence::kNone;
        // One factor of each element adds up, and no element keeps the 1 from which it starts.
        int64_t linear = 0;
        Reached any = zeros;
        for (const Contribution& c : factors) {
            if (c.dependence == Dependence::kNone) continue;
            Reached alone = zeros;
            alone.add(c);
            const int64_t elements = alone.count() - zeros.count();
            if (c.dependence == Dependence::kOther || !c.part->executed.is_exact() ||
                c.part->executed.count() != elements)
                return Dependence::kOther;
            any.add(c);
            linear += elements;
        }
        return any.holds_all() && any.count() == zeros.count() + linear ? Dependence::kLinear
                                                                        : Dependence::kOther;
    }

    Dependence of_extremum(const std::vector<Contribution>& values) const {
        const Extremum extremum(bound_, definition_.results()[0], values);
        if (!is_update() || extremum.loses_all()) {
            if (extremum.is_same()) return Dependence::kNone;
            return extremum.adds() ? Dependence::kLinear : Dependence::kOther;
        }
        return extremum.only_keeps() ? Dependence::kLinear : Dependence::kOther;
    }

    // M, L, A. Where M is not finite, L and A are NaN.
    std::vector<Dependence> of_weights_and_values(int tensor, const IterationCases& cases) const {
        const Extremum maximum(bound_, definition_.results()[0], of_body(tensor, cases, 0));
        const Dependence none = Dependence::kNone;
        const Dependence other = Dependence::kOther;
        const bool adds = maximum.adds();
        const Dependence scores = maximum.is_same() ? none : adds ? Dependence::kLinear : other;
        // With one score for each element, M is that score and its weight is 1.
        if (!maximum.finite_is_same() && !adds) return {other, other, other};
        std::vector<Contribution> values;
        for (const Contribution& value : of_body(tensor, cases, 1))
            if (std::ranges::any_of(maximum.finite(),
                                    [&](const Contribution& score) { return score.part == value.part; }))
                values.push_back(value);
        return {scores, none, together(values)};
    }

    // True if no element of the result is ever finite.
    bool is_never_finite(const std::vector<Contribution>& values) {
        if (!std::isinf(identity(definition_.monoid))) return false;
        const Extremum extremum(bound_, definition_.results()[0], values);
        return extremum.only_keeps() &&
               stays_infinite(bound_, ExecutedIterations(without_predicate(), whole_box(bound_)));
    }

    Dependence of_post(int tensor, Dependence folded) {
        BodyFormOptions options{tensor, std::nullopt, 0};
        if (folded == Dependence::kNone) options.folded = folded_values();
        const BodyForm form(bound_, definition_.post,
                            ExecutedIterations(without_predicate(), whole_box(bound_)), options);
        const Dependence post = dependence(form.algebra, form.value, [&](const AlgebraAtom& atom) {
            if (atom.kind == AlgebraAtom::Kind::kFolded) return folded;
            return atom.kind == AlgebraAtom::Kind::kRead && atom.index == tensor ? Dependence::kLinear
                                                                                 : Dependence::kNone;
        });
        // Elements that the post-expression skips hold the monoid's start: 1 + 1 is not 1.
        const bool keeps_one = definition_.monoid == Monoid::kProd && post == Dependence::kLinear &&
                               !reaches_all(without_predicate());
        return keeps_one ? Dependence::kOther : post;
    }

    bool reaches_all(const BoundDefinition& unconditional) const {
        const int result = definition_.results()[0];
        ElementSet reached(static_cast<size_t>(bound_.rank(result)));
        add_reached(reached, unconditional, ExecutedIterations(unconditional, whole_box(unconditional)),
                    result);
        int64_t all = 1;
        for (const int64_t extent : bound_.shape(result)) all *= extent;
        return reached.count() == all;
    }

    // The range of folded values, including elements into which nothing is folded.
    ValueRange folded_values() {
        const double start = identity(definition_.monoid);
        ValueRange values{start, start, true};
        if (executed_.none()) return values;
        const ValueRange folded = folded_range(bound_, executed_);
        if (!definition_.where) return folded;
        return {std::min(values.low, folded.low), std::max(values.high, folded.high), folded.is_integer};
    }

    bool is_update() const { return bound_.tensor(definition_.results()[0]).role == Role::kUpdate; }

    bool all_written(const std::vector<Contribution>& values) const {
        Reached written(bound_, definition_.results()[0]);
        for (const Contribution& c : values) {
            if (!c.part->executed.is_exact()) return false;
            written.add(c);
        }
        return written.holds_all();
    }

    // Post-expressions are applied whether the predicate holds or not.
    const BoundDefinition& without_predicate() {
        if (!definition_.where) return bound_;
        if (!unconditional_) {
            unconditional_ = bound_;
            unconditional_->definition.where = nullptr;
        }
        return *unconditional_;
    }

    const BoundDefinition& bound_;
    const Definition& definition_;
    ExecutedIterations executed_;
    IterationCases cases_;
    IterationCases whole_;  ///< undivided
    std::optional<BoundDefinition> unconditional_;
};

}  // namespace

std::vector<std::optional<Signature>> derive_linear(const BoundDefinition& bound) {
    if (bound.definition.is_recurrence())
        return std::vector<std::optional<Signature>>(bound.definition.tensors.size());
    const BoundDefinition any = for_all_contents(bound);
    LinearDerivation derivation(any);
    std::vector<std::optional<Signature>> facts;
    for (size_t t = 0; t < bound.definition.tensors.size(); ++t)
        facts.push_back(derivation.split(static_cast<int>(t)));
    return facts;
}

}  // namespace tessera::facts
