#include "facts/linear.h"

#include <algorithm>
#include <set>

#include "facts/body_form.h"
#include "facts/depends.h"
#include "facts/executed.h"
#include "facts/folded_range.h"
#include "facts/image.h"
#include "facts/touched.h"

// A sum of values that are linear in X is linear in X; so is the post-expression's result, if each of its
// monomials holds the folded value or X once. Under max and prod that only holds where nothing is really
// folded: where all values that meet in one element are the same, or there is only one.

namespace tessera::facts {
namespace {

class LinearDerivation {
public:
    explicit LinearDerivation(const BoundDefinition& bound)
        : bound_(bound), definition_(bound.definition), executed_(bound, whole_box(bound)) {}

    std::optional<Signature> split(int tensor) {
        if (bound_.tensor(tensor).role != Role::kIn) return std::nullopt;
        if (definition_.where)
            for (const Read& read : reads_in({definition_.where}))
                if (read.tensor == tensor) return std::nullopt;  // other iterations on each device
        Signature signature(definition_.tensors.size());
        const Sbp partial{Sbp::Kind::kPartial, -1, Monoid::kSum};
        signature[static_cast<size_t>(tensor)] = partial;
        const std::vector<Dependence> results = dependence_of_results(tensor);
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
    std::vector<Dependence> dependence_of_results(int tensor) {
        if (definition_.monoid == Monoid::kSoftmaxSum) return of_weights_and_values(tensor);
        const int result = definition_.results()[0];
        const bool is_update = bound_.tensor(result).role == Role::kUpdate;
        if (executed_.none() && is_update) return {Dependence::kLinear};  // the previous contents alone
        bool is_zero = false;
        const Dependence body = executed_.none() ? Dependence::kNone : of_body(tensor, 0, is_zero);
        if (definition_.monoid == Monoid::kNone) {
            if (is_update && body == Dependence::kNone && !is_zero)
                return {all_written(result) ? Dependence::kNone : Dependence::kOther};
            return {is_update && is_zero && !all_written(result) ? Dependence::kLinear : body};
        }
        Dependence folded = Dependence::kOther;
        if (body == Dependence::kNone)
            folded = Dependence::kNone;
        else if (body == Dependence::kLinear &&
                 (definition_.monoid == Monoid::kSum || folds_one_value(result, tensor)))
            folded = Dependence::kLinear;
        if (is_update) {  // its previous contents are split too
            const bool keeps_linear =
                definition_.monoid == Monoid::kSum && (is_zero || body == Dependence::kLinear);
            return {keeps_linear ? Dependence::kLinear : Dependence::kOther};
        }
        if (!definition_.post) return {folded};
        return {of(tensor, definition_.post, 0.0, ExecutedIterations(without_predicate(), whole_box(bound_)),
                   folded)};
    }

    // M, L, A.
    std::vector<Dependence> of_weights_and_values(int tensor) {
        if (executed_.none()) return std::vector<Dependence>(3, Dependence::kNone);
        bool is_zero = false;
        const Dependence value = of_body(tensor, 1, is_zero);
        const Dependence score = of_body(tensor, 0, is_zero);
        const Dependence none = Dependence::kNone;
        if (score == none) return {none, none, value};
        // With one score for each element, M is that score and its weight is 1.
        if (score == Dependence::kLinear && folds_one_value(definition_.results()[0], tensor))
            return {score, none, value};
        return {Dependence::kOther, Dependence::kOther, Dependence::kOther};
    }

    Dependence of_body(int tensor, size_t part, bool& is_zero) {
        // Out of range, a score is -inf and a value 0.
        const double outside = part == 1 ? 0.0 : identity(definition_.monoid);
        return of(tensor, definition_.body[part], outside, executed_, Dependence::kOther, &is_zero);
    }

    Dependence of(int tensor, const ExprPtr& expr, double outside, const ExecutedIterations& iterations,
                  Dependence folded, bool* is_zero = nullptr) {
        BodyFormOptions options{tensor, std::nullopt, outside};
        if (folded == Dependence::kNone) options.folded = folded_values();
        const BodyForm form(bound_, expr, iterations, options);
        const Algebra& algebra = form.algebra;
        const Polynomial& p = form.value;
        if (is_zero) *is_zero = p.empty();
        if (&iterations == &executed_) changing_ = iterators_that_change(algebra, p);
        return dependence(algebra, p, [&](const AlgebraAtom& atom) {
            if (atom.kind == AlgebraAtom::Kind::kFolded) return folded;
            return atom.kind == AlgebraAtom::Kind::kRead && atom.index == tensor ? Dependence::kLinear
                                                                                 : Dependence::kNone;
        });
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

    int64_t elements_reached(int result) {
        const std::vector<ExprPtr>& map = bound_.tensor(result).map;
        ElementSet reached(static_cast<size_t>(bound_.rank(result)));
        for (const IterationBox& box : executed_.project(iterators_in(map)))
            add_image(reached, bound_, map, box, ranges_of(bound_.shape(result)));
        return reached.count();
    }

    bool all_written(int result) {
        int64_t all = 1;
        for (const int64_t extent : bound_.shape(result)) all *= extent;
        return executed_.is_exact() && elements_reached(result) == all;
    }

    // Whether all values that are folded into one element are the same value (one of them, under prod), and
    // no element keeps an identity that does not add up.
    bool folds_one_value(int result, int tensor) {
        const int64_t reached = elements_reached(result);
        if (definition_.monoid == Monoid::kProd)
            return executed_.count() == reached && all_written(result) && stays_inside(tensor);
        if (executed_.count() == reached) return true;
        // The result's iterators determine the element, and each value of them one value of what else changes
        // the body.
        std::vector<int> determining;
        for (size_t i = 0; i < definition_.iterators.size(); ++i)
            if (element_depends(bound_, bound_.tensor(result).map, static_cast<int>(i)))
                determining.push_back(static_cast<int>(i));
        if (executed_combinations(determining) != reached) return false;
        std::vector<int> all = determining;
        all.insert(all.end(), changing_.begin(), changing_.end());
        return executed_combinations(all) == reached;
    }

    int64_t executed_combinations(const std::vector<int>& iterators) const {
        int64_t combinations = 0;
        for (const IterationBox& box : executed_.project(iterators)) {
            int64_t volume = 1;
            for (const int i : std::set<int>(iterators.begin(), iterators.end()))
                volume *= box[static_cast<size_t>(i)].size();
            combinations += volume;
        }
        return combinations;
    }

    // Iterators with which the value of a normal form may change.
    std::vector<int> iterators_that_change(const Algebra& algebra, const Polynomial& p) const {
        std::vector<int> found;
        for (size_t i = 0; i < definition_.iterators.size(); ++i) {
            const int x = static_cast<int>(i);
            if (bound_.extents.iterators[i] > 1 && std::ranges::any_of(atoms_in(algebra, p), [&](int id) {
                    const AlgebraAtom& atom = algebra.atom(id);
                    if (atom.kind == AlgebraAtom::Kind::kIterator) return atom.index == x;
                    return atom.kind == AlgebraAtom::Kind::kRead &&
                           element_depends(bound_, atom.coordinates, x);
                }))
                found.push_back(x);
        }
        return found;
    }

    bool stays_inside(int tensor) {
        return std::ranges::all_of(reads_in({definition_.body[0]}), [&](const Read& read) {
            return read.tensor != tensor || stays_in_range(bound_, executed_, read.tensor, read.coordinates);
        });
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
    std::vector<int> changing_;  ///< iterators that change the body analysed last
    std::optional<BoundDefinition> unconditional_;
};

}  // namespace

std::vector<std::optional<Signature>> derive_linear(const BoundDefinition& bound) {
    const BoundDefinition any = for_all_contents(bound);
    LinearDerivation derivation(any);
    std::vector<std::optional<Signature>> facts;
    for (size_t t = 0; t < bound.definition.tensors.size(); ++t)
        facts.push_back(derivation.split(static_cast<int>(t)));
    return facts;
}

}  // namespace tessera::facts
