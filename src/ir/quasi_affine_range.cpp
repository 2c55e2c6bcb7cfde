#include <algorithm>
#include <limits>
#include <numeric>

#include "ir/checked_arithmetic.h"
#include "ir/quasi_affine.h"

/// The exact range of a form over a box. Interval arithmetic is exact only where every iterator occurs once:
///
///     d div 2 * 2 + 1 - d mod 2, d < 8      intervals: [0, 7],  true: [0, 7]
///     d div 2 * 2 + d mod 2,     d < 7      intervals: [0, 7],  true: [0, 6]
///
/// 1. Terms without a common iterator are independent, and their ranges add up.
/// 2. A single `div` is monotone. A single `mod` of a progression that crosses a multiple takes its extremes
/// there.
/// 3. Otherwise every iterator x with f(x + p) = f(x) + s needs its first and its last period only, since f
/// is linear along each residue class. The rest is enumerated.
namespace tessera {
namespace {

using Kind = QuasiAtom::Kind;

/// About a second of work; maps of real operators need a few thousand.
constexpr int64_t kMostCandidates = int64_t{1} << 25;

/// Index operands have an integer type, i32 at most.
constexpr IntegerInterval kIndexValues = {std::numeric_limits<int32_t>::min(),
                                          std::numeric_limits<int32_t>::max()};

IntegerInterval scaled(IntegerInterval range, int64_t factor, const std::string& where) {
    const int64_t a = checked_mul(range.low, factor, where);
    const int64_t b = checked_mul(range.high, factor, where);
    return {std::min(a, b), std::max(a, b)};
}

IntegerInterval added(IntegerInterval a, IntegerInterval b, const std::string& where) {
    return {checked_add(a.low, b.low, where), checked_add(a.high, b.high, where)};
}

class ExactRange {
public:
    ExactRange(std::span<const int64_t> extents, const std::string& where)
        : extents_(extents), where_(where) {}

    IntegerInterval of(const QuasiAffine& form) const {
        IntegerInterval whole{form.constant, form.constant};
        for (const QuasiAffine& group : independent_groups(form)) {
            const bool is_single = group.terms.size() == 1;
            const IntegerInterval part =
                is_single ? scaled(of_atom(group.terms[0].atom), group.terms[0].coefficient, where_)
                          : by_candidates(group);
            whole = added(whole, part, where_);
        }
        return whole;
    }

private:
    int64_t extent(int iterator) const { return extents_[static_cast<size_t>(iterator)]; }

    /// Terms that are connected by common iterators, as forms without a constant.
    static std::vector<QuasiAffine> independent_groups(const QuasiAffine& form) {
        std::vector<std::pair<std::vector<int>, QuasiAffine>> groups;
        for (const QuasiTerm& term : form.terms) {
            std::pair<std::vector<int>, QuasiAffine> merged{iterators_in(QuasiAffine{0, {term}}),
                                                            {0, {term}}};
            std::erase_if(groups, [&](const auto& group) {
                const bool is_connected = std::ranges::any_of(group.first, [&](int iterator) {
                    return std::ranges::binary_search(merged.first, iterator);
                });
                if (!is_connected) return false;
                merged.first.insert(merged.first.end(), group.first.begin(), group.first.end());
                std::ranges::sort(merged.first);
                merged.second.terms.insert(merged.second.terms.end(), group.second.terms.begin(),
                                           group.second.terms.end());
                return true;
            });
            groups.push_back(std::move(merged));
        }
        std::vector<QuasiAffine> forms;
        for (auto& group : groups) forms.push_back(std::move(group.second));
        return forms;
    }

    IntegerInterval of_atom(const QuasiAtom& atom) const {
        switch (atom.kind) {
            case Kind::kIterator:
                return {0, extent(atom.iterator) - 1};
            case Kind::kFloorDiv: {
                const IntegerInterval inner = of(*atom.inner);
                return {checked_floor_div(inner.low, atom.divisor, where_),
                        checked_floor_div(inner.high, atom.divisor, where_)};
            }
            case Kind::kMod:
                return of_mod(atom);
            case Kind::kRead:
                break;
        }
        TESSERA_CHECK(atom.kind != Kind::kRead, "the value of an index operand is not known here");
        return {};
    }

    IntegerInterval of_mod(const QuasiAtom& atom) const {
        const int64_t step = progression_step(*atom.inner);
        if (step > 0 && atom.divisor % step == 0) {
            // The normal form leaves only a progression that crosses a multiple of the divisor.
            const IntegerInterval inner = of(*atom.inner);
            if (checked_floor_div(inner.low, atom.divisor, where_) !=
                checked_floor_div(inner.high, atom.divisor, where_)) {
                const int64_t least = checked_floor_mod(inner.low, step, where_);
                return {least, atom.divisor - step + least};
            }
        }
        return by_candidates(QuasiAffine{0, {{1, atom}}});
    }

    /// The step if the form takes every value of an arithmetic progression, else 0.
    int64_t progression_step(const QuasiAffine& form) const {
        std::vector<std::pair<int64_t, int64_t>> strides;  // stride, extent
        int64_t step = 0;
        for (const QuasiTerm& term : form.terms) {
            if (term.atom.kind != Kind::kIterator) return 0;
            const int64_t stride =
                term.coefficient < 0 ? checked_sub(0, term.coefficient, where_) : term.coefficient;
            strides.emplace_back(stride, extent(term.atom.iterator));
            step = std::gcd(step, stride);
        }
        std::ranges::sort(strides);
        int64_t reached = 0;  // all multiples of step up to here
        for (const auto& [stride, count] : strides) {
            if (stride > reached + step) return 0;
            reached = checked_add(reached, checked_mul(stride, count - 1, where_), where_);
        }
        return step;
    }

    IntegerInterval by_candidates(const QuasiAffine& form) const {
        const std::vector<int> iterators = iterators_in(form);
        std::vector<std::vector<int64_t>> candidates;
        int64_t total = 1;
        for (int iterator : iterators) {
            candidates.push_back(candidates_of(form, iterator));
            total = checked_mul(total, static_cast<int64_t>(candidates.back().size()), where_);
            if (total > kMostCandidates) refuse();
        }
        std::vector<int64_t> point(extents_.size(), 0);
        std::vector<size_t> position(iterators.size(), 0);
        IntegerInterval found{std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
        for (int64_t n = 0; n < total; ++n) {
            for (size_t i = 0; i < iterators.size(); ++i)
                point[static_cast<size_t>(iterators[i])] = candidates[i][position[i]];
            const int64_t value = evaluate(form, point);
            found = {std::min(found.low, value), std::max(found.high, value)};
            for (size_t i = 0; i < position.size() && ++position[i] == candidates[i].size(); ++i)
                position[i] = 0;
        }
        return found;
    }

    /// The first and the last period of the iterator.
    std::vector<int64_t> candidates_of(const QuasiAffine& form, int iterator) const {
        const int64_t count = extent(iterator);
        const std::optional<Period> repeats = period(form, iterator);
        const bool is_short = repeats && repeats->steps <= count / 2;
        const int64_t head = is_short ? repeats->steps : count;
        if (head > kMostCandidates) refuse();
        std::vector<int64_t> values(static_cast<size_t>(head));
        std::iota(values.begin(), values.end(), int64_t{0});
        for (int64_t x = std::max(head, count - head); x < count; ++x) values.push_back(x);
        return values;
    }

    [[noreturn]] void refuse() const {
        throw Error(where_, "", "the range of a map is too entangled to derive",
                    "state the shape by `of`, or use smaller divisors");
    }

    std::span<const int64_t> extents_;
    const std::string& where_;
};

IntegerInterval enclosing_range(const QuasiAtom& atom, std::span<const int64_t> extents,
                                const std::string& where) {
    if (atom.kind == Kind::kIterator) return {0, extents[static_cast<size_t>(atom.iterator)] - 1};
    if (atom.kind == Kind::kRead) return kIndexValues;
    const IntegerInterval inner = enclosing_range(*atom.inner, extents, where);
    const IntegerInterval quotient = {checked_floor_div(inner.low, atom.divisor, where),
                                      checked_floor_div(inner.high, atom.divisor, where)};
    if (atom.kind == Kind::kFloorDiv) return quotient;
    if (quotient.low != quotient.high) return {0, atom.divisor - 1};
    return {checked_floor_mod(inner.low, atom.divisor, where),
            checked_floor_mod(inner.high, atom.divisor, where)};
}

}  // namespace

IntegerInterval enclosing_range(const QuasiAffine& form, std::span<const int64_t> extents,
                                const std::string& where) {
    IntegerInterval whole{form.constant, form.constant};
    for (const QuasiTerm& term : form.terms) {
        whole =
            added(whole, scaled(enclosing_range(term.atom, extents, where), term.coefficient, where), where);
    }
    return whole;
}

IntegerInterval exact_range(const QuasiAffine& form, std::span<const int64_t> extents,
                            const std::string& where) {
    return ExactRange(extents, where).of(form);
}

}  // namespace tessera
