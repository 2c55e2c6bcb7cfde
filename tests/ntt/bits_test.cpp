#include "tessera/ntt/bits.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ntt/buffers.h"
#include "tessera/ntt/group.h"

namespace tessera::ntt {
namespace {

/// Bytes between two pages that cannot be read: at the end of the first page, or at its beginning.
class FencedBytes {
public:
    FencedBytes() : page_(static_cast<size_t>(sysconf(_SC_PAGESIZE))) {
        void* all = mmap(nullptr, 3 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        EXPECT_NE(all, MAP_FAILED);
        begin_ = static_cast<uint8_t*>(all) + page_;
        EXPECT_EQ(mprotect(begin_, page_, PROT_READ | PROT_WRITE), 0);
        Random random(11);
        for (size_t i = 0; i < page_; ++i) begin_[i] = static_cast<uint8_t>(bits_of(random.next()) >> 7);
    }
    ~FencedBytes() { munmap(begin_ - page_, 3 * page_); }
    FencedBytes(const FencedBytes&) = delete;
    FencedBytes& operator=(const FencedBytes&) = delete;

    const uint8_t* begin() const { return begin_; }
    const uint8_t* end() const { return begin_ + page_; }

private:
    size_t page_;
    uint8_t* begin_;
};

// The definition: bit j of the stream is bit j%8 of byte j/8.
template <class P>
int number_at(const uint8_t* bytes, int64_t i) {
    int x = 0;
    for (int b = 0; b < P::kBits; ++b) {
        const int64_t bit = i * P::kBits + b;
        x |= (bytes[bit / 8] >> (bit % 8) & 1) << b;
    }
    const bool is_negative = P::kIsSigned && x >> (P::kBits - 1) != 0;
    return is_negative ? x - (1 << P::kBits) : x;
}

template <class V>
void expect_lanes(V v, const float* expected, int64_t start) {
    float lanes[lanes_v<V>] = {};
    store(lanes, v);
    for (int i = 0; i < lanes_v<V>; ++i)
        ASSERT_EQ(lanes[i], expected[i]) << "lane " << i << " start " << start;
}

// Every start and every count, with the numbers at the end of readable memory and at its beginning.
template <class V, class P>
void check() {
    SCOPED_TRACE(std::to_string(P::kBits) + (P::kIsSigned ? " signed bits, " : " bits, ") +
                 std::to_string(lanes_v<V>) + " lanes");
    constexpr int L = lanes_v<V>;
    const FencedBytes fenced;
    for (int64_t start = 0; start < 32; ++start) {
        for (int64_t n = 0; n <= L; ++n) {
            const int64_t size = (start + n) * P::kBits;  // in bits
            // Before `start` there may be whole bytes, which the fence takes at the beginning.
            for (const uint8_t* bytes :
                 {fenced.end() - (size + 7) / 8, fenced.begin() - start * P::kBits / 8}) {
                float expected[L];
                for (int i = 0; i < L; ++i)
                    expected[i] = i < n ? static_cast<float>(number_at<P>(bytes, start + i)) : -9.0f;
                const auto p = P(bytes) + start;
                expect_lanes(load_group<V>(p, n, -9.0f), expected, start);
                expect_lanes(load_strided_group<V>(p, 1, n, -9.0f), expected, start);
                for (int i = 0; i < n; ++i) {
                    ASSERT_EQ(element(p, i), expected[i]);
                    ASSERT_EQ(element(P(bytes), start + i), expected[i]);
                }
                if (n < L) continue;
                expect_lanes(load<V>(p), expected, start);
                expect_lanes(load_group<V>(p, Int<L>{}), expected, start);
                expect_lanes(load_strided<V>(p, Int<1>{}), expected, start);
                using I = WithElement<V, int32_t>;
                expect_lanes(gather<V>(P(bytes), iota<I>(static_cast<int32_t>(start))), expected, start);
                // Here the compiler knows that the numbers begin with a byte.
                if (start == 0) expect_lanes(load<V>(P(bytes)), expected, start);
            }
        }
    }
}

template <class V>
class PackedNumbers : public testing::Test {};
using Vectors = testing::Types<float, Vector<float, 1>, Vector<float, 4>, Vector<float, 8>, Vector<float, 16>,
                               Vector<float, 32>>;
TYPED_TEST_SUITE(PackedNumbers, Vectors);

template <class V, int... B>
void check_all(detail::Indices<B...>) {
    (check<V, Bits<B + 1>>(), ...);
    (check<V, SignedBits<B + 1>>(), ...);
}

TYPED_TEST(PackedNumbers, AreTheBitsOfTheirStreamAndNothingBesideIsRead) {
    check_all<TypeParam>(typename detail::CountTo<7>::Type{});
}

TEST(PackedNumbers, StridesAndSteps) {
    const FencedBytes fenced;
    using V = Vector<float, 8>;
    const SignedBits<5> p(fenced.begin());
    float lanes[8] = {};
    store(lanes, load_strided<V>(p + 3 + 4, 6));
    for (int i = 0; i < 8; ++i) EXPECT_EQ(lanes[i], number_at<SignedBits<5>>(fenced.begin(), 7 + 6 * i));
    EXPECT_EQ(element(p + 100 + -60, -33), number_at<SignedBits<5>>(fenced.begin(), 7));
}

}  // namespace
}  // namespace tessera::ntt
