#include "ir/quasi_affine.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ir/box_walk.h"
#include "ir/fixtures.h"
#include "ir/integer_value.h"
#include "ir/random_parts.h"

namespace tessera {
namespace {

/// A component over the iterators a, b and c of these extents.
struct Component {
    ExprPtr expr;
    std::vector<int64_t> extents;
};

Component component(const std::string& text, std::vector<int64_t> extents) {
    const std::string op = "op f(a: 1, b: 1, c: 1)\nin X f32[" + text + "] of [1]\nout Y f32[a, b, c] = X\n";
    return {parse_definition(op, text).tensors[0].map[0], std::move(extents)};
}

IntegerInterval exact(const std::string& text, const std::vector<int64_t>& extents) {
    const Component c = component(text, extents);
    return exact_range(quasi_affine(c.expr, {}, extents, text), extents, text);
}

TEST(QuasiAffine, RangesOfFormsWithRepeatedIterators) {
    EXPECT_EQ(exact("a div 2 * 2 + 1 - a mod 2", {8, 1, 1}), (IntegerInterval{0, 7}));
    EXPECT_EQ(exact("a div 2 * 2 + 1 - a mod 2", {7, 1, 1}), (IntegerInterval{0, 7}));
    EXPECT_EQ(exact("a div 2 * 2 + a mod 2", {7, 1, 1}), (IntegerInterval{0, 6}));
    EXPECT_EQ(exact("a - a", {7, 1, 1}), (IntegerInterval{0, 0}));
    EXPECT_EQ(exact("a mod 4 - a", {7, 1, 1}), (IntegerInterval{-4, 0}));
    EXPECT_EQ(exact("(4 * a) mod 6", {9, 1, 1}), (IntegerInterval{0, 4}));
    EXPECT_EQ(exact("(4 * a + 1) mod 6", {2, 1, 1}), (IntegerInterval{1, 5}));
    EXPECT_EQ(exact("(32 * a + b) div 32", {5, 32, 1}), (IntegerInterval{0, 4}));
    EXPECT_EQ(exact("(32 * a + b) mod 32", {5, 16, 1}), (IntegerInterval{0, 15}));
    EXPECT_EQ(exact("2 * a + b - 1", {4, 3, 1}), (IntegerInterval{-1, 7}));
    EXPECT_EQ(exact("(a - 5) div 3", {4, 1, 1}), (IntegerInterval{-2, -1}));
    EXPECT_EQ(exact("a div -2", {4, 1, 1}), (IntegerInterval{-2, 0}));
    EXPECT_EQ(exact("a mod -3", {4, 1, 1}), (IntegerInterval{-2, 0}));
    EXPECT_EQ(exact("(a + 3) mod 6", {6, 1, 1}), (IntegerInterval{0, 5}));
}

std::string draw(Dice& dice, int depth) {
    if (depth == 0) return dice.pick<std::string>({"a", "b", "c", "a", "b", "3", "1"});
    const std::string x = draw(dice, depth - 1);
    const std::string y = draw(dice, static_cast<int>(dice.below(depth)));
    switch (dice.below(7)) {
        case 0:
            return fmt::format("({} + {})", x, y);
        case 1:
            return fmt::format("({} - {})", x, y);
        case 2:
            return fmt::format("({}) * {}", x, dice.between(-4, 5));
        case 3:
            return fmt::format("(({}) div {})", x, dice.between(1, 6));
        case 4:
            return fmt::format("(({}) mod {})", x, dice.between(1, 6));
        case 5:
            return fmt::format("(({}) mod {})", x, -dice.between(1, 5));
        default:
            return fmt::format("(({}) div 2 * 2 + 1 - ({}) mod 2)", x, x);
    }
}

// The normal form has the values of the tree, its range is that of an enumeration, and its periods hold.
TEST(QuasiAffine, RandomFormsAgreeWithEnumeration) {
    Dice dice(7);
    int with_repetition = 0;
    for (int n = 0; n < 3000; ++n) {
        const std::string text = draw(dice, static_cast<int>(dice.between(1, 4)));
        const std::vector<int64_t> extents = {dice.between(1, 40), dice.between(1, 9), dice.between(1, 5)};
        const Component c = component(text, extents);
        const QuasiAffine form = quasi_affine(c.expr, {}, extents, text);
        const IntegerInterval outer = enclosing_range(form, extents, text);
        IntegerInterval found{INT64_MAX, INT64_MIN};
        std::vector<int64_t> point;
        const BoxWalk walk(extents, {0, 1, 2});
        walk.start(point);
        do {
            const IntegerScope scope{.dims = {}, .iterators = point, .fill_position = 0, .read = nullptr};
            const int64_t value = integer_value(*c.expr, scope, text);
            ASSERT_EQ(evaluate(form, point), value) << text;
            found = {std::min(found.low, value), std::max(found.high, value)};
            for (int i = 0; i < 3; ++i) {
                const std::optional<Period> repeats = period(form, i);
                ASSERT_TRUE(repeats.has_value());
                std::vector<int64_t> later = point;
                later[static_cast<size_t>(i)] += repeats->steps;
                ASSERT_EQ(evaluate(form, later), value + repeats->shift) << text;
            }
        } while (walk.next(point));
        ASSERT_EQ(exact_range(form, extents, text), found)
            << text << " over " << fmt::format("{}", fmt::join(extents, ", "));
        ASSERT_LE(outer.low, found.low) << text;
        ASSERT_GE(outer.high, found.high) << text;
        with_repetition += outer != found;
    }
    EXPECT_GT(with_repetition, 100) << "interval arithmetic would do for these forms";
}

// The extents of a 32 B model, and far beyond.
TEST(QuasiAffine, RangesOfHugeBoxesTakeNoTime) {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(exact("a div 2 * 2 + 1 - a mod 2", {int64_t{1} << 40, 1, 1}),
              (IntegerInterval{0, (int64_t{1} << 40) - 1}));
    EXPECT_EQ(exact("(a + 76032) mod 152064", {152064, 1, 1}), (IntegerInterval{0, 152063}));
    EXPECT_EQ(exact("(5120 * a + b) div 128 + b mod 128", {4096, 5120, 1}),
              (IntegerInterval{0, 4095 * 40 + 39 + 127}));
    EXPECT_EQ(exact("(a + b) mod 97 + b div 3 - a mod 7", {1000000, 999999, 1}),
              (IntegerInterval{-6, 96 + 333332}));
    EXPECT_EQ(exact("a div 3 * 3 + a mod 3 - a", {int64_t{1} << 50, 1, 1}), (IntegerInterval{0, 0}));
    EXPECT_EQ(exact("(7 * a + 13 * b + c) mod 64 - a mod 16", {100000, 100000, 100000}).low, -15);
    EXPECT_LT(std::chrono::steady_clock::now() - start,
              std::chrono::seconds(10));  // instrumented builds are slow
}

TEST(QuasiAffine, WhatIsTooEntangledIsRefused) {
    EXPECT_EQ(error_of("op f(a: 100000, b: 100001)\nin X f32[(a + b) mod 99991 + a + (a + 7 * b) mod "
                       "99989]\nout Y f32[a, b] = X\ntest\n"),
              "case.op:2: the range of a map is too entangled to derive (state the shape by `of`, or use "
              "smaller divisors)");
}

}  // namespace
}  // namespace tessera
