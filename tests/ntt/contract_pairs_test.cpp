// Contractions whose B lies in pairs of k, `[N/L][K/2][L][2]` of bf16: by F32 arithmetic, where the sums have
// the bits that one scalar fma after the other gives, and by dot products of pairs, where they have the bits
// of such a chain with the odd k first.

#include <cmath>

#include <gtest/gtest.h>

#include "ntt/buffers.h"
#include "ntt/pair_cases.h"
#include "ntt/widths.h"
#include "tessera/ntt/contract.h"
#include "tessera/ntt/storage.h"

namespace tessera::ntt {
namespace {

/// As the kernel reads B: padded with 0; else the lanes behind N are NaN, and left out where they would be
/// last in memory.
std::vector<bf16> stored_pairs(const std::vector<bf16>& b, const Case& c, int64_t lanes, bool padded) {
    if (padded) return pairs_of(b, c, lanes, 0.0f);
    std::vector<bf16> packed = pairs_of(b, c, lanes);
    if (c.n % lanes != 0) packed.resize(packed.size() - static_cast<size_t>(lanes - c.n % lanes) * 2);
    return packed;
}

/// The sum in the order in which the contraction forms it.
template <ContractTile Tile, class T>
float sum_in_order(const T* a, const bf16* b, int64_t depth, float start) {
    constexpr int64_t kParts = Tile.partial_sums;
    float sums[kParts] = {start};
    const int64_t in_turns = depth / 2 / kParts * kParts;
    for (int64_t k = 0; k < depth; k += 2) {
        float& sum = sums[k / 2 < in_turns ? k / 2 % kParts : 0];
        const bool is_pair = k + 1 < depth;
        if (Tile.dot && is_pair) sum = fma(element(a, k + 1), element(b, k + 1), sum);
        sum = fma(element(a, k), element(b, k), sum);
        if (!Tile.dot && is_pair) sum = fma(element(a, k + 1), element(b, k + 1), sum);
    }
    for (int64_t p = 1; p < kParts; ++p) sums[0] += sums[p];
    return sums[0];
}

/// B as it lies: in pairs, or in rows of k of which pairs are made.
enum class Form { kPairs, kRows };

template <ContractTile Tile, class T>
void check(const Case& c, Form form = Form::kPairs) {
    SCOPED_TRACE(c.text());
    constexpr int64_t L = Tile.lanes;
    Random random(static_cast<uint64_t>(c.m * 10007 + c.n * 101 + c.k));
    const int64_t stride_m = c.k + 3;  // rows lie apart, the last one ends at the end of what can be read
    const auto a = numbers<T>(random, (c.m - 1) * stride_m + c.k);
    const auto b = numbers<bf16>(random, c.n * c.k);
    const AtPageEnd<T> a_data(a);
    const AtPageEnd<bf16> b_data(form == Form::kRows ? rows_of_k(b, c)
                                                     : stored_pairs(b, c, L, Tile.b_padded));
    Guarded<float> result_data(random.numbers(c.m * c.n));
    const Guarded<float> before = result_data;

    const auto contract_by = [&](const auto& operand) {
        contract<Tile>(c.m, c.n, c.k, rows(a_data.data(), stride_m, Int<1>{}), operand,
                       result(result_data.data(), c.n, Int<L>{}));
    };
    if constexpr (Tile.dot) {
        if (form == Form::kRows) contract_by(lanes(b_data.data(), Int<L>{}, c.n));
    }
    if (form == Form::kPairs) contract_by(lane_pairs(b_data.data(), ceil_div(c.k, 2) * 2 * L, Int<2 * L>{}));

    ASSERT_TRUE(result_data.guards_are_intact());
    for (int64_t m = 0; m < c.m; ++m) {
        for (int64_t n = 0; n < c.n; ++n) {
            const T* a_row = a.data() + m * stride_m;
            const bf16* b_row = b.data() + n * c.k;
            const float start = Tile.accumulate ? before[m * c.n + n] : 0.0f;
            const float found = result_data[m * c.n + n];
            ASSERT_TRUE(same(found, sum_in_order<Tile>(a_row, b_row, c.k, start)))
                << "m " << m << " n " << n << ": " << found;
            double exact = start, size = std::fabs(start);
            for (int64_t k = 0; k < c.k; ++k) {
                const double product = static_cast<double>(element(a_row, k)) * element(b_row, k);
                exact += product;
                size += std::fabs(product);
            }
            ASSERT_LE(std::fabs(found - exact), static_cast<double>(2 * c.k + 1) * 0x1p-24 * size);
        }
    }
}

template <ContractTile Tile, class T>
void check_sizes(Form form = Form::kPairs) {
    if constexpr (is_checked(Tile.lanes)) {
        constexpr int64_t L = Tile.lanes;
        for (const int64_t m : {1, 2, Tile.rows, Tile.rows + 1, 2 * Tile.rows - 1}) {
            for (const int64_t n : {int64_t{1}, L, L + 3, L * Tile.groups, L * (2 * Tile.groups - 1) + 1}) {
                for (const int64_t k : {1, 2, 3, 16, 31}) check<Tile, T>({m, n, k}, form);
            }
        }
    }
}

TEST(ContractPairs, F32Arithmetic) {
    check_sizes<ContractTile{.lanes = kRegisterLanes, .rows = 6, .groups = 2}, float>();
    check_sizes<ContractTile{.lanes = kRegisterLanes, .rows = 4, .groups = 3, .accumulate = true}, f16>();
    check_sizes<ContractTile{.lanes = kRegisterLanes, .rows = 1, .groups = 4, .k_unroll = 2, .prefetch = 512},
                float>();
    check_sizes<ContractTile{.lanes = 8, .rows = 1, .groups = 1, .prefetch = 16384}, float>();
    check_sizes<ContractTile{.lanes = kRegisterLanes, .rows = 12, .groups = 2, .b_padded = true}, bf16>();
    check<ContractTile{.lanes = kRegisterLanes, .rows = 12, .groups = 2, .b_padded = true}, bf16>(
        {33, 19, 2051});
    check<ContractTile{.lanes = kRegisterLanes, .rows = 4, .groups = 3, .accumulate = true}, f16>(
        {33, 19, 2051});
    check_sizes<ContractTile{.lanes = 32, .rows = 2, .groups = 1}, bf16>();
}
TEST(ContractPairs, DotProducts) {
    check_sizes<ContractTile{.lanes = kRegisterLanes, .rows = 6, .groups = 2, .dot = true}, bf16>();
    check_sizes<ContractTile{.lanes = 8, .rows = 4, .groups = 3, .accumulate = true, .dot = true}, bf16>();
    check_sizes<
        ContractTile{
            .lanes = kRegisterLanes, .rows = 1, .groups = 4, .k_unroll = 4, .prefetch = 512, .dot = true},
        bf16>();
    check_sizes<ContractTile{.lanes = kRegisterLanes, .rows = 12, .groups = 2, .b_padded = true, .dot = true},
                bf16>();
    check_sizes<ContractTile{.lanes = 32, .rows = 2, .groups = 1, .dot = true}, bf16>();
    check_sizes<ContractTile{.lanes = 4, .rows = 2, .groups = 2, .dot = true}, bf16>();
}

TEST(ContractPairs, PairsThatAreMade) {
    check_sizes<ContractTile{.lanes = kRegisterLanes, .rows = 6, .groups = 2, .dot = true}, bf16>(
        Form::kRows);
    check_sizes<ContractTile{.lanes = kRegisterLanes,
                             .rows = 2,
                             .groups = 3,
                             .k_unroll = 2,
                             .accumulate = true,
                             .prefetch = 16384,
                             .dot = true,
                             .partial_sums = 2},
                bf16>(Form::kRows);
    check_sizes<ContractTile{.lanes = 32, .rows = 2, .groups = 1, .prefetch = 512, .dot = true}, bf16>(
        Form::kRows);
}

TEST(ContractPairs, Streams) {
    check_sizes<ContractTile{.lanes = kRegisterLanes, .rows = 2, .groups = 2, .prefetch = 512, .streams = 2},
                f16>();
    check_sizes<ContractTile{.lanes = 8, .rows = 1, .groups = 4, .streams = 4, .dot = true}, bf16>();
    check_sizes<
        ContractTile{.lanes = 8, .rows = 1, .groups = 2, .prefetch = 16384, .streams = 2, .dot = true}, bf16>(
        Form::kRows);
}

TEST(ContractPairs, PartialSums) {
    check_sizes<ContractTile{.lanes = kRegisterLanes, .rows = 1, .groups = 1, .dot = true, .partial_sums = 4},
                bf16>();
    check_sizes<ContractTile{.lanes = kRegisterLanes, .rows = 2, .groups = 1, .partial_sums = 4}, f16>();
}

TEST(ContractPairs, StaticExtents) {
    static constexpr ContractTile kTile{.lanes = 16, .rows = 4, .groups = 2, .dot = true};
    constexpr int64_t kM = 5, kN = 53, kK = 33;
    Random random(3);
    const Case c{kM, kN, kK};
    const auto a = numbers<bf16>(random, kM * kK), b = numbers<bf16>(random, kN * kK);
    const auto packed = stored_pairs(b, c, 16, false);
    Guarded<float> found(kM * kN);
    contract<kTile>(Int<kM>{}, Int<kN>{}, Int<kK>{}, rows(a.data(), Int<kK>{}, Int<1>{}),
                    lane_pairs(packed.data(), Int<34 * 16>{}, Int<32>{}),
                    result(found.data(), Int<kN>{}, Int<16>{}));
    ASSERT_TRUE(found.guards_are_intact());
    for (int64_t i = 0; i < kM * kN; ++i) {
        const float expected = sum_in_order<kTile>(a.data() + i / kN * kK, b.data() + i % kN * kK, kK, 0.0f);
        ASSERT_TRUE(same(found[i], expected)) << i;
    }
}

// A machine may take and give 0 for a number, a product or a sum that is denormal.
TEST(ContractPairs, DenormalsOfADotProduct) {
    using V = Vector<float, 16>;
    const auto pair = [](uint32_t even, uint32_t odd) {
        return broadcast<PairsOf<V>>(static_cast<int32_t>(odd << 16 | even));
    };
    const uint32_t denormal = 0x0040, tiny = 0x1f80, one = 0x3f80;  // 2^-127, 2^-64, 1
    const V zero = broadcast<V>(0.0f);
    EXPECT_LE(std::fabs(dot_add(zero, pair(denormal, 0), pair(one, 0))[0] - 0x1p-127), 0x1p-126);
    EXPECT_LE(std::fabs(dot_add(zero, pair(tiny, tiny), pair(tiny, tiny))[3] - 0x1p-127), 0x1p-126);
    EXPECT_EQ(dot_add(zero, pair(one, tiny), pair(one, one))[15], 1.0f);
}

TEST(ContractPairs, InfinitiesAndNan) {
    using V = Vector<float, 8>;
    const auto pairs = [](uint32_t even, uint32_t odd) {
        return broadcast<PairsOf<V>>(static_cast<int32_t>(odd << 16 | even));
    };
    const uint32_t infinity = 0x7f80, nan = 0x7fc0, one = 0x3f80;
    const V zero = broadcast<V>(0.0f);
    EXPECT_EQ(dot_add(zero, pairs(infinity, one), pairs(one, one))[0], HUGE_VALF);
    const float undefined = dot_add(zero, pairs(one, infinity), pairs(one, 0))[7];
    EXPECT_NE(undefined, undefined);
    const float unknown = dot_add(zero, pairs(nan, one), pairs(one, one))[1];
    EXPECT_NE(unknown, unknown);
}

}  // namespace
}  // namespace tessera::ntt
