#include "tessera/ntt/math.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "ntt/buffers.h"
#include "tessera/ntt/memory.h"

namespace tessera::ntt {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Distance of `got` from the exact result, in units of the spacing of floats there.
double ulps(float got, double exact) {
    if (std::isnan(exact)) return std::isnan(got) ? 0 : HUGE_VAL;
    const float nearest = static_cast<float>(exact);
    if (std::isinf(nearest) || std::isinf(got)) return nearest == got ? 0 : HUGE_VAL;
    int exponent = 0;
    std::frexp(exact, &exponent);
    return std::fabs(got - exact) / std::ldexp(1.0, std::max(exponent - 24, -149));
}

// f over every `step`-th bit pattern: the whole range with denormals, infinities and NaN, within `bound` of
// `exact`, and the same bits from scalars and from vectors of any length.
template <class F, class Exact>
void check(F f, Exact exact, double bound, uint32_t step) {
    using Wide = Vector<float, 16>;
    double worst = 0;
    float worst_at = 0;
    for (uint64_t first = 0; first < (uint64_t{1} << 32); first += 16 * uint64_t{step}) {
        float x[16], y[16], y4[16], y1[16];
        for (uint32_t i = 0; i < 16; ++i) x[i] = float_of(static_cast<uint32_t>(first) + i * step);
        store(y, f(load<Wide>(x)));
        for (int i = 0; i < 16; i += 4) store(y4 + i, f(load<Vector<float, 4>>(x + i)));
        for (int i = 0; i < 16; ++i) y1[i] = f(x[i]);
        for (int i = 0; i < 16; ++i) {
            ASSERT_TRUE(same(y[i], y1[i])) << "16 lanes at " << x[i] << ": " << y[i] << " against " << y1[i];
            ASSERT_TRUE(same(y4[i], y1[i])) << "4 lanes at " << x[i] << ": " << y4[i] << " against " << y1[i];
            const double error = ulps(y1[i], exact(static_cast<double>(x[i])));
            if (error > worst) worst = error, worst_at = x[i];
        }
    }
    EXPECT_LE(worst, bound) << "at " << worst_at << " (bits " << std::hex << bits_of(worst_at) << ")";
    testing::Test::RecordProperty("ulp", std::to_string(worst));
    // A bound far above the reached error would hide a loss of accuracy.
    EXPECT_GE(worst, bound / 2);
}

// Odd steps, so that the low bits vary; 2^32 / 257 is 17 million arguments.
constexpr uint32_t kDense = 257, kSparse = 1021;

TEST(Math, Exp) {
    check([](auto x) { return exp(x); }, [](double x) { return std::exp(x); }, kHasFma ? 1.0 : 1.5, kDense);
}
TEST(Math, Log) {
    check([](auto x) { return log(x); }, [](double x) { return std::log(x); }, kHasFma ? 1.0 : 1.5, kSparse);
}
TEST(Math, Tanh) {
    check([](auto x) { return tanh(x); }, [](double x) { return std::tanh(x); }, 1.5, kSparse);
}
TEST(Math, Erf) {
    check([](auto x) { return erf(x); }, [](double x) { return std::erf(x); }, 1.5, kSparse);
}
TEST(Math, Sigmoid) {
    check([](auto x) { return sigmoid(x); }, [](double x) { return 1 / (1 + std::exp(-x)); }, 2.5, kSparse);
}
TEST(Math, Sqrt) {
    check([](auto x) { return sqrt(x); }, [](double x) { return std::sqrt(x); }, 0.5000001, kSparse);
}
TEST(Math, Rsqrt) {
    check([](auto x) { return rsqrt(x); }, [](double x) { return 1 / std::sqrt(x); }, 1.5, kSparse);
}

// Every float around the point where a function switches from one formula to the other is checked.
template <class F, class Exact>
void check_around(float center, F f, Exact exact, double bound) {
    const uint32_t middle = bits_of(center);
    for (uint32_t bits = middle - 20000; bits != middle + 20000; ++bits) {
        const float x = float_of(bits);
        ASSERT_LE(ulps(f(x), exact(static_cast<double>(x))), bound) << x;
    }
}

TEST(Math, AroundTheSeams) {
    const auto exact_exp = [](double x) { return std::exp(x); };
    const auto exact_log = [](double x) { return std::log(x); };
    for (const float x : {0.5f * 0.69314718f, 1.5f * 0.69314718f, 88.72283f, -87.33654f, -103.97208f}) {
        check_around(
            x, [](float y) { return exp(y); }, exact_exp, kHasFma ? 1.0 : 1.5);
    }
    for (const float x : {1.0f, 2.0f / 3.0f, 4.0f / 3.0f, 0x1p-126f}) {
        check_around(
            x, [](float y) { return log(y); }, exact_log, kHasFma ? 1.0 : 1.5);
    }
    check_around(
        0.625f, [](float y) { return tanh(y); }, [](double x) { return std::tanh(x); }, 1.5);
    check_around(
        0.9375f, [](float y) { return erf(y); }, [](double x) { return std::erf(x); }, 1.5);
    check_around(
        4.0f, [](float y) { return erf(y); }, [](double x) { return std::erf(x); }, 1.5);
}

TEST(Math, SpecialValues) {
    EXPECT_TRUE(same(exp(-kInf), 0.0f));
    EXPECT_TRUE(same(exp(kInf), kInf));
    EXPECT_TRUE(same(exp(89.0f), kInf));
    EXPECT_TRUE(same(exp(0.0f), 1.0f));
    EXPECT_TRUE(same(exp(-0.0f), 1.0f));
    EXPECT_TRUE(same(log(0.0f), -kInf));
    EXPECT_TRUE(same(log(-0.0f), -kInf));
    EXPECT_TRUE(same(log(1.0f), 0.0f));
    EXPECT_TRUE(std::isnan(log(-1.0f)));
    EXPECT_TRUE(std::isnan(log(-kInf)));
    EXPECT_TRUE(same(log(kInf), kInf));
    EXPECT_TRUE(same(tanh(kInf), 1.0f));
    EXPECT_TRUE(same(tanh(-kInf), -1.0f));
    EXPECT_TRUE(same(tanh(-0.0f), -0.0f));
    EXPECT_TRUE(same(erf(-0.0f), -0.0f));
    EXPECT_TRUE(same(erf(kInf), 1.0f));
    EXPECT_TRUE(same(erf(-kInf), -1.0f));
    EXPECT_TRUE(same(sigmoid(kInf), 1.0f));
    EXPECT_TRUE(same(sigmoid(-kInf), 0.0f));
    EXPECT_TRUE(same(rsqrt(0.0f), kInf));
    EXPECT_TRUE(same(rsqrt(kInf), 0.0f));
    for (const float y :
         {exp(kNan), log(kNan), tanh(kNan), erf(kNan), sigmoid(kNan), sqrt(kNan), rsqrt(kNan)}) {
        EXPECT_TRUE(std::isnan(y));
    }
}

}  // namespace
}  // namespace tessera::ntt
