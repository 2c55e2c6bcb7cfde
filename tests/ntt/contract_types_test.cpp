// Contractions and softmax_step whose operands lie in memory as other types than F32, or come from a
// function. All operands are exact in double, so the sums are compared with double sums, within the bound of
// a sum of K products.

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "ntt/buffers.h"
#include "ntt/widths.h"
#include "tessera/ntt/contract.h"
#include "tessera/ntt/contract_k.h"
#include "tessera/ntt/softmax.h"

namespace tessera::ntt {
namespace {

// The comparison is no template: there are 27 pairs of types and lanes, and for each its expectations would
// take as long to compile as its contractions.

struct Sizes {
    int64_t m, n, k;
    std::string text() const {
        return "M " + std::to_string(m) + " N " + std::to_string(n) + " K " + std::to_string(k);
    }
};

/// X[i, k] at i/lanes*stride_group + i%lanes + k*stride_k.
struct Matrix {
    std::vector<double> numbers;
    int64_t lanes, stride_group, stride_k;

    double at(int64_t i, int64_t k) const {
        return numbers[static_cast<size_t>(i / lanes * stride_group + i % lanes + k * stride_k)];
    }
};

/// C[m, n] of row-major C against sum_k A[m, k] * B[n, k].
void expect_product(const Guarded<float>& c, const Sizes& sizes, const Matrix& a, const Matrix& b) {
    ASSERT_TRUE(c.guards_are_intact());
    for (int64_t m = 0; m < sizes.m; ++m) {
        for (int64_t n = 0; n < sizes.n; ++n) {
            double exact = 0, size = 0;
            for (int64_t k = 0; k < sizes.k; ++k) {
                exact += a.at(m, k) * b.at(n, k);
                size += std::fabs(a.at(m, k) * b.at(n, k));
            }
            ASSERT_LE(std::fabs(c[m * sizes.n + n] - exact),
                      static_cast<double>(2 * sizes.k + 1) * 0x1p-24 * size)
                << "m " << m << " n " << n;
        }
    }
}

/// `n` numbers of P's target, in a buffer of the exact size: AddressSanitizer guards the end.
template <class P>
class Numbers {
public:
    using Stored = std::conditional_t<BitPointer<P>, uint8_t, std::remove_cv_t<detail::Pointee<P>>>;

    [[gnu::noinline]] Numbers(int64_t n, uint64_t seed) : data_(size(n)) {
        Random random(seed);
        for (size_t i = 0; i < data_.size(); ++i) {
            if constexpr (BitPointer<P>)
                data_[i] = static_cast<uint8_t>(bits_of(random.next()) >> 5);
            else if constexpr (std::is_integral_v<Stored>)
                data_[i] = static_cast<Stored>(127.0f * random.next());
            else
                set_element(data_.data(), static_cast<int64_t>(i), random.next());
        }
        for (int64_t i = 0; i < n; ++i) values_.push_back(element(pointer(), i));
    }
    P pointer() const { return P(data_.data()); }
    double operator[](int64_t i) const { return values_[static_cast<size_t>(i)]; }

    Matrix rows_of(int64_t depth) const { return {values_, 1, depth, 1}; }
    Matrix lanes_of(int64_t lanes, int64_t stride_group, int64_t stride_k) const {
        return {values_, lanes, stride_group, stride_k};
    }

private:
    static size_t size(int64_t n) {
        if constexpr (BitPointer<P>)
            return static_cast<size_t>((n * P::kBits + 7) / 8);
        else
            return static_cast<size_t>(n);
    }
    std::vector<Stored> data_;
    std::vector<double> values_;
};

template <class A, class B, int L>
void check_pair() {
    if constexpr (is_checked(L)) {
        static constexpr ContractTile kTile{.lanes = L, .rows = 2, .groups = 2, .prefetch = 128};
        static constexpr ContractTile kFar{.lanes = L, .rows = 2, .groups = 3, .prefetch = 16384};
        static constexpr ContractKTile kTileK{.lanes = L, .rows = 2, .columns = 2};
        for (const int64_t m : {1, 3}) {
            for (const int64_t n : {int64_t{L}, int64_t{3 * L + 5}}) {
                for (const int64_t k : {1, 19, 32}) {
                    const Sizes sizes{m, n, k};
                    SCOPED_TRACE(sizes.text());
                    // Lanes along n: B is [K][N], in the end without a whole group.
                    const Numbers<A> a(m * k, 1);
                    const Numbers<B> b(n * k, 2), b_k(n * k, 3);
                    Guarded<float> c(m * n), c_k(m * n);
                    contract<kTile>(m, n, k, rows(a.pointer(), k, Int<1>{}), lanes(b.pointer(), Int<L>{}, n),
                                    result(c.data(), n, Int<L>{}));
                    expect_product(c, sizes, a.rows_of(k), b.lanes_of(L, L, n));
                    // Lanes along k: B is [N][K].
                    contract_k<kTileK>(m, n, k, k_lanes(a.pointer(), k, Int<L>{}),
                                       k_lanes(b_k.pointer(), k, Int<L>{}),
                                       elements(c_k.data(), n, Int<1>{}));
                    expect_product(c_k, sizes, a.rows_of(k), b_k.rows_of(k));
                }
            }
        }
        // Static extents and packed B, whose groups begin with bytes.
        constexpr int64_t kN = 4 * L, kK = 24;
        const Numbers<A> a(2 * kK, 4);
        const Numbers<B> b(kN * kK, 5);
        Guarded<float> c(2 * kN), c_far(2 * kN);
        const auto a_rows = rows(a.pointer(), Int<kK>{}, Int<1>{});
        const auto b_lanes = lanes(b.pointer(), Int<kK * L>{}, Int<L>{});
        contract<kTile>(Int<2>{}, Int<kN>{}, Int<kK>{}, a_rows, b_lanes,
                        result(c.data(), Int<kN>{}, Int<L>{}));
        contract<kFar>(Int<2>{}, Int<kN>{}, Int<kK>{}, a_rows, b_lanes,
                       result(c_far.data(), Int<kN>{}, Int<L>{}));
        expect_product(c, {2, kN, kK}, a.rows_of(kK), b.lanes_of(L, kK * L, L));
        expect_product(c_far, {2, kN, kK}, a.rows_of(kK), b.lanes_of(L, kK * L, L));
    }
}

template <class A, class B>
void check_lanes() {
    check_pair<A, B, 4>();
    check_pair<A, B, 8>();
    check_pair<A, B, 16>();
}

TEST(ContractTypes, F32WithEveryType) {
    check_lanes<const float*, const f16*>();
    check_lanes<const float*, const bf16*>();
    check_lanes<const float*, const int8_t*>();
    check_lanes<const float*, const uint8_t*>();
    check_lanes<const float*, Bits<4>>();
    check_lanes<const float*, SignedBits<6>>();
}
TEST(ContractTypes, SixteenBitsWithSixteenBits) {
    check_lanes<const f16*, const f16*>();
    check_lanes<const bf16*, const bf16*>();
}
TEST(ContractTypes, PackedBitsOnTheLeft) {
    check_lanes<Bits<3>, const float*>();
}

// Weights of 4 bits in blocks of 32 along k with a scale in F16 for each: (q - 8) * scale has 15 bits, so
// decoding rounds nothing.
template <int L>
void check_decoded() {
    if constexpr (is_checked(L)) {
        static constexpr ContractTile kTile{.lanes = L, .rows = 2, .groups = 2};
        static constexpr ContractKTile kTileK{.lanes = L, .rows = 2, .columns = 4};
        using V = Vector<float, L>;
        constexpr int64_t kBlock = 32;
        for (const int64_t n : {int64_t{2 * L}, int64_t{2 * L + 3}}) {
            const int64_t m = 3, k = 96, blocks = k / kBlock, groups = ceil_div(n, L);
            const Numbers<const float*> a(m * k, 1);
            const Numbers<Bits<4>> numbers(groups * k * L, 2), numbers_k(n * k, 3);
            const Numbers<const f16*> scales(groups * blocks * L, 4), scales_k(n * blocks, 5);
            Matrix weights{{}, L, k * L, L}, weights_k{{}, 1, k, 1};
            for (int64_t i = 0; i < groups * k * L; ++i) {
                const int64_t block = i / L / kBlock;  // of all groups: each has whole blocks
                weights.numbers.push_back((numbers[i] - 8) * scales[block * L + i % L]);
            }
            for (int64_t i = 0; i < n * k; ++i)
                weights_k.numbers.push_back((numbers_k[i] - 8) * scales_k[i / kBlock]);

            Guarded<float> c(m * n);
            contract<kTile>(m, n, k, rows(a.pointer(), k, Int<1>{}),
                            decoded([&](int64_t group, int64_t kk, auto count) {
                                const int64_t block = (group * blocks + kk / kBlock) * L;
                                const V scale = load_group<V>(scales.pointer() + block, count);
                                const V q = load_group<V>(numbers.pointer() + (group * k + kk) * L, count);
                                return (q - 8.0f) * scale;
                            }),
                            result(c.data(), n, Int<L>{}));
            expect_product(c, {m, n, k}, a.rows_of(k), weights);

            Guarded<float> c_k(m * n);
            contract_k<kTileK>(m, n, k, k_lanes(a.pointer(), k, Int<L>{}),
                               decoded_k([&](int64_t j, int64_t group, auto count) {
                                   const int64_t block = j * blocks + group * L / kBlock;
                                   const V q =
                                       load_group<V>(numbers_k.pointer() + (j * k + group * L), count);
                                   return (q - 8.0f) * element(scales_k.pointer(), block);
                               }),
                               elements(c_k.data(), n, Int<1>{}));
            expect_product(c_k, {m, n, k}, a.rows_of(k), weights_k);
        }
    }
}

TEST(ContractTypes, DecodedOperands) {
    check_decoded<4>();
    check_decoded<8>();
    check_decoded<16>();
}

// Values of the cache as F16 or by way of a function, beside the same values in F32: the same bits come out.
template <class P, int L>
void check_values() {
    if constexpr (is_checked(L)) {
        static constexpr ContractTile kTile{.lanes = L, .rows = 2, .groups = 2};
        const int64_t queries = 3, positions = 21;
        constexpr int64_t kDepth = 2 * L + 1;
        const Numbers<P> values(positions * kDepth, 8);
        std::vector<float> wide;
        for (int64_t i = 0; i < positions * kDepth; ++i) wide.push_back(element(values.pointer(), i));
        const auto scores = Random(9).numbers(queries * positions);
        std::vector<std::vector<float>> found;
        const auto run = [&](auto operand, auto ahead) {
            constexpr ContractTile kAhead = [] {
                ContractTile tile = kTile;
                tile.prefetch = decltype(ahead)::value;
                return tile;
            }();
            std::vector<float> weights = scores, m(3), l(3), a(static_cast<size_t>(queries * kDepth));
            const auto state = softmax_state(m.data(), l.data(), a.data(), Int<kDepth>{}, Int<L>{});
            softmax_init<L>(queries, Int<kDepth>{}, state);
            softmax_step<kAhead>(queries, positions, Int<kDepth>{}, weights.data(), positions, operand,
                                 state);
            found.push_back(a);
        };
        run(lanes(wide.data(), Int<L>{}, Int<kDepth>{}), Int<0>{});
        run(lanes(values.pointer(), Int<L>{}, Int<kDepth>{}), Int<64>{});
        run(decoded([&](int64_t group, int64_t k, auto count) {
                return load_group<Vector<float, L>>(values.pointer() + (k * kDepth + group * L), count);
            }),
            Int<0>{});
        // Fetched ahead, beyond the last of them too.
        const auto at =
            lanes_at([&](int64_t group, int64_t k) { return values.pointer() + (k * kDepth + group * L); });
        run(at, Int<64>{});
        run(at, Int<16384>{});
        EXPECT_NE(found[0], std::vector<float>(found[0].size()));
        EXPECT_EQ(found[0], found[1]);
        for (size_t i = 2; i < found.size(); ++i) EXPECT_EQ(found[0], found[i]) << i;
    }
}

TEST(ContractTypes, ValuesOfAttention) {
    check_values<const f16*, kRegisterLanes>();
    check_values<const f16*, 8>();
    check_values<const bf16*, kRegisterLanes>();
    check_values<const int8_t*, kRegisterLanes>();
}

}  // namespace
}  // namespace tessera::ntt
