#include "search/tiles/range_minimum.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace tessera::tiles {
namespace {

void expect_least(const std::vector<double>& values) {
    const RangeMinimum table(values);
    for (size_t first = 0; first < values.size(); ++first)
        for (size_t last = first; last < values.size(); ++last)
            ASSERT_EQ(table.least(first, last),
                      *std::min_element(values.begin() + static_cast<std::ptrdiff_t>(first),
                                        values.begin() + static_cast<std::ptrdiff_t>(last) + 1))
                << first << " .. " << last << " of " << values.size();
}

TEST(RangeMinimum, EqualsLookingAtAll) {
    std::mt19937 random(1);
    for (const size_t size : {1, 2, 3, 7, 15, 16, 17, 31, 32, 33, 50, 100, 161}) {
        std::vector<double> values;
        for (size_t i = 0; i < size; ++i) values.push_back(static_cast<double>(random() % 20));
        expect_least(values);
        std::sort(values.begin(), values.end());
        expect_least(values);
        std::reverse(values.begin(), values.end());
        expect_least(values);
    }
}

TEST(RangeMinimum, KnowsTheDirection) {
    EXPECT_TRUE(RangeMinimum({1, 1, 2}).is_rising());
    EXPECT_TRUE(RangeMinimum({2, 1, 1}).is_falling());
    EXPECT_FALSE(RangeMinimum({1, 3, 2}).is_rising());
    EXPECT_FALSE(RangeMinimum({1, 3, 2}).is_falling());
    EXPECT_EQ(RangeMinimum({1, 3, 2}).at(1), 3);
}

}  // namespace
}  // namespace tessera::tiles
