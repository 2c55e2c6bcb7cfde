#include "ir/tensor_type.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace tessera {
namespace {

using Shape = std::vector<int64_t>;

/// Every coordinate of the shape, row-major.
std::vector<Shape> coordinates_of(const Shape& shape) {
    std::vector<Shape> all = {{}};
    for (const int64_t extent : shape) {
        std::vector<Shape> longer;
        for (const Shape& prefix : all)
            for (int64_t x = 0; x < extent; ++x) {
                longer.push_back(prefix);
                longer.back().push_back(x);
            }
        all = std::move(longer);
    }
    return all;
}

TEST(Layout, DefaultIsRowMajor) {
    const Shape shape = {3, 4, 5};
    int64_t expected = 0;
    for (const Shape& at : coordinates_of(shape)) EXPECT_EQ(offset_of({}, shape, at), expected++);
    EXPECT_TRUE(Layout{}.is_row_major());
    EXPECT_TRUE((Layout{.order = {0, 1, 2}}.is_row_major()));
    EXPECT_FALSE((Layout{.order = {1, 0}}.is_row_major()));
    EXPECT_FALSE((Layout{.lanes = {{0, 4}}}.is_row_major()));
}

TEST(Layout, OrderPermutesTheOuterAxes) {
    const Layout transposed{.order = {1, 0}};
    EXPECT_EQ(offset_of(transposed, {3, 5}, {2, 4}), 4 * 3 + 2);
    EXPECT_EQ(stored_elements(transposed, {3, 5}), 15);
}

// B of a matrix unit: <k16, n16, k2>. The element (k, n) is in lane group (k div 32, n div 16), there at
// (k div 2 mod 16, n mod 16, k mod 2).
TEST(Layout, AnAxisMayOccurTwiceInTheLanes) {
    const Layout tiles{.lanes = {{0, 16}, {1, 16}, {0, 2}}};
    const Shape shape = {96, 40};  // 3 x 3 groups, the last one of n is padded
    EXPECT_EQ(stored_elements(tiles, shape), 3 * 3 * 512);
    for (const Shape& at : coordinates_of(shape)) {
        const int64_t k = at[0], n = at[1];
        const int64_t group = k / 32 * 3 + n / 16;
        EXPECT_EQ(offset_of(tiles, shape, at), group * 512 + (k / 2 % 16 * 16 + n % 16) * 2 + k % 2);
    }
    const std::vector<PhysicalAxis> axes = physical_axes(tiles, shape);
    ASSERT_EQ(axes.size(), 5u);
    EXPECT_EQ(axes[0].divisor, 32);
    EXPECT_TRUE(axes[0].is_outer);
    EXPECT_EQ(axes[2].divisor, 2);
    EXPECT_EQ(axes[2].extent, 16);
    EXPECT_FALSE(axes[2].is_outer);
    EXPECT_EQ(axes[4].divisor, 1);
}

TEST(Layout, IllegalOnesSayWhy) {
    EXPECT_EQ(why_illegal({}, 2), "");
    EXPECT_EQ(why_illegal({.order = {1, 0}, .lanes = {{1, 16}}}, 2), "");
    EXPECT_EQ(why_illegal({.order = {0, 0}}, 2), "order [0, 0] is no permutation of the 2 axes");
    EXPECT_EQ(why_illegal({.order = {0}}, 2), "order [0] is no permutation of the 2 axes");
    EXPECT_EQ(why_illegal({.lanes = {{2, 4}}}, 2), "lane 2:4 names no axis of 2");
    EXPECT_EQ(why_illegal({.lanes = {{-1, 4}}}, 2), "lane -1:4 names no axis of 2");
    EXPECT_EQ(why_illegal({.lanes = {{0, 1}}}, 2), "lane 0:1 has a factor below 2");
    EXPECT_NE(why_illegal({.lanes = {{0, int64_t{1} << 40}, {0, int64_t{1} << 40}}}, 1), "");
}

TEST(Layout, PrintsAsDocumented) {
    EXPECT_EQ(print(Layout{}), "row-major");
    EXPECT_EQ(print(Layout{.order = {1, 0}}), "order [1, 0]");
    EXPECT_EQ(print(Layout{.order = {1, 0}, .lanes = {{1, 16}, {0, 4}}}), "order [1, 0] lanes <1:16, 0:4>");
}

struct Case {
    Shape shape;
    Layout layout;
};

Case random_case() {
    Case result;
    const auto rank = *rc::gen::inRange<size_t>(1, 4);
    for (size_t i = 0; i < rank; ++i) result.shape.push_back(*rc::gen::inRange<int64_t>(1, 8));
    result.layout.order.resize(rank);
    std::iota(result.layout.order.begin(), result.layout.order.end(), 0);
    for (size_t i = rank; i > 1; --i)
        std::swap(result.layout.order[i - 1], result.layout.order[*rc::gen::inRange<size_t>(0, i)]);
    const auto lanes = *rc::gen::inRange<size_t>(0, 4);
    for (size_t i = 0; i < lanes; ++i)
        result.layout.lanes.push_back(
            {*rc::gen::inRange<int>(0, static_cast<int>(rank)), *rc::gen::inRange<int64_t>(2, 5)});
    return result;
}

RC_GTEST_PROP(LayoutLaw, OffsetsAreDistinctAndWithinTheStored, ()) {
    const Case c = random_case();
    RC_ASSERT(why_illegal(c.layout, c.shape.size()) == "");
    const int64_t stored = stored_elements(c.layout, c.shape);
    std::set<int64_t> seen;
    for (const Shape& at : coordinates_of(c.shape)) {
        const int64_t offset = offset_of(c.layout, c.shape, at);
        RC_ASSERT(offset >= 0 && offset < stored);
        RC_ASSERT(seen.insert(offset).second);
    }
}

// The physical axes of an axis together count its coordinate for all lanes: they are the digits of a mixed
// radix.
RC_GTEST_PROP(LayoutLaw, PhysicalAxesOfAnAxisAreItsDigits, ()) {
    const Case c = random_case();
    const std::vector<PhysicalAxis> axes = physical_axes(c.layout, c.shape);
    for (const Shape& at : coordinates_of(c.shape)) {
        Shape rebuilt(at.size(), 0);
        for (const PhysicalAxis& axis : axes) {
            const int64_t digit = at[static_cast<size_t>(axis.axis)] / axis.divisor % axis.extent;
            rebuilt[static_cast<size_t>(axis.axis)] += digit * axis.divisor;
        }
        RC_ASSERT(rebuilt == at);
    }
}

}  // namespace
}  // namespace tessera
