#include "nest/nests/read_box.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "ir/facts/image.h"
#include "nest/nests/example.h"
#include "nest/nests/naive_walk.h"

namespace tessera::nests {
namespace {

/// One access of X over iterators y (9), x (12), s (16), i (3).
Kernel reading(const std::string& access) {
    return kernel_of("op r(y: 9, x: 12, s: 16, i*: 3)\nindex p i32[y]\nin X f32" + access +
                     "\nout Z f32[y, x, s] = sum(X * p)\ntest\nfill p[i] = (5 * i + 2) mod 7\n");
}

class ReadBoxes : public ::testing::TestWithParam<const char*> {};

// In a thousand ranges each, the box is that of the elements that enumeration finds.
TEST_P(ReadBoxes, HoldWhatEnumerationFinds) {
    const Kernel kernel = reading(GetParam());
    const Operator& op = kernel.operators[0];
    const size_t operand = *op.operand(kernel.find_tensor("X"));
    ReadBox::Counted counted;
    std::mt19937_64 random(7);
    for (int i = 0; i < 1000; ++i) {
        facts::IterationBox ranges;
        for (const int64_t extent : op.extents()) {
            const auto draw = [&](int64_t below) {
                return static_cast<int64_t>(random() % static_cast<uint64_t>(below));
            };
            const int64_t first = draw(extent);
            ranges.push_back({first, first + 1 + draw(extent - first)});
        }
        Box box;
        const bool is_found = op.operands[operand].reads.find(op.bound, ranges, counted, box);
        const auto want = naive_read_box(kernel, 0, kernel.find_tensor("X"), ranges);
        ASSERT_EQ(is_found, want.has_value()) << i;
        if (!is_found) continue;
        ASSERT_EQ(box, *want) << i;
    }
}

INSTANTIATE_TEST_SUITE_P(
    Of, ReadBoxes,
    ::testing::Values("[y, x, s]", "[y + i - 1, x] of [9, 12]", "[y + i - 1, x + i - 1] of [9, 12]",
                      "[2 * y + i, x] of [15, 10]", "[3 * y, x] of [20, 12]", "[s div 4, s mod 4] of [4, 4]",
                      "[s div 4, s mod 4 - 1] of [4, 4]", "[s mod 5, y] of [3, 9]",
                      "[15 - s, x div 3] of [10, 4]", "[s div 4 + y, s mod 4] of [9, 4]",
                      "[(x + 2 * y) div 3, x] of [5, 9]", "[x mod 5 + y, i] of [8, 3]",
                      "[p[y], y - 2, x] of [7, 5, 12]", "[7, x - 20] of [8, 12]",
                      "[5 * y + 2 * i, s] of [40, 16]", "[s mod 7 mod 3, 2 * (s div 2)] of [2, 16]",
                      "[s - 3 * (s div 2) + 8, y] of [20, 9]", "[s mod 4 - s div 4 + 3] of [7]",
                      "[s + s mod 3 - 2, s] of [15, 16]"));

TEST(ReadBoxes, CoverAllAccesses) {
    const Kernel kernel = kernel_of(
        "op u(t: 6, f: 20)\nin U f32[t, f] of [6, 40]\nout G f32[t, f] = U * U[t, f + 20] + U[t - 1, f]\n");
    const Operator& op = kernel.operators[0];
    ReadBox::Counted counted;
    Box box;
    ASSERT_TRUE(op.operands[0].reads.find(op.bound, {{2, 4}, {3, 5}}, counted, box));
    EXPECT_EQ(box, (Box{{1, 4}, {3, 25}}));
}

}  // namespace
}  // namespace tessera::nests
