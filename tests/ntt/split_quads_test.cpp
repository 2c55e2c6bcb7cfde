// Quads split into shorts: the same numbers as load_quads gives, and products that are exact to the ends of
// their ranges. If the machine multiplies bytes the contractions do not use them, but they mean the same.

#include "tessera/ntt/split_quads.h"

#include <gtest/gtest.h>

#include "ntt/buffers.h"

namespace tessera::ntt {
namespace {

uint16_t short_of(int32_t lane, int which) {
    return static_cast<uint16_t>(static_cast<uint32_t>(lane) >> 16 * which);
}

template <class P, int L>
void check_load() {
    using Q = Vector<int32_t, L>;
    SCOPED_TRACE("lanes " + std::to_string(L));
    constexpr int64_t kNumbers = 4 * L;
    using Stored = std::conditional_t<std::is_same_v<P, const int8_t*>, int8_t, uint8_t>;
    int64_t size = kNumbers;
    if constexpr (BitPointer<P>) size = kNumbers * P::kBits / 8;
    std::vector<Stored> bytes(static_cast<size_t>(size));
    Random random(L);
    for (Stored& byte : bytes) byte = static_cast<Stored>(bits_of(random.next() + 2.0f) >> 3);
    const AtPageEnd<Stored> data(bytes);
    const P p(data.data());
    const SplitQuads<Q> split = load_split_quads<Q>(p);
    for (int k = 0; k < kNumbers; ++k) {
        const Q& half = k % 2 == 0 ? split.even : split.odd;
        ASSERT_EQ(short_of(half[k / 4], k % 4 / 2), p[k] + quad_bias<P>) << "number " << k;
    }
}

template <class P>
void check_loads() {
    check_load<P, 2>();
    check_load<P, 4>();
    check_load<P, 8>();
    check_load<P, 16>();
}

TEST(SplitQuads, AreLoadedFromBytes) {
    check_loads<const uint8_t*>();
    check_loads<const int8_t*>();
}
TEST(SplitQuads, AreLoadedFromPackedBits) {
    check_loads<Bits<2>>();
    check_loads<Bits<3>>();
    check_loads<Bits<4>>();
    check_loads<Bits<5>>();
    check_loads<Bits<6>>();
    check_loads<Bits<7>>();
}
TEST(SplitQuads, AreLoadedFromSignedBits) {
    check_loads<SignedBits<4>>();
    check_loads<SignedBits<5>>();
    check_loads<SignedBits<6>>();
}

TEST(SplitQuads, DotProductsAreExact) {
    if constexpr (detail::kSplitsQuads<Vector<int32_t, kRegisterLanes>>) {
        using I = Vector<int32_t, 2 * kRegisterLanes>;
        const auto both = [](int first, int second) {
            return broadcast<I>(static_cast<int32_t>(static_cast<uint32_t>(second) << 16 |
                                                     (static_cast<uint32_t>(first) & 0xffff)));
        };
        for (const int least : {-32768, -127, 0, 32767}) {
            for (const int most : {-32768, 1, 32767}) {
                const I found = dot_add(broadcast<I>(7), SplitQuads<I>{both(255, 1), both(0, 254)},
                                        SplitQuads<I>{both(least, most), both(5, least)});
                EXPECT_EQ(found[kRegisterLanes + 1], 7 + 255 * least + most + 254 * least);
            }
        }
    } else {
        GTEST_SKIP() << "the machine multiplies bytes, or nothing narrow";
    }
}

}  // namespace
}  // namespace tessera::ntt
