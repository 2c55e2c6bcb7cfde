#include "support/checked.h"

#include <array>
#include <limits>

#include <gtest/gtest.h>

namespace tessera {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr uint64_t kUnsignedMax = std::numeric_limits<uint64_t>::max();

TEST(Checked, AddsUpToTheLimit) {
    EXPECT_EQ(checked_add(kMax - 1, int64_t{1}), kMax);
    EXPECT_EQ(checked_add(kMax, int64_t{1}), std::nullopt);
    EXPECT_EQ(checked_add(kMin, int64_t{-1}), std::nullopt);
    EXPECT_EQ(checked_add(kUnsignedMax, uint64_t{1}), std::nullopt);
}

TEST(Checked, MultipliesUpToTheLimit) {
    EXPECT_EQ(checked_mul(int64_t{1} << 31, int64_t{1} << 31), int64_t{1} << 62);
    EXPECT_EQ(checked_mul(int64_t{1} << 32, int64_t{1} << 31), std::nullopt);
    EXPECT_EQ(checked_mul(uint64_t{1} << 32, uint64_t{1} << 31), uint64_t{1} << 63);
    EXPECT_EQ(checked_mul(kMin, int64_t{-1}), std::nullopt);
}

TEST(Checked, ProductOfNothingIsOne) {
    EXPECT_EQ(checked_product(std::span<const int64_t>()), 1);
}

TEST(Checked, ZeroExtentMakesTheProductZeroWhereverItStands) {
    const std::array<int64_t, 4> zero_last = {kMax, kMax, kMax, 0};
    const std::array<int64_t, 3> zero_first = {0, kMax, kMax};
    const std::array<int64_t, 3> none = {2, kMax, 1};
    EXPECT_EQ(checked_product(std::span<const int64_t>(zero_last)), 0);
    EXPECT_EQ(checked_product(std::span<const int64_t>(zero_first)), 0);
    EXPECT_EQ(checked_product(std::span<const int64_t>(none)), std::nullopt);
}

}  // namespace
}  // namespace tessera
