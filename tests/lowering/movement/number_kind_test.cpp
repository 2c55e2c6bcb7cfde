#include "lowering/movement/number_kind.h"

#include <gtest/gtest.h>

namespace tessera::movement {
namespace {

ValuePtr integer(int64_t low, int64_t high, int64_t lane_stride = 0) {
    return make_value({Integer{Index::variable({"x", {low, high}}), lane_stride}});
}
ValuePtr call(Function function, std::vector<ValuePtr> arguments) {
    return apply_value(function, std::move(arguments));
}
ValuePtr load() {
    return make_value({Load{.from = {"b", Index(0)}, .guards = {}}});
}

TEST(NumberKind, IntegersAloneStayIntegers) {
    const ValuePtr x = integer(0, 9);
    EXPECT_EQ(number_kind(*call(Function::kMul, {x, number_value(3)})), NumberKind::kInteger);
    EXPECT_EQ(number_kind(*call(Function::kAbs, {x})), NumberKind::kInteger);
    EXPECT_EQ(number_kind(*call(Function::kMul, {x, number_value(0.5)})), NumberKind::kFloat);
    EXPECT_EQ(number_kind(*call(Function::kDivide, {x, number_value(3)})), NumberKind::kFloat);
    EXPECT_EQ(number_kind(*call(Function::kAdd, {x, load()})), NumberKind::kFloat);
    EXPECT_EQ(number_kind(*call(Function::kLess, {x, number_value(3)})), NumberKind::kMask);
    EXPECT_EQ(number_kind(*number_value(3)), NumberKind::kFloat);
    const ValuePtr is_small = call(Function::kLess, {load(), number_value(1)});
    EXPECT_EQ(number_kind(*call(Function::kSelect, {is_small, x, number_value(3)})), NumberKind::kInteger);
    EXPECT_EQ(number_kind(*call(Function::kSelect, {is_small, x, load()})), NumberKind::kFloat);
}

TEST(NumberKind, ADivisorThatMayBeZeroGivesFloats) {
    const ValuePtr x = integer(-9, 9);
    for (const Function function : {Function::kFloorDiv, Function::kMod}) {
        EXPECT_EQ(number_kind(*call(function, {x, number_value(3)})), NumberKind::kInteger);
        EXPECT_EQ(number_kind(*call(function, {x, number_value(0)})), NumberKind::kFloat);
        EXPECT_EQ(number_kind(*call(function, {number_value(7), integer(1, 9)})), NumberKind::kInteger);
        EXPECT_EQ(number_kind(*call(function, {number_value(7), x})), NumberKind::kFloat);
        EXPECT_EQ(number_kind(*call(function, {load(), number_value(3)})), NumberKind::kFloat);
    }
}

TEST(NumberKind, BoundsHoldEveryValue) {
    for (const auto& [function, arity] : std::vector<std::pair<Function, int>>{{Function::kAdd, 2},
                                                                               {Function::kSub, 2},
                                                                               {Function::kMul, 2},
                                                                               {Function::kMin, 2},
                                                                               {Function::kMax, 2},
                                                                               {Function::kNegate, 1},
                                                                               {Function::kAbs, 1}}) {
        for (const auto& [low, high] : {std::pair{-3, 5}, {2, 4}, {-7, -2}}) {
            std::vector<ValuePtr> arguments = {integer(low, high)};
            if (arity == 2) arguments.push_back(integer(-2, 3));
            const Bounds bounds = integer_bounds(*call(function, arguments));
            int64_t least = INT64_MAX, most = INT64_MIN;
            for (int64_t a = low; a <= high; ++a) {
                for (int64_t b = -2; b <= 3; ++b) {
                    const int64_t value = function == Function::kAdd      ? a + b
                                          : function == Function::kSub    ? a - b
                                          : function == Function::kMul    ? a * b
                                          : function == Function::kMin    ? std::min(a, b)
                                          : function == Function::kMax    ? std::max(a, b)
                                          : function == Function::kNegate ? -a
                                                                          : std::abs(a);
                    least = std::min(least, value);
                    most = std::max(most, value);
                }
            }
            EXPECT_EQ(bounds, (Bounds{least, most})) << name(function) << " of " << low << ".." << high;
        }
    }
}

TEST(NumberKind, SomeIntegersNeed64Bits) {
    const ValuePtr d = integer(0, 36, 1);
    EXPECT_TRUE(fits_32_bits(*d));
    EXPECT_FALSE(fits_32_bits(*call(Function::kMul, {d, number_value(100'000'000)})));
    EXPECT_FALSE(fits_32_bits(*number_value(3e9)));
    // Too large on the way.
    const ValuePtr large = call(Function::kMul, {d, number_value(3e9)});
    EXPECT_FALSE(fits_32_bits(*call(Function::kMod, {large, number_value(7)})));
    EXPECT_FALSE(may_exceed_64_bits(*large));
    EXPECT_TRUE(may_exceed_64_bits(*call(Function::kMul, {large, large})));
}

}  // namespace
}  // namespace tessera::movement
