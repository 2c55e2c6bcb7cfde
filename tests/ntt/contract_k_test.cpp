#include "tessera/ntt/contract_k.h"

#include <cmath>

#include <gtest/gtest.h>

#include "ntt/buffers.h"

namespace tessera::ntt {
namespace {

struct Case {
    int64_t m, n, k;
    bool blocked;  // B as [K/L][N][L] instead of [N][K]
};

// Against a double sum, within the bound of a sum of K products in any order.
template <ContractKTile Tile, class M, class N, class K>
void check(M m_extent, N n_extent, K k_extent, bool blocked) {
    constexpr int64_t L = Tile.lanes;
    const Case c{m_extent, n_extent, k_extent, blocked};
    SCOPED_TRACE("M " + std::to_string(c.m) + " N " + std::to_string(c.n) + " K " + std::to_string(c.k) +
                 (blocked ? " blocked" : ""));
    Random random(static_cast<uint64_t>(c.m * 10007 + c.n * 101 + c.k));
    const int64_t groups = ceil_div(c.k, L);
    const bool padded = Tile.k_padded;
    const int64_t stride_a = padded ? groups * L : c.k + 1;
    const int64_t stride_b = blocked ? L : (padded ? groups * L : c.k);
    const int64_t group_b = blocked ? c.n * L : L;
    const auto index_b = [&](int64_t n, int64_t k) { return n * stride_b + k / L * group_b + k % L; };
    std::vector<float> a(static_cast<size_t>(padded ? c.m * stride_a : (c.m - 1) * stride_a + c.k));
    std::vector<float> b(static_cast<size_t>(padded ? c.n * groups * L : index_b(c.n - 1, c.k - 1) + 1));
    // Memory between the valid elements must not count: 0 where the tile promises padding, else NaN.
    for (float& x : a) x = padded ? 0.0f : std::nanf("");
    for (float& x : b) x = padded ? 0.0f : std::nanf("");
    for (int64_t k = 0; k < c.k; ++k) {
        for (int64_t m = 0; m < c.m; ++m) a[static_cast<size_t>(m * stride_a + k)] = random.next();
        for (int64_t n = 0; n < c.n; ++n) b[static_cast<size_t>(index_b(n, k))] = random.next();
    }
    const int64_t ld = c.n + 2;
    Guarded<float> out(random.numbers((c.m - 1) * ld + c.n));
    const Guarded<float> before = out;

    contract_k<Tile>(m_extent, n_extent, k_extent, k_lanes(a.data(), stride_a, Int<L>{}),
                     k_lanes(b.data(), stride_b, group_b), elements(out.data(), ld, Int<1>{}));

    ASSERT_TRUE(out.guards_are_intact());
    for (int64_t m = 0; m < c.m; ++m) {
        for (int64_t n = 0; n < ld && m * ld + n < (c.m - 1) * ld + c.n; ++n) {
            const int64_t at = m * ld + n;
            if (n >= c.n) {
                ASSERT_EQ(out[at], before[at]) << "between the rows of C";
                continue;
            }
            double exact = Tile.accumulate ? before[at] : 0.0f, size = std::fabs(exact);
            for (int64_t k = 0; k < c.k; ++k) {
                const double term = static_cast<double>(a[static_cast<size_t>(m * stride_a + k)]) *
                                    b[static_cast<size_t>(index_b(n, k))];
                exact += term;
                size += std::fabs(term);
            }
            ASSERT_LE(std::fabs(out[at] - exact), static_cast<double>(2 * c.k + 1) * 0x1p-24 * size)
                << "m " << m << " n " << n;
        }
    }
}

template <ContractKTile Tile>
void check_sizes() {
    constexpr int64_t L = Tile.lanes;
    for (const int64_t m : {1, 3, Tile.rows, 2 * Tile.rows + 1}) {
        for (const int64_t n : {1, 2, Tile.columns, Tile.columns + 1, 13}) {
            for (const int64_t k : {int64_t{1}, L - 1, L, L + 1, int64_t{31}, 3 * L + 2}) {
                if (k < 1) continue;
                check<Tile>(m, n, k, false);
                check<Tile>(m, n, k, true);
            }
        }
    }
}

TEST(ContractK, LanesOfTheMachine) {
    check_sizes<ContractKTile{.lanes = kRegisterLanes, .rows = 4, .columns = 4}>();
    check_sizes<ContractKTile{.lanes = kRegisterLanes, .rows = 1, .columns = 4, .accumulate = true}>();
    check_sizes<ContractKTile{.lanes = kRegisterLanes, .rows = 2, .columns = 3, .k_padded = true}>();
}
TEST(ContractK, OtherLanes) {
    check_sizes<ContractKTile{.lanes = 1, .rows = 2, .columns = 2}>();
    check_sizes<ContractKTile{.lanes = 16, .rows = 3, .columns = 2, .accumulate = true}>();
    check_sizes<ContractKTile{.lanes = 64, .rows = 1, .columns = 2}>();
}
TEST(ContractK, StaticExtents) {
    static constexpr ContractKTile kTile{.lanes = 8, .rows = 4, .columns = 2};
    check<kTile>(Int<5>{}, Int<7>{}, Int<40>{}, false);
    check<kTile>(Int<1>{}, Int<16>{}, Int<19>{}, true);
    check<kTile>(int64_t{6}, Int<3>{}, Int<8>{}, false);
}

}  // namespace
}  // namespace tessera::ntt
