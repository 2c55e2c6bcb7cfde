#include "compiler/layout_copy.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "ir/element_bits.h"

namespace tessera::compiler {
namespace {

using Values = std::vector<uint64_t>;

/// The stream of values of any number of bits, bit by bit.
std::vector<std::byte> stream_of(const Values& values, int bits) {
    std::vector<std::byte> stream(stream_bytes(values.size(), bits));
    const auto width = static_cast<size_t>(bits);
    for (size_t j = 0; j < values.size() * width; ++j)
        stream[j / 8] |= static_cast<std::byte>((values[j / width] >> j % width & 1) << j % 8);
    return stream;
}

int64_t product(const std::vector<int64_t>& shape) {
    return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

/// Puts every element where the definition of layouts says.
Values placed(const Values& source, const std::vector<int64_t>& shape, const Layout& layout) {
    Values all(static_cast<size_t>(stored_elements(layout, shape)), 0);
    std::vector<int64_t> coordinates(shape.size(), 0);
    for (size_t i = 0; i < source.size(); ++i) {
        auto rest = static_cast<int64_t>(i);
        for (size_t axis = shape.size(); axis-- > 0; rest /= shape[axis])
            coordinates[axis] = rest % shape[axis];
        all[static_cast<size_t>(offset_of(layout, shape, coordinates))] = source[i];
    }
    return all;
}

struct Case {
    std::vector<int64_t> shape;
    Layout layout;
    int bits;
};

std::string text(const Case& c) {
    std::string text = print(c.layout) + ", " + std::to_string(c.bits) + " bits, of";
    for (const int64_t extent : c.shape) text += " " + std::to_string(extent);
    return text;
}

/// A case of any rank up to three. Half of the lanes divide their extents, as those of models do.
Case random_case(std::mt19937_64& random) {
    const auto below = [&](uint64_t bound) { return static_cast<int64_t>(random() % bound); };
    Case c{std::vector<int64_t>(random() % 4), {}, 0};
    for (int64_t& extent : c.shape) extent = 1 + below(random() % 8 == 0 ? 40 : 6);
    if (random() % 2 == 0) {
        for (size_t axis = 0; axis < c.shape.size(); ++axis) c.layout.order.push_back(static_cast<int>(axis));
        std::shuffle(c.layout.order.begin(), c.layout.order.end(), random);
    }
    for (int64_t lanes = c.shape.empty() ? 0 : below(4); lanes > 0; --lanes) {
        const size_t axis = random() % c.shape.size();
        const int64_t factor = 2 + below(random() % 4 == 0 ? 17 : 4);
        c.layout.lanes.push_back({static_cast<int>(axis), factor});
        if (random() % 2 == 0 && product(c.shape) < 1000) c.shape[axis] *= factor;
    }
    c.bits = std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8, 16, 32, 64}[random() % 11];
    return c;
}

/// Elements that are not zero, which padding is.
Values random_values(const Case& c, std::mt19937_64& random) {
    Values values(static_cast<size_t>(product(c.shape)));
    for (uint64_t& value : values) {
        value = random() >> (64 - c.bits);
        if (value == 0) value = 1;
    }
    return values;
}

/// The same in groups of so many.
std::vector<std::byte> packed_in_groups(const LayoutCopy& copy, const std::vector<std::byte>& source,
                                        int64_t step) {
    std::vector<std::byte> packed;
    for (int64_t first = 0; first < copy.all().last; first += step) {
        const Groups groups{first, std::min(first + step, copy.all().last)};
        std::vector<std::byte> part(copy.packed_bytes(groups), std::byte{0xAA});
        const size_t before = copy.are_rows() ? copy.source_bytes({0, groups.first}) : 0;
        copy.pack(groups, std::span(source).subspan(before, copy.source_bytes(groups)), part);
        packed.insert(packed.end(), part.begin(), part.end());
    }
    return packed;
}

TEST(LayoutCopy, MovesEveryElementWhereTheLayoutSaysAndBack) {
    std::mt19937_64 random(1);
    int divided = 0;
    for (int trial = 0; trial < 2000; ++trial) {
        const Case c = random_case(random);
        const Values values = random_values(c, random);
        const std::vector<std::byte> source = stream_of(values, c.bits);
        const std::vector<std::byte> expected = stream_of(placed(values, c.shape, c.layout), c.bits);
        ASSERT_EQ(pack(source, c.shape, c.layout, c.bits), expected) << text(c);
        ASSERT_EQ(unpack(expected, c.shape, c.layout, c.bits), source) << text(c);
        const LayoutCopy copy(c.shape, c.layout, c.bits);
        if (copy.all().last <= copy.aligned_groups()) continue;
        ++divided;
        ASSERT_EQ(packed_in_groups(copy, source, copy.aligned_groups()), expected) << text(c);
    }
    EXPECT_GT(divided, 500);
}

TEST(LayoutCopy, RowsComeBackOutOfTheGroupsThatHoldThem) {
    const std::vector<int64_t> shape = {37, 12};
    const Layout layout{.order = {}, .lanes = {{0, 8}, {1, 4}}};
    Values values(37 * 12);
    std::iota(values.begin(), values.end(), 1);
    for (const int bits : {3, 4, 16}) {
        const LayoutCopy copy(shape, layout, bits);
        ASSERT_TRUE(copy.are_rows());
        const std::vector<std::byte> source = stream_of(values, bits);
        const std::vector<std::byte> packed = pack(source, shape, layout, bits);
        const Groups groups = copy.groups_with({10, 30});
        EXPECT_EQ(groups.first, 1);
        EXPECT_EQ(groups.last, 4);
        const Groups rows = copy.rows_of(groups);
        EXPECT_EQ(rows.first, 8);
        EXPECT_EQ(rows.last, 32);
        std::vector<std::byte> some(copy.source_bytes(groups));
        copy.unpack(
            groups,
            std::span(packed).subspan(copy.packed_bytes({0, groups.first}), copy.packed_bytes(groups)), some);
        const auto begin = source.begin() + static_cast<ptrdiff_t>(copy.source_bytes({0, groups.first}));
        EXPECT_EQ(some, std::vector(begin, begin + static_cast<ptrdiff_t>(some.size()))) << bits;
    }
}

TEST(LayoutCopy, LanesThatComeFirstAreNoRows) {
    EXPECT_FALSE(LayoutCopy({8, 6}, {.order = {1, 0}, .lanes = {}}, 8).are_rows());
    EXPECT_TRUE(LayoutCopy({8, 6}, {.order = {}, .lanes = {{1, 2}}}, 8).are_rows());
    EXPECT_TRUE(LayoutCopy({}, {}, 8).are_rows());
}

}  // namespace
}  // namespace tessera::compiler
