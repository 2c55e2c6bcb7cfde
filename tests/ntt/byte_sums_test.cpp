// Sums of shorts: exact for as many quads as are said to have room, at the ends of both factors' ranges.

#include "tessera/ntt/byte_sums.h"

#include <gtest/gtest.h>

namespace tessera::ntt {
namespace {

template <int Bits, int L>
void check() {
    using I = Vector<int32_t, L>;
    if constexpr (detail::kSumsBytes<I, Bits>) {
        constexpr int kQuads = detail::kQuadsInShorts<Bits>, kMost = (1 << Bits) - 1;
        for (const int byte : {-128, -1, 0, 127}) {
            I shorts = broadcast<I>(0);
            for (int quad = 0; quad < kQuads; ++quad)
                shorts = add_byte_pairs(shorts, broadcast<I>(detail::four_times(kMost)),
                                        broadcast<I>(detail::four_times(byte & 0xff)));
            const I found = add_shorts(broadcast<I>(1000000), shorts);
            for (int lane = 0; lane < L; ++lane)
                EXPECT_EQ(found[lane], 1000000 + 4 * kQuads * kMost * byte) << Bits << " bits, " << byte;
        }
    }
}

TEST(ByteSums, AreExact) {
    if (!detail::kSumsBytes<Vector<int32_t, kRegisterLanes>, 4>)
        GTEST_SKIP() << "the machine adds four products of bytes as int32, or none";
    check<2, 4>();
    check<3, 4>();
    check<4, 4>();
    check<4, 8>();
    check<4, 16>();
    check<5, 8>();
    check<6, 8>();
}

TEST(ByteSums, ManyBitsLeaveNoRoom) {
    EXPECT_EQ(detail::kQuadsInShorts<4>, 8);
    EXPECT_EQ(detail::kQuadsInShorts<5>, 4);
    EXPECT_EQ(detail::kQuadsInShorts<6>, 2);
    EXPECT_EQ(detail::kQuadsInShorts<8>, 0);
}

// Each of the four bytes has its own factor.
template <class I>
void check_neighbours() {
    if constexpr (detail::kSumsBytes<I, 4>) {
        const I shorts = add_byte_pairs(broadcast<I>(0), broadcast<I>(0x04030201), broadcast<I>(0x28f61401));
        EXPECT_EQ(shorts[3] & 0xffff, 1 * 1 + 2 * 20);
        EXPECT_EQ(shorts[3] >> 16, 3 * -10 + 4 * 40);
        EXPECT_EQ(add_shorts(broadcast<I>(0), shorts)[3], 1 + 40 - 30 + 160);
    }
}

TEST(ByteSums, AddNeighbours) {
    check_neighbours<Vector<int32_t, 4>>();
    check_neighbours<Vector<int32_t, 8>>();
}

}  // namespace
}  // namespace tessera::ntt
