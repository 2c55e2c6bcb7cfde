#include "ir/facts/contributions.h"

#include <algorithm>
#include <cmath>

#include "ir/facts/body_form.h"
#include "ir/facts/depends.h"
#include "ir/facts/touched.h"

// max(X[i + 3] * 2)        out of range -inf * 2: the identity, nothing is folded
// max(X[i + 3] * W)        infinite or no number, by the sign of W
// max(X[i + 3] * W * W)    the identity, or no number if W is 0
// min(X[i + 3] * -2)       -inf, whatever else is folded

namespace tessera::facts {
namespace {

/// The finiteness of a value for all contents, by its expression alone. Reads that never reach an element are
/// infinite, others finite.
enum class Finiteness : uint8_t { kAny, kNever, kNan };

class FinitenessOf {
public:
    FinitenessOf(const BoundDefinition& bound, const ExecutedIterations& executed, double outside,
                 Finiteness folded)
        : bound_(bound), executed_(executed), outside_(outside), folded_(folded) {}

    Finiteness of(const ExprPtr& expr) const {
        if (std::holds_alternative<Infinity>(expr->node)) return Finiteness::kNever;
        if (std::holds_alternative<Folded>(expr->node)) return folded_;
        if (const auto* c = std::get_if<Cast>(&expr->node))
            return is_integer(c->to) ? Finiteness::kAny : of(c->argument);
        if (const auto* a = std::get_if<Apply>(&expr->node)) return of_call(*a);
        const auto* r = std::get_if<Read>(&expr->node);
        const bool leaves = r && std::isinf(outside_) && bound_.tensor(r->tensor).role != Role::kIndex &&
                            !reaches_anything(bound_, executed_, r->tensor, r->coordinates);
        return leaves ? Finiteness::kNever : Finiteness::kAny;
    }

private:
    Finiteness of_call(const Apply& call) const {
        if (is_comparison(call.function)) return Finiteness::kAny;
        std::vector<Finiteness> a;
        for (const ExprPtr& argument : call.arguments) a.push_back(of(argument));
        const auto is = [&](size_t i) { return a[i] != Finiteness::kAny; };
        const bool any_nan = std::ranges::find(a, Finiteness::kNan) != a.end();
        const auto never_if = [&](bool never) {
            return any_nan ? Finiteness::kNan : never ? Finiteness::kNever : Finiteness::kAny;
        };
        switch (call.function) {
            case Function::kAnd:
            case Function::kOr:
            case Function::kNot:
                return Finiteness::kAny;
            case Function::kSelect:
                return is(1) && is(2) ? Finiteness::kNever : Finiteness::kAny;
            case Function::kAdd:
            case Function::kSub:
            case Function::kMul:
                return never_if(is(0) || is(1));
            case Function::kMin:
            case Function::kMax:
                return never_if(is(0) && is(1));
            case Function::kFloorDiv:  // neither is defined for an infinite dividend
            case Function::kMod:
                return is(0) ? Finiteness::kNan : never_if(false);
            case Function::kDivide:
            case Function::kNegate:
            case Function::kAbs:
            case Function::kRound:
            case Function::kLog:
            case Function::kSqrt:
                return never_if(is(0));
            default:
                return never_if(false);
        }
    }

    const BoundDefinition& bound_;
    const ExecutedIterations& executed_;
    double outside_;
    Finiteness folded_;
};

// True if a choice is made by, or between, values that are not finite.
bool may_stray(const ExprPtr& expr, const FinitenessOf& finiteness) {
    bool found = false;
    walk(expr, [&](const Expr& node) {
        const auto* call = std::get_if<Apply>(&node.node);
        if (!call || call->function != Function::kSelect) return !found;
        for (const ExprPtr& argument : call->arguments)
            walk(argument, [&](const Expr& inner) {
                found = found || finiteness.of(std::make_shared<const Expr>(inner)) != Finiteness::kAny;
                return !found;
            });
        return false;
    });
    return found;
}

// Sets the outcome, and whether the value is the same for all contents. Normal forms take 0 * inf for 0: a
// finite range of a never finite value means NaN, unless a choice may have gone astray on the way.
void classify(Contribution& c, const ValueRange& values, Finiteness finiteness, bool strays, double start) {
    if (finiteness == Finiteness::kNan) {
        c.outcome = Outcome::kAbsorbing;
        c.is_nan = true;
        c.dependence = Dependence::kNone;
        return;
    }
    const bool never = finiteness == Finiteness::kNever;
    c.outcome = Outcome::kUsual;
    if (values.low == start && values.high == start && (std::isinf(start) || !never)) {
        c.outcome = Outcome::kIdentity;
        return;
    }
    if (!never) return;
    const bool may_start = values.low <= start && start <= values.high;
    c.outcome = may_start || strays ? Outcome::kNeverFinite : Outcome::kAbsorbing;
    if (c.outcome != Outcome::kAbsorbing) return;
    c.is_nan = std::isfinite(values.low) && std::isfinite(values.high);
    if (c.is_nan || values.low == values.high) c.dependence = Dependence::kNone;
}

// The infinite terms, beside which finite ones change nothing; all terms if none is infinite.
Polynomial deciding_terms(const Algebra& algebra, const Polynomial& p) {
    Polynomial infinite;
    for (const auto& [monomial, coefficient] : p) {
        const bool has_factor = std::ranges::any_of(monomial, [&](const auto& power) {
            return power.second > 0 && algebra.atom(power.first).kind == AlgebraAtom::Kind::kInfinity;
        });
        if (has_factor) {
            infinite.emplace(monomial, coefficient);
            continue;
        }
        for (const int id : atoms_in(algebra, {{monomial, coefficient}}))
            if (algebra.atom(id).kind == AlgebraAtom::Kind::kInfinity) return p;
    }
    return infinite.empty() ? p : infinite;
}

std::vector<int> iterators_that_change(const BoundDefinition& bound, const Algebra& algebra,
                                       const Polynomial& p) {
    std::vector<int> found;
    for (size_t i = 0; i < bound.definition.iterators.size(); ++i) {
        const int x = static_cast<int>(i);
        if (bound.extents.iterators[i] > 1 && std::ranges::any_of(atoms_in(algebra, p), [&](int id) {
                const AlgebraAtom& atom = algebra.atom(id);
                if (atom.kind == AlgebraAtom::Kind::kIterator) return atom.index == x;
                return atom.kind == AlgebraAtom::Kind::kRead && element_depends(bound, atom.coordinates, x);
            }))
            found.push_back(x);
    }
    return found;
}

}  // namespace

std::vector<Contribution> contributions(const BoundDefinition& bound, const IterationCases& cases,
                                        const ExprPtr& body, int tensor, double outside, double start) {
    std::vector<Contribution> found;
    for (const std::unique_ptr<IterationCase>& part : cases) {
        BodyFormOptions options{tensor, std::nullopt, outside};
        options.finite_reads = true;
        const BodyForm form(part->bound, body, part->executed, options);
        const FinitenessOf by_expression(part->bound, part->executed, outside, Finiteness::kAny);
        const Finiteness finiteness = by_expression.of(body);
        const bool strays = finiteness != Finiteness::kAny && may_stray(body, by_expression);
        const Dependence on_tensor =
            dependence(form.algebra, deciding_terms(form.algebra, form.value), [&](const AlgebraAtom& atom) {
                return atom.kind == AlgebraAtom::Kind::kRead && atom.index == tensor ? Dependence::kLinear
                                                                                     : Dependence::kNone;
            });
        Contribution c{part.get(), Outcome::kUsual,
                       on_tensor,  finiteness == Finiteness::kAny && form.value.empty(),
                       false,      iterators_that_change(bound, form.algebra, form.value)};
        classify(c, form.algebra.range_of(form.value), finiteness, strays, start);
        if (c.outcome == Outcome::kNeverFinite && tensor >= 0) {
            // The parts are arbitrary numbers, but the whole has the tensor's type.
            options.real_tensor = -1;
            const BodyForm whole(part->bound, body, part->executed, options);
            Contribution typed = c;
            classify(typed, whole.algebra.range_of(whole.value), finiteness, strays, start);
            if (typed.outcome == Outcome::kAbsorbing) c.outcome = Outcome::kAbsorbing;
        }
        found.push_back(std::move(c));
    }
    return found;
}

void add_reached(ElementSet& elements, const BoundDefinition& bound, const ExecutedIterations& executed,
                 int result) {
    if (executed.none()) return;
    const std::vector<ExprPtr>& map = bound.tensor(result).map;
    for (const IterationBox& box : executed.project(iterators_in(map)))
        add_image(elements, bound, map, box, ranges_of(bound.shape(result)));
}

bool folds_one_value(const Contribution& contribution, int result) {
    const IterationCase& part = *contribution.part;
    ElementSet reached(static_cast<size_t>(part.bound.rank(result)));
    add_reached(reached, part.bound, part.executed, result);
    const int64_t elements = reached.count();
    if (part.executed.count() == elements) return true;
    // Each element goes with one value of all iterators that change the body.
    std::vector<ExprPtr> joint = part.bound.tensor(result).map;
    std::vector<Range> within = ranges_of(part.bound.shape(result));
    for (const int x : contribution.changing) {
        joint.push_back(iterator_ref(x));
        within.push_back({0, part.bound.extents.iterators[static_cast<size_t>(x)]});
    }
    ElementSet values(joint.size());
    for (const IterationBox& box : part.executed.project(iterators_in(joint)))
        add_image(values, part.bound, joint, box, within);
    return values.count() == elements;
}

bool stays_infinite(const BoundDefinition& bound, const ExecutedIterations& iterations) {
    return FinitenessOf(bound, iterations, 0, Finiteness::kNever).of(bound.definition.post) !=
           Finiteness::kAny;
}

}  // namespace tessera::facts
