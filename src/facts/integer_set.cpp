#include "facts/integer_set.h"

#include <algorithm>

#include "support/error.h"

namespace tessera::facts {
namespace {

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

IntegerSet::IntegerSet(Range range) { append(ranges_, range); }

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

IntegerSet IntegerSet::shifted(int64_t by) const {
    IntegerSet set = *this;
    for (Range& range : set.ranges_) range = {range.first + by, range.last + by};
    return set;
}

IntegerSet IntegerSet::clipped(Range to) const {
    IntegerSet set;
    for (const Range& range : ranges_)
        append(set.ranges_, {std::max(range.first, to.first), std::min(range.last, to.last)});
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
        return IntegerSet({set.min() + std::min<int64_t>(reach, 0), set.max() + 1 + std::max<int64_t>(reach, 0)});
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
