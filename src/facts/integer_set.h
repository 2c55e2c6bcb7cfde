#pragma once

#include <vector>

#include "facts/bound_definition.h"

/// Sets of integers as sorted, disjoint, not touching half-open ranges.
namespace tessera::facts {

class IntegerSet {
public:
    IntegerSet() = default;
    explicit IntegerSet(Range range);
    /// Values in any order, repetitions allowed.
    static IntegerSet of_values(std::vector<int64_t> values);
    /// Ranges in any order, overlaps allowed.
    static IntegerSet of_ranges(std::vector<Range> ranges);

    bool empty() const { return ranges_.empty(); }
    int64_t size() const;
    int64_t min() const { return ranges_.front().first; }      ///< @pre !empty()
    int64_t max() const { return ranges_.back().last - 1; }    ///< @pre !empty()
    const std::vector<Range>& ranges() const { return ranges_; }

    IntegerSet shifted(int64_t by) const;
    IntegerSet clipped(Range to) const;
    auto operator<=>(const IntegerSet&) const = default;

private:
    std::vector<Range> ranges_;
};

IntegerSet unite(const IntegerSet& a, const IntegerSet& b);

/// {x + y : x in a, y in b}. @throws Error beyond kLargestSum ranges.
IntegerSet sum(const IntegerSet& a, const IntegerSet& b);

/// {x + factor * i : x in set, i in [0, count)}, without listing i where the copies join.
IntegerSet sum_progression(const IntegerSet& set, int64_t factor, int64_t count);

/// Ranges in a set, or pairs of them in a sum: 2^26 of them are 1 GiB.
inline constexpr int64_t kLargestSum = int64_t{1} << 26;

}  // namespace tessera::facts
