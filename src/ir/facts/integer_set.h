#pragma once

#include <vector>

#include "ir/facts/bound_definition.h"

/// Sets of integers as sorted, disjoint, not touching half-open ranges, or as multiples of a stride in such
/// ranges.
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
    int64_t min() const { return stride_ * ranges_.front().first + residue_; }      ///< @pre !empty()
    int64_t max() const { return stride_ * (ranges_.back().last - 1) + residue_; }  ///< @pre !empty()
    int64_t stride() const { return stride_; }
    /// The v of the elements stride * v + residue, residue in [0, stride).
    const std::vector<Range>& ranges() const { return ranges_; }

    /// {stride * x + offset : x in set}. @pre the set has stride 1
    IntegerSet strided(int64_t stride, int64_t offset) const;
    /// The set with its elements renamed: sorted by their residue by `stride`, then by their quotient. Sets
    /// of many strides that divide this one all become few ranges, and the same elements get the same name.
    IntegerSet by_residue(int64_t stride) const;

    IntegerSet shifted(int64_t by) const;
    IntegerSet clipped(Range to) const;
    auto operator<=>(const IntegerSet&) const = default;

private:
    int64_t stride_ = 1;
    int64_t residue_ = 0;
    std::vector<Range> ranges_;
};

/// @pre both have stride 1, as in all that follows
IntegerSet unite(const IntegerSet& a, const IntegerSet& b);

/// {x + y : x in a, y in b}. @throws Error beyond kLargestSum ranges.
IntegerSet sum(const IntegerSet& a, const IntegerSet& b);

/// {x + factor * i : x in set, i in [0, count)}, without listing i where the copies join.
IntegerSet sum_progression(const IntegerSet& set, int64_t factor, int64_t count);

/// Strides by which sets are compared: coprime ones beyond it are listed element by element instead.
inline constexpr int64_t kLargestStride = int64_t{1} << 13;

/// Ranges in a set, or pairs of them in a sum: 2^26 of them are 1 GiB.
inline constexpr int64_t kLargestSum = int64_t{1} << 26;

}  // namespace tessera::facts
