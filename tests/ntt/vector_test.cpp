#include "tessera/ntt/vector.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "ntt/buffers.h"
#include "tessera/ntt/arithmetic.h"
#include "tessera/ntt/fold.h"
#include "tessera/ntt/fold_many.h"
#include "tessera/ntt/group.h"
#include "tessera/ntt/mask.h"
#include "tessera/ntt/memory.h"

namespace tessera::ntt {
namespace {

template <class V>
class VectorOfFloat : public testing::Test {};
using FloatTypes = testing::Types<float, Vector<float, 1>, Vector<float, 2>, Vector<float, 4>,
                                  Vector<float, 8>, Vector<float, 16>, Vector<float, 64>>;
TYPED_TEST_SUITE(VectorOfFloat, FloatTypes);

template <class V>
class VectorOfInt : public testing::Test {};
using IntTypes = testing::Types<int32_t, Vector<int32_t, 1>, Vector<int32_t, 2>, Vector<int32_t, 4>,
                                Vector<int32_t, 8>, Vector<int32_t, 16>, Vector<int32_t, 64>>;
TYPED_TEST_SUITE(VectorOfInt, IntTypes);

template <class V>
Element<V> lane(V v, int i) {
    if constexpr (Scalar<V>)
        return v;
    else
        return v[i];
}
template <class M>
bool lane_of_mask(M m, int i) {
    if constexpr (std::same_as<M, bool>)
        return m;
    else
        return m[i];
}

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// The rule of the notation: NaN stays, and the first of equal numbers.
float smaller(float a, float b) {
    return std::isnan(a) || a < b ? a : std::isnan(b) || b < a ? b : a;
}
float larger(float a, float b) {
    return std::isnan(a) || a > b ? a : std::isnan(b) || b > a ? b : a;
}

// Operands that meet in every lane: whole numbers, ties, zeros, infinities, NaN, and the ends of the range.
std::vector<float> interesting(int64_t n, uint64_t seed) {
    const std::vector<float> special = {0.0f, -0.0f, 0.5f, -0.5f,  1.5f, 2.5f, -2.5f, 8388607.5f,
                                        kInf, -kInf, kNan, 1e-40f, 1.0f, 1e9f, -1e9f, 3.4e38f};
    Random random(seed);
    std::vector<float> v;
    for (int64_t i = 0; i < n; ++i) {
        const auto pick = static_cast<size_t>((i * 7 + static_cast<int64_t>(seed)) % 32);
        v.push_back(pick < special.size() ? special[pick] : 100.0f * random.next());
    }
    return v;
}

TYPED_TEST(VectorOfFloat, ArithmeticIsThatOfScalars) {
    using V = TypeParam;
    constexpr int L = lanes_v<V>;
    for (uint64_t seed = 1; seed < 40; ++seed) {
        const auto a = interesting(L, seed), b = interesting(L, seed * 3 + 5),
                   c = interesting(L, seed * 5 + 2);
        const V x = load<V>(a.data()), y = load<V>(b.data()), z = load<V>(c.data());
        V in_place = x;
        in_place += y;
        for (int i = 0; i < L; ++i) {
            const float p = a[i], q = b[i], r = c[i];
            EXPECT_TRUE(same(lane(x + y, i), p + q));
            EXPECT_TRUE(same(lane(in_place, i), p + q));
            EXPECT_TRUE(same(lane(x - y, i), p - q));
            EXPECT_TRUE(same(lane(x * y, i), p * q));
            EXPECT_TRUE(same(lane(x / y, i), p / q));
            EXPECT_TRUE(same(lane(-x, i), -p));
            EXPECT_TRUE(same(lane(2.0f * x, i), 2.0f * p));
            EXPECT_TRUE(same(lane(x - 1.0f, i), p - 1.0f));
            EXPECT_TRUE(same(lane(min(x, y), i), smaller(p, q))) << p << " " << q;
            EXPECT_TRUE(same(lane(max(x, y), i), larger(p, q))) << p << " " << q;
            EXPECT_TRUE(same(lane(max(x, 0.0f), i), larger(p, 0.0f))) << p;
            EXPECT_TRUE(same(lane(min(-0.0f, x), i), smaller(-0.0f, p))) << p;
            EXPECT_TRUE(same(lane(at_most(4.0f, x), i), smaller(4.0f, p))) << p;
            EXPECT_TRUE(same(lane(at_least(-2.0f, x), i), larger(-2.0f, p))) << p;
            EXPECT_TRUE(same(lane(abs(x), i), std::fabs(p)));
            EXPECT_TRUE(same(lane(round(x), i), std::nearbyint(p))) << p;
            if (kHasFma)
                EXPECT_TRUE(same(lane(fma(x, y, z), i), std::fma(p, q, r)));
            else
                EXPECT_TRUE(same(lane(fma(x, y, z), i), p * q + r));
        }
    }
}

TYPED_TEST(VectorOfFloat, ComparisonsAndSelection) {
    using V = TypeParam;
    constexpr int L = lanes_v<V>;
    for (uint64_t seed = 1; seed < 40; ++seed) {
        const auto a = interesting(L, seed), b = seed % 3 == 0 ? a : interesting(L, seed * 3 + 5);
        const V x = load<V>(a.data()), y = load<V>(b.data());
        int set = 0;
        for (int i = 0; i < L; ++i) {
            const float p = a[i], q = b[i];
            set += p < q;
            EXPECT_EQ(lane_of_mask(x < y, i), p < q);
            EXPECT_EQ(lane_of_mask(x <= y, i), p <= q);
            EXPECT_EQ(lane_of_mask(x > y, i), p > q);
            EXPECT_EQ(lane_of_mask(x >= y, i), p >= q);
            EXPECT_EQ(lane_of_mask(x == y, i), p == q);
            EXPECT_EQ(lane_of_mask(x != y, i), p != q);
            EXPECT_EQ(lane_of_mask(logical_and(x<y, x> 0.0f), i), p < q && p > 0);
            EXPECT_EQ(lane_of_mask(logical_or(x<y, x> 0.0f), i), p < q || p > 0);
            EXPECT_EQ(lane_of_mask(logical_not(x < y), i), !(p < q));
            EXPECT_TRUE(same(lane(select(x < y, x, y), i), p < q ? p : q));
            EXPECT_TRUE(same(lane(select(x < y, 1.0f, x), i), p < q ? 1.0f : p));
            EXPECT_EQ(lane(select(x < y, 1.0f, 2.0f), i), p < q ? 1.0f : 2.0f);
        }
        EXPECT_EQ(any(x < y), set > 0);
        EXPECT_EQ(all(x < y), set == L);
    }
    EXPECT_TRUE(all(broadcast<V>(1.0f) == 1.0f));
    EXPECT_FALSE(any(broadcast<V>(kNan) == kNan));
}

TYPED_TEST(VectorOfFloat, PartialAccessTouchesTheFirstLanesOnly) {
    using V = TypeParam;
    constexpr int L = lanes_v<V>;
    for (int64_t n = -1; n <= L + 1; ++n) {
        const int64_t valid = std::min<int64_t>(std::max<int64_t>(n, 0), L);
        const auto source = Random(7).numbers(valid);  // the exact size: AddressSanitizer guards the end
        const V v = load_first<V>(source.data(), n, -3.0f);
        for (int i = 0; i < L; ++i) EXPECT_EQ(lane(v, i), i < valid ? source[static_cast<size_t>(i)] : -3.0f);
        Guarded<float> target(valid);
        store_first(target.data(), v, n);
        EXPECT_TRUE(target.guards_are_intact()) << n;
        for (int64_t i = 0; i < valid; ++i) EXPECT_EQ(target[i], source[static_cast<size_t>(i)]);
    }
    Guarded<float> target(L);
    store(target.data(), iota<V>(5.0f));
    EXPECT_TRUE(target.guards_are_intact());
    for (int i = 0; i < L; ++i) EXPECT_EQ(target[i], 5.0f + static_cast<float>(i));
}

TYPED_TEST(VectorOfFloat, LanesBetweenAreAllThatIsRead) {
    using V = TypeParam;
    constexpr int L = lanes_v<V>;
    const auto check = [&](const auto stride, int64_t first, int64_t end) {
        const int64_t last = std::min<int64_t>(end, L), count = std::max<int64_t>(last - first, 0);
        // Both ends are guarded by AddressSanitizer: p lies before the first element.
        const auto source = Random(13).numbers(count == 0 ? 0 : (count - 1) * stride + 1);
        const float* const p = source.data() - first * stride;
        const V v = load_between<V>(p, stride, first, end, 4.0f);
        for (int i = 0; i < L; ++i) {
            const bool is_read = i >= first && i < last;
            EXPECT_EQ(lane(v, i), is_read ? source[static_cast<size_t>((i - first) * stride)] : 4.0f);
        }
    };
    for (int64_t first = 0; first <= L + 1; ++first) {
        for (int64_t end = -1; end <= L + 1; ++end) {
            check(Int<1>{}, first, end);
            check(int64_t{3}, first, end);
        }
    }
}

TYPED_TEST(VectorOfFloat, LanesInsideOfAnAxis) {
    using V = TypeParam;
    constexpr int L = lanes_v<V>;
    const int64_t extent = 3 * L + 1;
    const auto axis = Random(17).numbers(extent);
    for (const int64_t step : {1, 2, 5}) {
        for (int64_t at = -step * L - 1; at <= extent + 1; ++at) {
            for (const int64_t count : {int64_t{0}, int64_t{1}, int64_t{L}}) {
                const V v = load_inside<V>(axis.data() + at, step, at, step, extent, count, -2.0f);
                for (int i = 0; i < L; ++i) {
                    const int64_t of_lane = at + i * step;
                    const bool is_inside = i < count && of_lane >= 0 && of_lane < extent;
                    EXPECT_EQ(lane(v, i), is_inside ? axis[static_cast<size_t>(of_lane)] : -2.0f);
                }
            }
        }
    }
}

// Every other element comes by whole registers, which end with the last one that is asked for.
TYPED_TEST(VectorOfFloat, AKnownStrideOfTwo) {
    using V = TypeParam;
    constexpr int L = lanes_v<V>;
    for (int64_t n = 0; n <= L; ++n) {
        const int64_t size = n == 0 ? 0 : 2 * n - 1;
        const auto source = Random(10).numbers(size);
        const V v = load_strided_first<V>(source.data(), Int<2>{}, n, 4.0f);
        for (int i = 0; i < L; ++i)
            EXPECT_EQ(lane(v, i), i < n ? source[static_cast<size_t>(2 * i)] : 4.0f) << n;
    }
    const auto source = Random(12).numbers(2 * L - 1);
    const V v = load_strided<V>(source.data(), Int<2>{});
    for (int i = 0; i < L; ++i) EXPECT_EQ(lane(v, i), source[static_cast<size_t>(2 * i)]);
}

TYPED_TEST(VectorOfFloat, StridedAccess) {
    using V = TypeParam;
    constexpr int L = lanes_v<V>;
    for (const int64_t stride : {1, 3, 16}) {
        for (int64_t n = 0; n <= L; ++n) {
            const int64_t size = n == 0 ? 0 : (n - 1) * stride + 1;
            const auto source = Random(9).numbers(size);
            const V v = load_strided_first<V>(source.data(), stride, n, 4.0f);
            Guarded<float> target(size, 0.5f);
            store_strided_first(target.data(), stride, v, n);
            EXPECT_TRUE(target.guards_are_intact());
            for (int i = 0; i < L; ++i) {
                EXPECT_EQ(lane(v, i), i < n ? source[static_cast<size_t>(i * stride)] : 4.0f);
            }
            for (int64_t i = 0; i < size; ++i) {
                EXPECT_EQ(target[i], i % stride == 0 ? source[static_cast<size_t>(i)] : 0.5f);
            }
        }
        const auto source = Random(11).numbers((L - 1) * stride + 1);
        const V v = load_strided<V>(source.data(), stride);
        Guarded<float> target((L - 1) * stride + 1);
        store_strided(target.data(), stride, v);
        EXPECT_TRUE(target.guards_are_intact());
        for (int i = 0; i < L; ++i) {
            EXPECT_EQ(lane(v, i), source[static_cast<size_t>(i * stride)]);
            EXPECT_EQ(target[i * stride], source[static_cast<size_t>(i * stride)]);
        }
    }
}

TYPED_TEST(VectorOfFloat, GatherAndConversion) {
    using V = TypeParam;
    using I = WithElement<V, int32_t>;
    constexpr int L = lanes_v<V>;
    const auto table = Random(3).numbers(97);
    const I index = floor_mod(iota<I>(5) * 31, 97);
    const V v = gather<V>(table.data(), index);
    for (int i = 0; i < L; ++i) {
        EXPECT_EQ(lane(index, i), (5 + i) * 31 % 97);
        EXPECT_EQ(lane(v, i), table[static_cast<size_t>(lane(index, i))]);
        EXPECT_EQ(lane(convert<float>(index), i), static_cast<float>(lane(index, i)));
        EXPECT_EQ(lane(convert<int32_t>(v * 1000.0f), i), static_cast<int32_t>(lane(v, i) * 1000.0f));
        EXPECT_EQ(lane(reinterpret<int32_t>(v), i), static_cast<int32_t>(bits_of(lane(v, i))));
    }
}

// The tree that fold.h draws, said again in the slowest way.
template <class T, class F>
T fold_tree(std::vector<T> v, F f) {
    while (v.size() > 1) {
        const size_t half = v.size() / 2;
        for (size_t i = 0; i < half; ++i) v[i] = f(v[i], v[i + half]);
        v.resize(half);
    }
    return v[0];
}

TYPED_TEST(VectorOfFloat, FoldsFollowTheTree) {
    using V = TypeParam;
    for (uint64_t seed = 0; seed < 50; ++seed) {
        const auto a = Random(seed).numbers(lanes_v<V>);
        const V v = load<V>(a.data());
        EXPECT_EQ(fold_sum(v), fold_tree(a, [](float x, float y) { return x + y; }));
        EXPECT_EQ(fold_prod(v), fold_tree(a, [](float x, float y) { return x * y; }));
        EXPECT_EQ(fold_max(v), *std::max_element(a.begin(), a.end()));
        EXPECT_EQ(fold_min(v), *std::min_element(a.begin(), a.end()));
    }
    EXPECT_EQ(fold_max(broadcast<V>(-kInf)), -kInf);
}

template <int N, int L>
void check_fold_sums() {
    const auto a = Random(N * 100 + L).numbers(N * L);
    Vector<float, L> v[N];
    for (int j = 0; j < N; ++j) v[j] = load<Vector<float, L>>(a.data() + j * L);
    const Vector<float, N> sums = fold_sums(v);
    for (int j = 0; j < N; ++j) EXPECT_TRUE(same(sums[j], fold_sum(v[j]))) << N << " of " << L << " at " << j;
}

TEST(FoldSums, HaveTheBitsOfEachFold) {
    check_fold_sums<1, 1>(), check_fold_sums<4, 1>(), check_fold_sums<2, 2>();
    check_fold_sums<1, 4>(), check_fold_sums<2, 4>(), check_fold_sums<4, 4>(), check_fold_sums<8, 4>();
    check_fold_sums<2, 8>(), check_fold_sums<4, 8>(), check_fold_sums<8, 8>(), check_fold_sums<16, 8>();
    check_fold_sums<1, 16>(), check_fold_sums<2, 16>(), check_fold_sums<4, 16>(), check_fold_sums<8, 16>();
    check_fold_sums<16, 16>(), check_fold_sums<4, 64>(), check_fold_sums<16, 64>();
}

TYPED_TEST(VectorOfInt, ArithmeticIsThatOfScalars) {
    using V = TypeParam;
    constexpr int L = lanes_v<V>;
    std::vector<int32_t> a, b;
    for (int i = 0; i < L; ++i) {
        a.push_back((i * 7919 - 20000) % 1013);
        b.push_back(i % 9 + 1);
    }
    const V x = load<V>(a.data()), y = load<V>(b.data());
    for (int i = 0; i < L; ++i) {
        const int32_t p = a[static_cast<size_t>(i)], q = b[static_cast<size_t>(i)];
        EXPECT_EQ(lane(x + y, i), p + q);
        EXPECT_EQ(lane(x - 3, i), p - 3);
        EXPECT_EQ(lane(x * y, i), p * q);
        EXPECT_EQ(lane(x / y, i), p / q);
        EXPECT_EQ(lane(x % y, i), p % q);
        EXPECT_EQ(lane(x & y, i), p & q);
        EXPECT_EQ(lane(x | 5, i), p | 5);
        EXPECT_EQ(lane(x ^ y, i), p ^ q);
        EXPECT_EQ(lane(x << 2, i), p * 4);
        EXPECT_EQ(lane(x >> 2, i), p >> 2);
        EXPECT_EQ(lane(min(x, y), i), std::min(p, q));
        EXPECT_EQ(lane(max(x, y), i), std::max(p, q));
        EXPECT_EQ(lane(abs(x), i), std::abs(p));
        EXPECT_EQ(lane_of_mask(x < y, i), p < q);
        EXPECT_EQ(lane(floor_div(x, 8), i), static_cast<int32_t>(std::floor(p / 8.0)));
        EXPECT_EQ(lane(floor_mod(x, 7), i), ((p % 7) + 7) % 7);
        EXPECT_EQ(lane(floor_div(x, y), i), static_cast<int32_t>(std::floor(static_cast<double>(p) / q)));
        EXPECT_EQ(lane(floor_div(x, -y), i), static_cast<int32_t>(std::floor(static_cast<double>(p) / -q)));
        EXPECT_EQ(lane(floor_mod(x, -y), i), p - lane(floor_div(x, -y), i) * -q);
    }
    EXPECT_EQ(fold_max(x), *std::max_element(a.begin(), a.end()));
}

TYPED_TEST(VectorOfInt, PartialAccessTouchesTheFirstLanesOnly) {
    using V = TypeParam;
    constexpr int L = lanes_v<V>;
    for (int64_t n = 0; n <= L; ++n) {
        std::vector<int32_t> source(static_cast<size_t>(n));
        for (int64_t i = 0; i < n; ++i) source[static_cast<size_t>(i)] = static_cast<int32_t>(1000 + i);
        const V v = load_first<V>(source.data(), n, -1);
        Guarded<int32_t> target(n);
        store_first(target.data(), v, n);
        EXPECT_TRUE(target.guards_are_intact());
        for (int i = 0; i < L; ++i) EXPECT_EQ(lane(v, i), i < n ? 1000 + i : -1);
        for (int64_t i = 0; i < n; ++i) EXPECT_EQ(target[i], source[static_cast<size_t>(i)]);
    }
}

TEST(FloorDivision, OfScalarsGoesTowardsMinusInfinity) {
    for (int64_t a = -40; a <= 40; ++a) {
        for (int64_t b = 1; b <= 9; ++b) {
            EXPECT_EQ(floor_div(a, b),
                      static_cast<int64_t>(std::floor(static_cast<double>(a) / static_cast<double>(b))));
            EXPECT_EQ(floor_div(a, b) * b + floor_mod(a, b), a);
            EXPECT_TRUE(floor_mod(a, b) >= 0 && floor_mod(a, b) < b);
        }
    }
}

}  // namespace
}  // namespace tessera::ntt
