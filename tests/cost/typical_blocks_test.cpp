// Times of register blocks by hand, on a unit of 16 lanes: 100 GFLOP/s are 0.32 ns for an instruction.
#include "cost/typical_blocks.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "cost/measured_machine.h"
#include "lowering/kernels/leaf_of.h"

namespace tessera::cost {
namespace {

constexpr double kInstruction = 2 * 16 / 100e9;

double instructions(const std::string& leaf, int64_t m, int64_t n, int64_t k, const char* type = "f32") {
    const plan::Leaf parsed = testing::leaf_of("y[" + leaf + "]");
    const auto unit = unit_of(testing::machine_with_tiles(), parsed, {{"A", type}, {"B", type}});
    EXPECT_TRUE(unit) << leaf;
    return typical_product(*unit, parsed, m, n, k).all / kInstruction;
}

constexpr const char* kManyRows = "contract groups=2 k=k lanes=16 m=t n=n rows=12";

TEST(TypicalBlocks, ABlockMultipliesAndEnds) {
    EXPECT_NEAR(instructions(kManyRows, 12, 32, 100), 100 * 24 + 40 + 48, 1e-6);
    EXPECT_NEAR(instructions(kManyRows, 24, 96, 100), 6 * (100 * 24 + 40 + 48), 1e-6);
    EXPECT_LT(instructions(kManyRows, 1200, 3200, 4096), 1.001 * 1200 * 200 * 4096) << "the peak, nearly";
}

TEST(TypicalBlocks, RestsAreLowerBlocks) {
    const double ends = 2 * 40 + 48;
    EXPECT_NEAR(instructions(kManyRows, 14, 32, 100), 100 * (24 + 8) + ends + 8, 30)
        << "four sums of two rows wait for each other";
    EXPECT_NEAR(instructions(kManyRows, 12, 33, 100), 100 * (24 + 13) + ends + 24, 130)
        << "one group of twelve rows loads more than it multiplies";
    EXPECT_NEAR(instructions(std::string(kManyRows) + " partial_sums=4", 14, 32, 100),
                100 * (24 + 4) + ends + 8, 70)
        << "sums that take turns";
}

TEST(TypicalBlocks, WholeBlocksOfEveryShapeReachThePeak) {
    for (const char* block : {"rows=1 groups=1", "rows=1 groups=4", "rows=12 groups=2", "rows=6 groups=4"}) {
        const std::string leaf = std::string("contract k=k lanes=16 m=t n=n ") + block;
        EXPECT_NEAR(instructions(leaf, 12, 64, 1 << 20), 12 * 4 * double{1 << 20}, 1e4) << block;
    }
}

TEST(TypicalBlocks, LowBlocksOfASoftmaxWaitForTheirSums) {
    const std::string stream = "stream d=n groups=4 lanes=16 ";
    const double peak = 12 * 4 * double{1 << 20};
    EXPECT_NEAR(instructions(stream + "m=t rows=6", 12, 64, 1 << 20), peak, 0.01 * peak);
    EXPECT_NEAR(12 * instructions(stream + "rows=1", 1, 64, 1 << 20), 2 * peak, 0.05 * peak)
        << "four sums of four cycles, in which eight begin";
}

TEST(TypicalBlocks, AnInstructionMayAddSeveralK) {
    const std::string pairs = std::string(kManyRows) + " k_lanes=2 dot=2";
    // The unit of BF16 has twice the peak with twice the operations in an instruction.
    EXPECT_NEAR(instructions(pairs, 12, 32, 100, "bf16"), 50 * 24 + 40 + 48, 1e-6);
    EXPECT_NEAR(instructions("dot columns=4 k=k lanes=16 m=t n=n rows=4", 4, 4, 160), 10 * 16 + 40 + 16 * 8,
                1e-6)
        << "lanes along k are folded at the end";
}

TEST(TypicalBlocks, WideGroupsTakeSeveralInstructions) {
    EXPECT_NEAR(instructions("contract groups=1 k=k lanes=32 m=t n=n rows=12", 12, 32, 100),
                2 * 100 * 12 + 40 + 24, 1e-6);
}

// A law, since merges are left out by the bound.
TEST(TypicalBlocks, NoPartsAreFasterThanTheBound) {
    std::mt19937 random(1);
    const auto below = [&](int64_t end) {
        return static_cast<int64_t>(random() % static_cast<uint32_t>(end)) + 1;
    };
    const machine::Machine machine = testing::machine_with_tiles();
    for (const char* block :
         {"contract rows=12 groups=2", "contract rows=4 groups=4", "contract rows=1 groups=1 partial_sums=4",
          "contract rows=4 groups=2 panel_blocks=3", "dot rows=4 columns=4",
          "contract_tiles tile_rows=16 depth=32"}) {
        const plan::Leaf leaf = testing::leaf_of("y[" + std::string(block) + " k=k lanes=16 m=t n=n]");
        const char* const type = std::string(block).starts_with("contract_tiles") ? "bf16" : "f32";
        auto unit = unit_of(machine, leaf, {{"A", type}, {"B", type}});
        ASSERT_TRUE(unit) << block;
        for (int i = 0; i < 200; ++i) {
            unit->decoding = i % 4;
            const int64_t m = below(40), n = below(200), k = below(100);
            const int64_t tile_m = below(m), tile_n = below(n), tile_k = below(k);
            double seconds = 0;
            for (int64_t a = 0; a < m; a += tile_m)
                for (int64_t b = 0; b < n; b += tile_n)
                    for (int64_t c = 0; c < k; c += tile_k)
                        seconds += typical_product(*unit, leaf, std::min(tile_m, m - a),
                                                   std::min(tile_n, n - b), std::min(tile_k, k - c))
                                       .all;
            EXPECT_GE(seconds, least_product_seconds(*unit, leaf, m, n, k) * (1 - 1e-12))
                << block << ": " << m << " " << n << " " << k << " in " << tile_m << " " << tile_n << " "
                << tile_k;
        }
    }
}

TEST(TypicalBlocks, TilesOfAMatrixUnitAreWhole) {
    const std::string tiles = "contract_tiles k=k lanes=16 m=t n=n tile_rows=16 depth=32";
    const double whole = instructions(tiles, 16, 16, 64, "bf16");
    EXPECT_NEAR(whole * kInstruction, 2.0 * 16 * 16 * 64 / 1e12, 1e-18);
    EXPECT_EQ(instructions(tiles, 3, 16, 64, "bf16"), whole);
    EXPECT_EQ(instructions(tiles, 17, 16, 64, "bf16"), 2 * whole);
}

}  // namespace
}  // namespace tessera::cost
