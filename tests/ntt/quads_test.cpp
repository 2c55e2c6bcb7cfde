// Quads of bytes: loaded from bytes and packed bits that end where memory does, and multiplied exactly.

#include "tessera/ntt/quads.h"

#include <gtest/gtest.h>

#include "ntt/buffers.h"

namespace tessera::ntt {
namespace {

uint8_t next_byte(Random& random) {
    return static_cast<uint8_t>(bits_of(random.next() + 2.0f) >> 3);
}

template <class P, int L>
void check_load() {
    using Q = Vector<int32_t, L>;
    SCOPED_TRACE("lanes " + std::to_string(L));
    constexpr int64_t kNumbers = 4 * L;
    using Stored = std::conditional_t<std::is_same_v<P, const int8_t*>, int8_t, uint8_t>;
    Random random(L);
    std::vector<Stored> bytes(kNumbers);
    if constexpr (BitPointer<P>) bytes.resize(kNumbers * P::kBits / 8);
    for (Stored& byte : bytes) byte = static_cast<Stored>(next_byte(random));
    const AtPageEnd<Stored> data(bytes);
    const P p(data.data());
    const Q quads = load_quads<Q>(p);
    for (int i = 0; i < kNumbers; ++i) {
        const int32_t found = quads[i / 4] >> i % 4 * 8 & 0xff;
        ASSERT_EQ(found, p[i] + quad_bias<P>) << "number " << i;
    }
}

template <class P>
void check_loads() {
    check_load<P, 2>();
    check_load<P, 4>();
    check_load<P, 8>();
    check_load<P, 16>();
    check_load<P, 32>();
}

TEST(Quads, AreLoadedFromBytes) {
    check_loads<const uint8_t*>();
    check_loads<const int8_t*>();
    check_load<const uint8_t*, 1>();
    check_load<const int8_t*, 1>();
}
TEST(Quads, AreLoadedFromPackedBits) {
    check_loads<Bits<1>>();
    check_loads<Bits<2>>();
    check_loads<Bits<3>>();
    check_loads<Bits<4>>();
    check_loads<Bits<5>>();
    check_loads<Bits<6>>();
    check_loads<Bits<7>>();
}
TEST(Quads, AreLoadedFromSignedBits) {
    check_loads<SignedBits<2>>();
    check_loads<SignedBits<4>>();
    check_loads<SignedBits<5>>();
    check_loads<SignedBits<7>>();
}

TEST(Quads, BiasMakesNumbersUnsigned) {
    EXPECT_EQ(quad_bias<const uint8_t*>, 0);
    EXPECT_EQ(quad_bias<const int8_t*>, 128);
    EXPECT_EQ(quad_bias<Bits<5>>, 0);
    EXPECT_EQ(quad_bias<SignedBits<5>>, 16);
}

int64_t dot(uint32_t a, uint32_t b) {
    int64_t sum = 0;
    for (int byte = 0; byte < 4; ++byte)
        sum += static_cast<int64_t>(a >> 8 * byte & 0xff) * static_cast<int8_t>(b >> 8 * byte & 0xff);
    return sum;
}

template <int L>
void check_dots() {
    using I = Vector<int32_t, L>;
    SCOPED_TRACE("lanes " + std::to_string(L));
    Random random(7);
    const auto next_quad = [&] {
        uint32_t quad = 0;
        for (int byte = 0; byte < 4; ++byte) {
            const uint32_t any = next_byte(random);
            // Extremes more often than by chance.
            quad = quad << 8 | (any % 5 == 0 ? 0x80 : any % 5 == 1 ? 0xff : any % 5 == 2 ? 0x7f : any);
        }
        return quad;
    };
    for (int turn = 0; turn < 200; ++turn) {
        I sum = broadcast<I>(0), a = sum, b = sum;
        for (int i = 0; i < L; ++i) {
            a.set(i, static_cast<int32_t>(next_quad()));
            b.set(i, static_cast<int32_t>(next_quad()));
            sum.set(i, static_cast<int32_t>(next_quad()) / 2);
        }
        const I found = dot_add(sum, a, b);
        for (int i = 0; i < L; ++i) {
            const int64_t expected = sum[i] + dot(static_cast<uint32_t>(a[i]), static_cast<uint32_t>(b[i]));
            ASSERT_EQ(found[i], expected) << std::hex << a[i] << " * " << b[i] << " + " << sum[i];
        }
    }
}

TEST(Quads, DotProductsAreExact) {
    check_dots<1>();
    check_dots<2>();
    check_dots<4>();
    check_dots<8>();
    check_dots<16>();
    check_dots<32>();
}

// 4 * 255 * -128, and -127 too: neither sums of shorts nor the result saturate.
TEST(Quads, ExtremesDoNotSaturate) {
    using I = Vector<int32_t, 16>;
    const I ones = broadcast<I>(-1), least = broadcast<I>(static_cast<int32_t>(0x80808080));
    EXPECT_EQ(dot_add(broadcast<I>(0), ones, least)[3], 4 * 255 * -128);
    EXPECT_EQ(dot_add(broadcast<I>(INT32_MAX), ones, least)[15], INT32_MAX - 4 * 255 * 128);
    EXPECT_EQ(dot_add(broadcast<I>(INT32_MIN), ones, broadcast<I>(0x7f7f7f7f))[0], INT32_MIN + 4 * 255 * 127);
}

}  // namespace
}  // namespace tessera::ntt
