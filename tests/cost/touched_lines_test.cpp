#include "cost/touched_lines.h"

#include <gtest/gtest.h>

#include "ir/definition.h"
#include "ir/iterator_use.h"

namespace tessera::cost {
namespace {

constexpr int64_t kLineBytes = 64;

/// The lines of X in a product of these iterators and maps, F32.
std::optional<TouchedLines> lines(const std::string& iterators, const std::string& map,
                                  const std::vector<int64_t>& extents, const std::vector<int64_t>& shape,
                                  const Layout& layout = {}) {
    const Definition d =
        parse_definition("op p(" + iterators + ")\nin X f32[" + map + "]\nout Y f32[x] = sum(X)\n", "test");
    return TouchedLines::of(accesses(d, 0).front(), {}, extents, shape, layout, 4);
}

TEST(TouchedLines, NeighboursOfTheLastAxisShareThem) {
    const auto rows = lines("x: 100, k*: 64", "x, k", {100, 64}, {100, 64});
    EXPECT_EQ(rows->bytes({{1, 64}}, kLineBytes), 256);
    EXPECT_EQ(rows->bytes({{12, 32}}, kLineBytes), 12 * 128);
    EXPECT_EQ(rows->bytes({{12, 64}}, kLineBytes), 12 * 256) << "whole rows follow each other";
    EXPECT_EQ(rows->bytes({{12, 1}}, kLineBytes), 12 * kLineBytes);
    EXPECT_EQ(rows->bytes({{1, 1}}, kLineBytes), kLineBytes);
}

TEST(TouchedLines, AWindowTouchesAnElementOnce) {
    const auto image = lines("x: 56, k*: 3, c*: 8", "c, x + k", {56, 3, 8}, {8, 58});
    EXPECT_EQ(image->bytes({{28, 3, 1}}, kLineBytes), 4 * 30);
    EXPECT_EQ(image->bytes({{56, 3, 8}}, kLineBytes), 4 * 58 * 8);
    EXPECT_EQ(image->bytes({{1, 1, 8}}, kLineBytes), kLineBytes * 8) << "a line of each channel";
    const auto steps = lines("x: 28, k*: 3, c*: 8", "c, 2 * x + k, c", {28, 3, 8}, {8, 58, 8});
    EXPECT_EQ(steps->bytes({{28, 1, 1}}, kLineBytes), 27 * 64 + 4) << "a line each";
    EXPECT_EQ(steps->bytes({{28, 3, 1}}, kLineBytes), 56 * 32 + 4) << "two share one";
}

/// Weights of a window: 24 channels from 32, at one of 3 positions.
TEST(TouchedLines, AreThoseOfTheLayout) {
    const std::string iterators = "x: 24, c*: 32, k*: 3";
    const auto of = [&](const Layout& layout) {
        return lines(iterators, "x, c, k", {24, 32, 3}, {24, 32, 3}, layout)
            ->bytes({{12, 32, 1}}, kLineBytes);
    };
    EXPECT_EQ(of({}), 12 * (31 * 12 + 4)) << "every third number of a row";
    EXPECT_EQ(of({.order = {0, 2, 1}, .lanes = {}}), 12 * 128);
    EXPECT_EQ(of({.order = {}, .lanes = {{2, 16}}}), 12 * (31 * kLineBytes + 4)) << "a line for each channel";
    EXPECT_EQ(of({.order = {}, .lanes = {{0, 16}}}), 32 * kLineBytes) << "twelve of sixteen lanes";
}

TEST(TouchedLines, OtherMapsHaveNone) {
    EXPECT_FALSE(lines("x: 64, k*: 3", "x div 2, k", {64, 3}, {32, 3}));
}

}  // namespace
}  // namespace tessera::cost
