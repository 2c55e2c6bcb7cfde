#include "tessera/ntt/integers.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "ntt/buffers.h"
#include "tessera/ntt/mask.h"
#include "tessera/ntt/math.h"

namespace tessera::ntt {
namespace {

constexpr int L = 8;
constexpr float kInf = std::numeric_limits<float>::infinity();

Integers<L> some(int64_t seed) {
    Integers<L> v;
    for (int i = 0; i < L; ++i) v.lanes[i] = (i - 3) * 3'000'000'019 * (seed + 1) + seed;
    return v;
}

int64_t floored(int64_t a, int64_t b) {
    return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

TEST(Integers, AreExactIn64Bits) {
    for (const int64_t seed : {0, 1, 7}) {
        const Integers<L> a = some(seed), b = some(seed + 3);
        for (int i = 0; i < L; ++i) {
            const int64_t p = a.lanes[i], q = b.lanes[i];
            EXPECT_EQ((a + b).lanes[i], p + q);
            EXPECT_EQ((a - 5).lanes[i], p - 5);
            EXPECT_EQ((3 * a).lanes[i], 3 * p);
            EXPECT_EQ((-a).lanes[i], -p);
            EXPECT_EQ(abs(a).lanes[i], std::abs(p));
            EXPECT_EQ(min(a, b).lanes[i], std::min(p, q));
            EXPECT_EQ(max(a, int64_t{7}).lanes[i], std::max<int64_t>(p, 7));
            EXPECT_EQ((a < b)[i], p < q);
            EXPECT_EQ((a <= 3'000'000'000)[i], p <= 3'000'000'000);
            EXPECT_EQ((a > b)[i], p > q);
            EXPECT_EQ((a >= b)[i], p >= q);
            EXPECT_EQ((a == a)[i], true);
            EXPECT_EQ((a != b)[i], p != q);
            EXPECT_EQ(select(a < b, a, 9).lanes[i], p < q ? p : 9);
            EXPECT_EQ(convert<float>(a)[i], static_cast<float>(p));
            EXPECT_EQ(saturated(a)[i], std::min<int64_t>(std::max<int64_t>(p, INT32_MIN), INT32_MAX));
            EXPECT_EQ(saturated(p), saturated(a)[i]);
            for (const int64_t divisor : {int64_t{7}, int64_t{-7}, int64_t{5'000'000'000}}) {
                EXPECT_EQ(floor_div(a, divisor).lanes[i], floored(p, divisor));
                EXPECT_EQ(floor_mod(a, divisor).lanes[i], p - floored(p, divisor) * divisor);
                EXPECT_EQ(float_floor_div(a, divisor)[i], static_cast<float>(floored(p, divisor)));
            }
        }
    }
    EXPECT_EQ(count_from<L>(5, -3'000'000'000).lanes[7], 5 - 21'000'000'000);
}

TEST(Integers, DivideByZeroAsFloatsDo) {
    const Integers<L> a = some(0);
    const auto quotient = float_floor_div(a, 0), rest = float_floor_mod(a, 0);
    for (int i = 0; i < L; ++i) {
        const float sign = a.lanes[i] < 0 ? -kInf : kInf;
        EXPECT_TRUE(same(quotient[i], a.lanes[i] == 0 ? std::nanf("") : sign));
        EXPECT_TRUE(std::isnan(rest[i]));
    }
    EXPECT_EQ(float_floor_div(int64_t{-7}, int64_t{2}), -4.0f);
    EXPECT_EQ(float_floor_mod(int64_t{-7}, int64_t{2}), 1.0f);
}

// The formulas of the notation's interpreter, in double.
float reference_rest(float a, float b) {
    const double rest = std::fmod(double{a}, double{b});
    if (rest == 0) return std::copysign(0.0f, b);
    return static_cast<float>((b < 0) != (rest < 0) ? rest + b : rest);
}
float reference_quotient(float a, float b) {
    if (b == 0) return a / b;
    const double rest = std::fmod(double{a}, double{b});
    const double quotient = (a - rest) / b - (rest != 0 && (b < 0) != (rest < 0) ? 1 : 0);
    return static_cast<float>(std::rint(quotient));
}

TEST(FloorDivision, IsThatOfTheInterpreter) {
    std::vector<float> numbers = {0.0f,        -0.0f,      1.0f,     -1.0f,  3.0f,   -3.0f,  0.1f,
                                  -0.1f,       7.5f,       -7.5f,    1e-40f, 1e-30f, -1e30f, 3.4e38f,
                                  16777217.0f, 8388608.5f, kInf,     -kInf,  1e9f,   -1e9f,  0.99999f,
                                  255.0f,      -128.0f,    1.5e-45f, 2.25f,  5e20f,  -5e20f, NAN};
    for (const float random : Random(4).numbers(40)) numbers.push_back(random * 1000.0f);
    for (const float a : numbers) {
        for (const float b : numbers) {
            const float rest = floor_mod(a, b), quotient = floor_div(a, b);
            EXPECT_TRUE(same(rest, reference_rest(a, b))) << a << " mod " << b << ": " << rest;
            EXPECT_TRUE(same(quotient, reference_quotient(a, b))) << a << " div " << b << ": " << quotient;
            const auto lanes = floor_mod(broadcast<Vector<float, 4>>(a), b);
            EXPECT_TRUE(same(lanes[3], rest));
        }
    }
}

TEST(Saturated, DropsTheFractionHasOneZeroAndKeepsNan) {
    const auto numbers = {0.5f,   -0.5f,   -0.0f, 1.99f, -1.99f,    127.9f,
                          128.0f, -128.5f, 1e30f, -kInf, 8388609.0f};
    for (const float x : numbers) {
        const float want = std::fmin(std::fmax(std::trunc(x), -128.0f), 127.0f) + 0.0f;
        EXPECT_TRUE(same(saturated(-128.0f, 127.0f, x), want)) << x;
        EXPECT_TRUE(same(saturated(-128.0f, 127.0f, broadcast<Vector<float, L>>(x))[5], want)) << x;
    }
    EXPECT_TRUE(std::isnan(saturated(-128.0f, 127.0f, std::nanf(""))));
    EXPECT_EQ(saturated(-0x1p31f, 0x1p31f, 3e9f), 0x1p31f);
}

}  // namespace
}  // namespace tessera::ntt
