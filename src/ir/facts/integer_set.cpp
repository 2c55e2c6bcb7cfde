#include "ir/facts/integer_set.h"

#include <algorithm>

#include "support/error.h"

namespace tessera::facts {
namespace {

// Residues of renamed elements lie this far apart: beyond every quotient.
constexpr int64_t kResidueBlock = int64_t{1} << 48;

int64_t floor_quotient(int64_t a, int64_t b) {
    return a / b - (a % b < 0);
}

// Joins sorted ranges that overlap or touch.
void append(std::vector<Range>& to, Range next) {
    if (next.empty()) return;
    if (!to.empty() && next.first <= to.back().last)
        to.back().last = std::max(to.back().last, next.last);
    else
        to.push_back(next);
}

void check_size(int64_t ranges) {
    if (ranges > kLargestSum)
        throw Error("facts", "", fmt::format("the addresses of an access fall apart into {} ranges", ranges),
                    "give the definition smaller extents");
}

}  // namespace

IntegerSet::IntegerSet(Range range) {
    append(ranges_, range);
}

IntegerSet IntegerSet::of_values(std::vector<int64_t> values) {
    std::sort(values.begin(), values.end());
    IntegerSet set;
    for (const int64_t value : values) append(set.ranges_, {value, value + 1});
    return set;
}

IntegerSet IntegerSet::of_ranges(std::vector<Range> ranges) {
    std::sort(ranges.begin(), ranges.end());
    IntegerSet set;
    for (const Range& range : ranges) append(set.ranges_, range);
    return set;
}

int64_t IntegerSet::size() const {
    int64_t total = 0;
    for (const Range& range : ranges_) total += range.size();
    return total;
}

IntegerSet IntegerSet::strided(int64_t stride, int64_t offset) const {
    TESSERA_CHECK(stride_ == 1 && stride >= 1, "stride {} of a set of stride {}", stride, stride_);
    IntegerSet set = *this;
    if (size() == 1) return IntegerSet({stride * min() + offset, stride * min() + offset + 1});
    set.stride_ = stride;
    return set.shifted(offset);
}

IntegerSet IntegerSet::by_residue(int64_t stride) const {
    const int64_t parts = stride / stride_;
    TESSERA_CHECK(stride % stride_ == 0 && stride < kLargestStride, "stride {} by {}", stride_, stride);
    std::vector<Range> renamed;
    check_size(parts * static_cast<int64_t>(ranges_.size()));
    for (const Range& range : ranges_)
        for (int64_t part = 0; part < parts; ++part) {  // v = parts * quotient + part
            const int64_t residue = stride_ * part + residue_;
            const int64_t first = floor_quotient(range.first - part + parts - 1, parts);
            const int64_t last = floor_quotient(range.last - part + parts - 1, parts);
            renamed.push_back({residue * kResidueBlock + first, residue * kResidueBlock + last});
        }
    return of_ranges(std::move(renamed));
}

IntegerSet IntegerSet::shifted(int64_t by) const {
    IntegerSet set = *this;
    const int64_t moved = residue_ + by;
    const int64_t steps = floor_quotient(moved, stride_);
    set.residue_ = moved - steps * stride_;
    for (Range& range : set.ranges_) range = {range.first + steps, range.last + steps};
    return set;
}

IntegerSet IntegerSet::clipped(Range to) const {
    IntegerSet set;
    set.stride_ = stride_;
    set.residue_ = residue_;
    const Range within{floor_quotient(to.first - residue_ + stride_ - 1, stride_),
                       floor_quotient(to.last - residue_ + stride_ - 1, stride_)};
    for (const Range& range : ranges_)
        append(set.ranges_, {std::max(range.first, within.first), std::min(range.last, within.last)});
    if (set.ranges_.empty()) return {};
    return set;
}

IntegerSet unite(const IntegerSet& a, const IntegerSet& b) {
    std::vector<Range> merged(a.ranges().size() + b.ranges().size());
    std::merge(a.ranges().begin(), a.ranges().end(), b.ranges().begin(), b.ranges().end(), merged.begin());
    std::vector<Range> joined;
    for (const Range& range : merged) append(joined, range);
    return IntegerSet::of_ranges(std::move(joined));
}

IntegerSet sum(const IntegerSet& a, const IntegerSet& b) {
    const int64_t pairs = static_cast<int64_t>(a.ranges().size()) * static_cast<int64_t>(b.ranges().size());
    check_size(pairs);
    std::vector<Range> ranges;
    ranges.reserve(static_cast<size_t>(pairs));
    for (const Range& x : a.ranges())
        for (const Range& y : b.ranges()) ranges.push_back({x.first + y.first, x.last + y.last - 1});
    return IntegerSet::of_ranges(std::move(ranges));
}

IntegerSet sum_progression(const IntegerSet& set, int64_t factor, int64_t count) {
    if (set.empty() || count <= 0 || factor == 0) return count <= 0 ? IntegerSet{} : set;
    if (set.ranges().size() == 1 && set.size() >= std::abs(factor)) {  // the copies join
        const int64_t reach = factor * (count - 1);
        return IntegerSet(
            {set.min() + std::min<int64_t>(reach, 0), set.max() + 1 + std::max<int64_t>(reach, 0)});
    }
    // Doubling: copies 0 .. 2m-1 are copies 0 .. m-1 and those moved by m.
    IntegerSet all = set;
    int64_t have = 1;
    while (have < count) {
        check_size(2 * static_cast<int64_t>(all.ranges().size()));
        const int64_t more = std::min(have, count - have);
        all = unite(all, all.shifted(factor * more));
        have += more;
    }
    return all;
}

}  // namespace tessera::facts
