#include "ir/facts/integer_set.h"

#include <random>
#include <set>

#include <gtest/gtest.h>

namespace tessera::facts {
namespace {

std::set<int64_t> listed(const IntegerSet& set) {
    std::set<int64_t> found;
    if (set.empty()) return found;
    for (const Range& range : set.ranges())
        for (int64_t v = range.first; v < range.last; ++v)
            found.insert(set.stride() * (v - set.ranges()[0].first) + set.min());
    return found;
}

std::set<int64_t> values(std::mt19937& random, int count) {
    std::set<int64_t> found;
    for (int i = 0; i < count; ++i) found.insert(static_cast<int64_t>(random() % 40) - 12);
    return found;
}

IntegerSet of(const std::set<int64_t>& values) {
    return IntegerSet::of_values({values.begin(), values.end()});
}

TEST(IntegerSet, IsWhatItsElementsAre) {
    std::mt19937 random(1);
    for (int round = 0; round < 300; ++round) {
        const auto a = values(random, 1 + static_cast<int>(random() % 9));
        const auto b = values(random, 1 + static_cast<int>(random() % 9));
        const auto factor = static_cast<int64_t>(random() % 11) - 5;
        const auto count = static_cast<int64_t>(random() % 9) + 1;
        std::set<int64_t> both = a;
        both.insert(b.begin(), b.end());
        EXPECT_EQ(listed(unite(of(a), of(b))), both);
        std::set<int64_t> sums;
        std::set<int64_t> steps;
        for (const int64_t x : a) {
            for (const int64_t y : b) sums.insert(x + y);
            for (int64_t i = 0; i < count; ++i) steps.insert(x + factor * i);
        }
        EXPECT_EQ(listed(sum(of(a), of(b))), sums);
        EXPECT_EQ(listed(sum_progression(of(a), factor, count)), steps);
        EXPECT_EQ(of(a).size(), static_cast<int64_t>(a.size()));
        EXPECT_EQ(of(a).min(), *a.begin());
        EXPECT_EQ(of(a).max(), *a.rbegin());
    }
}

TEST(IntegerSet, StridesKeepTheirElements) {
    std::mt19937 random(2);
    for (int round = 0; round < 300; ++round) {
        const auto a = values(random, 1 + static_cast<int>(random() % 9));
        const auto stride = static_cast<int64_t>(random() % 5) + 1;
        const auto offset = static_cast<int64_t>(random() % 21) - 10;
        const auto low = static_cast<int64_t>(random() % 60) - 40;
        std::set<int64_t> want;
        std::set<int64_t> clipped;
        for (const int64_t x : a) {
            want.insert(stride * x + offset);
            if (stride * x + offset >= low && stride * x + offset < low + 25)
                clipped.insert(stride * x + offset);
        }
        const IntegerSet strided = of(a).strided(stride, offset);
        EXPECT_EQ(listed(strided), want);
        EXPECT_EQ(listed(strided.clipped({low, low + 25})), clipped);
        EXPECT_EQ(listed(strided.shifted(-7).shifted(7)), want);
        // Renamed by a common stride, equal elements are equal and others are not.
        EXPECT_EQ(strided.by_residue(60), of(want).by_residue(60));
        EXPECT_EQ(strided.by_residue(60).size(), static_cast<int64_t>(want.size()));
    }
}

}  // namespace
}  // namespace tessera::facts
