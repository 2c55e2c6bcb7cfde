#include "tessera/ntt/storage.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "ntt/buffers.h"
#include "tessera/ntt/group.h"

namespace tessera::ntt {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// The definitions of the formats, in double: sign, `exponent` bits with the bias 2^(exponent - 1) - 1,
// `mantissa` bits.
double value_of(uint32_t pattern, int exponent_bits, int mantissa_bits) {
    const int exponent = static_cast<int>(pattern >> mantissa_bits) & ((1 << exponent_bits) - 1);
    const int mantissa = static_cast<int>(pattern) & ((1 << mantissa_bits) - 1);
    const double sign = pattern >> (exponent_bits + mantissa_bits) != 0 ? -1.0 : 1.0;
    const int bias = (1 << (exponent_bits - 1)) - 1;
    if (exponent == (1 << exponent_bits) - 1) return mantissa != 0 ? std::nan("") : sign * kInf;
    if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
    return sign * std::ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
}

struct Binary16 {
    using Type = f16;
    static constexpr int kExponentBits = 5, kMantissaBits = 10;
};
struct Brain16 {
    using Type = bf16;
    static constexpr int kExponentBits = 8, kMantissaBits = 7;
};

template <class Format>
class SixteenBits : public testing::Test {
protected:
    using Type = typename Format::Type;
    static constexpr uint32_t kInfinite = ((1u << Format::kExponentBits) - 1) << Format::kMantissaBits;

    static double value(uint32_t pattern) {
        return value_of(pattern, Format::kExponentBits, Format::kMantissaBits);
    }

    // The pattern nearest to x by search among all of them, of two equally near ones the even one.
    static uint32_t nearest(float x) {
        const uint32_t sign = std::signbit(x) ? 0x8000 : 0;
        const double size = std::fabs(static_cast<double>(x));
        uint32_t low = 0, high = kInfinite;  // value(low) <= size < value(high), or size is infinite
        if (size == kInf) return sign | kInfinite;
        while (high - low > 1) {
            const uint32_t middle = (low + high) / 2;
            (value(middle) <= size ? low : high) = middle;
        }
        // Infinity stands where the next number would.
        const double above = high == kInfinite ? 2 * value(high - 1) - value(high - 2) : value(high);
        const double to_low = size - value(low), to_high = above - size;
        const bool up = to_high < to_low || (to_high == to_low && high % 2 == 0);
        return sign | (up ? high : low);
    }

    static uint32_t narrowed(float x) {
        if (!std::isnan(x)) return nearest(x);
        // The upper bits of the payload, made quiet: the same on every machine.
        const uint32_t kept = bits_of(x) >> (23 - Format::kMantissaBits);
        const uint32_t payload = (1u << Format::kMantissaBits) - 1;
        const uint32_t quiet = 1u << (Format::kMantissaBits - 1);
        return (bits_of(x) >> 16 & 0x8000) | kInfinite | quiet | (kept & payload);
    }

    template <class V>
    static void check_narrowing(const std::vector<float>& numbers, const std::vector<uint32_t>& expected) {
        constexpr int L = lanes_v<V>;
        Guarded<uint16_t> memory(L);
        std::vector<uint16_t> found;
        for (size_t at = 0; at + L <= numbers.size(); at += L) {
            store(reinterpret_cast<Type*>(memory.data()), load<V>(numbers.data() + at));
            found.insert(found.end(), memory.data(), memory.data() + L);
        }
        expect_narrowed(found, expected, numbers, memory.guards_are_intact());
    }
    static void expect_narrowed(const std::vector<uint16_t>& found, const std::vector<uint32_t>& expected,
                                const std::vector<float>& numbers, bool is_intact) {
        ASSERT_TRUE(is_intact) << "something beside a number was written";
        ASSERT_EQ(found.size(), expected.size());
        for (size_t i = 0; i < found.size(); ++i)
            ASSERT_EQ(found[i], expected[i]) << numbers[i] << " " << std::hex << bits_of(numbers[i]);
    }
};
using Formats = testing::Types<Binary16, Brain16>;
TYPED_TEST_SUITE(SixteenBits, Formats);

/// `found` of every pattern.
void expect_widened(const std::vector<float>& found, double (*value)(uint32_t)) {
    ASSERT_EQ(found.size(), size_t{0x10000});
    for (uint32_t pattern = 0; pattern < 0x10000; ++pattern) {
        const double expected = value(pattern);
        ASSERT_EQ(std::isnan(found[pattern]), std::isnan(expected)) << std::hex << pattern;
        if (std::isnan(expected)) continue;
        ASSERT_EQ(bits_of(found[pattern]), bits_of(static_cast<float>(expected))) << std::hex << pattern;
    }
}

template <class T, class V>
void check_widening(double (*value)(uint32_t)) {
    constexpr int L = lanes_v<V>;
    std::vector<float> found(0x10000);
    for (uint32_t first = 0; first < 0x10000; first += L) {
        T memory[L];
        for (int i = 0; i < L; ++i) memory[i].bits = static_cast<uint16_t>(first + static_cast<uint32_t>(i));
        store(found.data() + first, load<V>(memory));
    }
    expect_widened(found, value);
}

TYPED_TEST(SixteenBits, EveryPatternWidensExactly) {
    using T = typename TypeParam::Type;
    check_widening<T, float>(this->value);
    check_widening<T, Vector<float, 1>>(this->value);
    check_widening<T, Vector<float, 4>>(this->value);
    check_widening<T, Vector<float, 8>>(this->value);
    check_widening<T, Vector<float, 16>>(this->value);
    check_widening<T, Vector<float, 64>>(this->value);
}

TYPED_TEST(SixteenBits, NarrowingRoundsToNearestEven) {
    // Each number of the format, each middle between two, and the floats beside both; the ends of float.
    std::vector<float> numbers;
    for (uint32_t pattern = 0; pattern < 0x10000; ++pattern) {
        const double x = this->value(pattern);
        if (std::isnan(x) || (pattern & 0x7fff) + 1 > this->kInfinite) continue;
        const double next = (pattern & 0x7fff) + 1 == this->kInfinite ? 2 * x - this->value(pattern - 1)
                                                                      : this->value(pattern + 1);
        for (const double y : {x, (x + next) / 2}) {
            const auto number = static_cast<float>(y);
            const auto inf = static_cast<float>(kInf);
            numbers.insert(numbers.end(),
                           {number, std::nextafter(number, inf), std::nextafter(number, -inf)});
        }
    }
    for (const uint32_t pattern :
         {0x7f800000u, 0x7f800001u, 0x7fc00000u, 0x7fffffffu, 0x7f802000u, 0x7f7fffffu, 0x00000001u,
          0x007fffffu, 0x477ff000u, 0x477fefffu, 0x33000000u, 0x33000001u}) {
        numbers.push_back(float_of(pattern));
        numbers.push_back(float_of(pattern | 0x80000000u));
    }
    uint32_t state = 1;
    for (int i = 0; i < 100000; ++i) {
        state = state * 1664525u + 1013904223u;
        numbers.push_back(float_of(state ^ state >> 15));
    }
    numbers.resize(numbers.size() / 64 * 64);
    std::vector<uint32_t> expected;
    for (const float x : numbers) expected.push_back(this->narrowed(x));
    this->template check_narrowing<float>(numbers, expected);
    this->template check_narrowing<Vector<float, 1>>(numbers, expected);
    this->template check_narrowing<Vector<float, 4>>(numbers, expected);
    this->template check_narrowing<Vector<float, 8>>(numbers, expected);
    this->template check_narrowing<Vector<float, 16>>(numbers, expected);
    this->template check_narrowing<Vector<float, 64>>(numbers, expected);
}

template <class V>
class NumbersOfMemory : public testing::Test {};
using Vectors = testing::Types<float, Vector<float, 1>, Vector<float, 4>, Vector<float, 8>, Vector<float, 16>,
                               Vector<float, 64>>;
TYPED_TEST_SUITE(NumbersOfMemory, Vectors);

template <class T>
T number(int64_t i) {
    const int64_t mixed = (i * 2654435761) % 65521;
    if constexpr (std::is_class_v<T>)
        return {static_cast<uint16_t>(0x3000 + mixed % 0x1000 + mixed / 0x1000 % 2 * 0x8000)};
    else if constexpr (sizeof(T) < 4)
        return static_cast<T>(mixed);
    else
        return static_cast<T>(mixed - 32760) * static_cast<T>(30011);
}
/// The same bits in `n` elements of `size` bytes each.
void expect_bytes(const void* found, const void* expected, int64_t n, size_t size, const std::string& what) {
    for (int64_t i = 0; i < n; ++i) {
        const size_t at = static_cast<size_t>(i) * size;
        ASSERT_EQ(
            std::memcmp(static_cast<const char*>(found) + at, static_cast<const char*>(expected) + at, size),
            0)
            << what << ": element " << i << " of " << n;
    }
}
template <class T>
void expect_same(const T* found, const T* expected, int64_t n, const std::string& what) {
    expect_bytes(found, expected, n, sizeof(T), what);
}
std::string text_of(const char* what, int64_t n, int64_t stride) {
    return std::string(what) + " of " + std::to_string(n) + " lanes, stride " + std::to_string(stride);
}

// Whole, partial and strided reads of every type against one element after the other, and the writes back.
// The comparison is compiled once for all types, or it would take longer to compile than the accesses.
template <class V, class T>
void check_access() {
    constexpr int L = lanes_v<V>;
    for (const int64_t stride : {1, 3}) {
        for (int64_t n = 0; n <= L; ++n) {
            std::vector<T> source;  // of the exact size: AddressSanitizer guards the end
            for (int64_t i = 0; i < (n == 0 ? 0 : (n - 1) * stride + 1); ++i) source.push_back(number<T>(i));
            float lanes[L], expected_lanes[L];
            if (stride == 1)
                store(lanes, load_group<V>(static_cast<const T*>(source.data()), n, -3.5f));
            else
                store(lanes, load_strided_group<V>(source.data(), stride, n, -3.5f));
            for (int64_t i = 0; i < L; ++i)
                expected_lanes[i] = i < n ? element(source.data(), i * stride) : -3.5f;
            expect_same(lanes, expected_lanes, L, text_of("read", n, stride));
            std::vector<T> target(source.size() + 2, number<T>(7)), expected = target;
            if (stride == 1)
                store_group(target.data() + 1, load_first<V>(lanes, L), n);
            else
                store_strided_group(target.data() + 1, stride, load_first<V>(lanes, L), n);
            for (int64_t i = 0; i < n; ++i)
                set_element(expected.data() + 1, i * stride, element(source.data(), i * stride));
            expect_same(target.data(), expected.data(), static_cast<int64_t>(target.size()),
                        text_of("written", n, stride));
        }
        std::vector<T> source;
        for (int64_t i = 0; i < (L - 1) * stride + 1; ++i) source.push_back(number<T>(i));
        float whole[L] = {}, strided[L], gathered[L], expected_lanes[L];
        if (stride == 1) store(whole, load_group<V>(source.data(), Int<L>{}));
        store(strided, load_strided_group<V>(source.data(), stride, Int<L>{}));
        using I = WithElement<V, int32_t>;
        store(gathered, gather<V>(source.data(), iota<I>() * static_cast<int32_t>(stride)));
        std::vector<T> back(source.size(), number<T>(7)), scattered = back, expected = back;
        if (stride == 1) store_group(back.data(), load<V>(whole), Int<L>{});
        store_strided_group(scattered.data(), stride, load<V>(strided), Int<L>{});
        for (int64_t i = 0; i < L; ++i) {
            expected_lanes[i] = element(source.data(), i * stride);
            set_element(expected.data(), i * stride, expected_lanes[i]);
        }
        const auto size = static_cast<int64_t>(expected.size());
        expect_same(strided, expected_lanes, L, text_of("read", L, stride));
        expect_same(gathered, expected_lanes, L, text_of("gathered", L, stride));
        expect_same(scattered.data(), expected.data(), size, text_of("written", L, stride));
        if (stride != 1) continue;
        expect_same(whole, expected_lanes, L, text_of("read", L, stride));
        expect_same(back.data(), expected.data(), size, text_of("written whole", L, stride));
    }
}

TYPED_TEST(NumbersOfMemory, EveryAccessIsThatOfElements) {
    check_access<TypeParam, float>();
    check_access<TypeParam, f16>();
    check_access<TypeParam, bf16>();
    check_access<TypeParam, int8_t>();
    check_access<TypeParam, uint8_t>();
    check_access<TypeParam, int32_t>();
}

// Against the definition: drop the fraction, saturate.
template <class V, class T>
void check_integers() {
    constexpr int L = lanes_v<V>;
    constexpr double kLow = std::numeric_limits<T>::min(), kHigh = std::numeric_limits<T>::max();
    std::vector<float> numbers = {0.0f,  -0.0f,  0.5f, -0.5f, 0.99f,        -0.99f,
                                  1e30f, -1e30f, 3e9f, -3e9f, 2147483520.0f};
    for (const double end : {kLow, kHigh}) {
        for (const double step : {-1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5}) {
            const auto x = static_cast<float>(end + step), inf = static_cast<float>(kInf);
            numbers.insert(numbers.end(), {x, std::nextafter(x, inf), std::nextafter(x, -inf)});
        }
    }
    numbers.insert(numbers.end(), {static_cast<float>(kInf), static_cast<float>(-kInf)});
    Random random(4);
    while (numbers.size() < 512) numbers.push_back(300.0f * random.next());
    std::vector<T> found(numbers.size()), expected, nans(L), zeros(L);
    for (size_t at = 0; at < numbers.size(); at += L) store(found.data() + at, load<V>(numbers.data() + at));
    for (const float x : numbers)
        expected.push_back(static_cast<T>(std::fmin(std::fmax(std::trunc(double{x}), kLow), kHigh)));
    expect_same(found.data(), expected.data(), static_cast<int64_t>(found.size()), "of a number");
    store(nans.data(), broadcast<V>(std::nanf("")));
    expect_same(nans.data(), zeros.data(), L, "of NaN");
}

TYPED_TEST(NumbersOfMemory, IntegersDropTheFractionAndSaturate) {
    check_integers<TypeParam, int8_t>();
    check_integers<TypeParam, uint8_t>();
    check_integers<TypeParam, int32_t>();
}

}  // namespace
}  // namespace tessera::ntt
