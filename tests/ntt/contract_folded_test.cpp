// Contractions in blocks whose coefficients are integers times a number for several blocks, against plain
// loops.

#include <gtest/gtest.h>

#include "ntt/folded_operands.h"
#include "ntt/widths.h"

namespace tessera::ntt {
namespace {

template <ContractBlocksTile Tile, class P, int Fold, class S, bool HasOffset>
void check(const FoldedCase& c) {
    SCOPED_TRACE("M " + std::to_string(c.m) + " N " + std::to_string(c.n) + " K " + std::to_string(c.k));
    const FoldedOperands<Tile, P, Fold, S> operands(c);
    const auto coefficient = operands.coefficient();
    const auto a = operands.a();
    Guarded<float> found(Random(1).numbers(c.m * c.n));
    const Guarded<float> before = found;
    const auto contract_with = [&](auto offset) {
        contract_blocks<Tile>(c.m, c.n, c.k, a, operands.a_scale(), operands.b(), coefficient, offset,
                              result(found.data(), c.n, Int<Tile.lanes>{}));
    };
    if constexpr (HasOffset) {
        contract_with(operands.offset());
    } else {
        contract_with(no_offset);
    }
    ASSERT_TRUE(found.guards_are_intact());
    using A = std::remove_const_t<decltype(a)>;
    using Coefficient = std::remove_const_t<decltype(coefficient)>;
    const int64_t part =
        detail::fitting_rows<Tile, A, decltype(operands.b()), Coefficient>(operands.blocks()) / Tile.rows *
        Tile.rows;
    for (int64_t m = 0; m < c.m; ++m) {
        const int64_t rows_of_part = std::min(part, c.m - m / part * part);
        const bool is_folded = detail::kFoldsPanels<Tile, A, Coefficient> &&
                               rows_of_part >= int64_t{Tile.panel_blocks} * Tile.rows;
        for (int64_t n = 0; n < c.n; ++n) {
            const float start = Tile.accumulate ? before[m * c.n + n] : 0.0f;
            const float expected = operands.expected(m, n, start, HasOffset, is_folded);
            ASSERT_TRUE(same(found[m * c.n + n], expected))
                << "m " << m << " n " << n << ": " << found[m * c.n + n] << ", expected " << expected;
        }
    }
}

template <ContractBlocksTile Tile, class P, int Fold, class S, bool HasOffset>
void check_sizes() {
    if constexpr (is_checked(Tile.lanes)) {
        constexpr int64_t L = Tile.lanes;
        for (const int64_t m : {1, 2 * Tile.rows + 1, 5 * Tile.rows - 1}) {
            for (const int64_t n : {int64_t{1}, L * Tile.groups, L * (2 * Tile.groups - 1) + L / 2 + 1}) {
                for (const int64_t turns : {0, 1, 3})
                    check<Tile, P, Fold, S, HasOffset>({m, n, turns * Tile.a_block});
            }
        }
    }
}

// Q4_K and Q5_K.
TEST(ContractFolded, IntegersAndOffsets) {
    check_sizes<
        ContractBlocksTile{
            .lanes = kRegisterLanes, .rows = 8, .groups = 2, .block = 32, .a_block = 256, .panel_blocks = 4},
        Bits<4>, 256, uint8_t, true>();
    check_sizes<ContractBlocksTile{.lanes = 2 * kRegisterLanes,
                                   .rows = 3,
                                   .groups = 1,
                                   .block = 32,
                                   .a_block = 128,
                                   .accumulate = true,
                                   .panel_blocks = 2},
                Bits<5>, 64, uint8_t, true>();
}

// Q6_K.
TEST(ContractFolded, SignedIntegersAndZero) {
    check_sizes<ContractBlocksTile{.lanes = kRegisterLanes,
                                   .rows = 4,
                                   .groups = 4,
                                   .block = 16,
                                   .a_block = 256,
                                   .zero = -32,
                                   .panel_blocks = 4},
                Bits<6>, 64, int8_t, false>();
}

// Q8_0 and Q4_1: one number for every block, and a scale of A for several.
TEST(ContractFolded, NoIntegers) {
    check_sizes<ContractBlocksTile{.lanes = kRegisterLanes,
                                   .rows = 6,
                                   .groups = 2,
                                   .block = 32,
                                   .a_block = 256,
                                   .zero = -64,
                                   .panel_blocks = 4},
                Bits<7>, 32, int8_t, false>();
    check_sizes<
        ContractBlocksTile{
            .lanes = kRegisterLanes, .rows = 4, .groups = 3, .block = 32, .a_block = 64, .panel_blocks = 4},
        Bits<4>, 32, int8_t, true>();
}

// More rows than there is room for, of which the last part is too short for panels.
TEST(ContractFolded, RowsInParts) {
    static constexpr ContractBlocksTile kTile{
        .lanes = 4, .rows = 2, .groups = 1, .block = 32, .a_block = 256, .zero = -8, .panel_blocks = 4};
    check<kTile, Bits<4>, 256, uint8_t, false>({37, 3, detail::kSplitNumbers / 32});
}

}  // namespace
}  // namespace tessera::ntt
