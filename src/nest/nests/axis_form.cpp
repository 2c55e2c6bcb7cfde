#include "nest/nests/axis_form.h"

#include <algorithm>
#include <cstdlib>

#include "ir/facts/affine.h"
#include "support/error.h"

namespace tessera::nests {
namespace {

/// The end of a half-open range must fit 64 bits, too.
constexpr int64_t kLargestCoordinate = int64_t{1} << 62;

}  // namespace

AxisForm::AxisForm(const ExprPtr& component, const facts::BoundDefinition& bound)
    : AxisForm(quasi_affine(component, bound.extents.dims, bound.extents.iterators, bound.where), bound) {}

AxisForm::AxisForm(const QuasiAffine& form, const facts::BoundDefinition& bound) : constant_(form.constant) {
    // A value that fits over the whole box fits over every part of it.
    const IntegerInterval range = enclosing_range(form, bound.extents.iterators, bound.where);
    if (range.low < -kLargestCoordinate || range.high > kLargestCoordinate)
        throw Error(bound.where, bound.definition.name,
                    fmt::format("has a coordinate between {} and {}, expected less than 62 bits", range.low,
                                range.high));
    for (const QuasiTerm& term : form.terms) {
        const QuasiAtom& atom = term.atom;
        TESSERA_CHECK(atom.kind != QuasiAtom::Kind::kRead, "an indirect component has no intervals");
        Term own{term.coefficient, atom.kind, 0, atom.divisor, {}};
        uint64_t iterators = 0;
        if (atom.kind == QuasiAtom::Kind::kIterator) {
            own.iterator = static_cast<size_t>(atom.iterator);
            iterators = uint64_t{1} << atom.iterator;
        } else {
            own.inner.push_back(AxisForm(*atom.inner, bound));
            iterators = own.inner[0].iterators();
        }
        shares_iterators_ = shares_iterators_ || (iterators_ & iterators) != 0;
        iterators_ |= iterators;
        terms_.push_back(std::move(own));
    }
    std::ranges::sort(terms_, {}, [](const Term& term) { return std::abs(term.factor); });
}

AxisValues AxisForm::over(const facts::IterationBox& ranges) const {
    AxisValues sum{constant_, constant_ + 1, true, true};
    int varying = 0;
    for (const Term& term : terms_) {
        const AxisValues values = values_of(term, ranges);
        const int64_t low = values.first;
        const int64_t high = values.last - 1;
        const int64_t span = sum.last - sum.first;
        sum.first += term.factor * (term.factor > 0 ? low : high);
        sum.last += term.factor * (term.factor > 0 ? high : low);
        sum.is_exact = sum.is_exact && values.is_exact;
        if (low == high) continue;
        ++varying;
        // Steps of `factor` leave no gap if what was added before fills one.
        sum.is_contiguous = sum.is_contiguous && values.is_contiguous && std::abs(term.factor) <= span;
    }
    sum.is_exact = sum.is_exact && !(shares_iterators_ && varying > 1);
    return sum;
}

AxisValues AxisForm::values_of(const Term& term, const facts::IterationBox& ranges) {
    if (term.kind == QuasiAtom::Kind::kIterator) {
        const facts::Range range = ranges[term.iterator];
        return {range.first, range.last, true, true};
    }
    const AxisValues inner = term.inner[0].over(ranges);
    const int64_t d = term.divisor;
    const int64_t low = facts::floor_div(inner.first, d);
    const int64_t high = facts::floor_div(inner.last - 1, d);
    if (term.kind == QuasiAtom::Kind::kFloorDiv) return {low, high + 1, inner.is_exact, inner.is_contiguous};
    if (low == high)
        return {inner.first - low * d, inner.last - low * d, inner.is_exact, inner.is_contiguous};
    // Without gaps it passes the end of a period, where it takes the largest value and then 0.
    return {0, d, inner.is_exact && inner.is_contiguous, inner.last - inner.first >= d};
}

}  // namespace tessera::nests
