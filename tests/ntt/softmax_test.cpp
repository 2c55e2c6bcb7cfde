#include "tessera/ntt/softmax.h"

#include <cmath>

#include <gtest/gtest.h>

#include "ntt/buffers.h"
#include "ntt/softmax_cases.h"

namespace tessera::ntt {
namespace {

// Positions [begin, end) of the problem, as exact-size tiles.
template <ContractTile Tile, class I, class D, class State>
void step(const Problem& p, I i_extent, D d_extent, int64_t begin, int64_t end, const State& state) {
    const int64_t width = end - begin, stride = width + 2;
    Guarded<float> tile((p.rows - 1) * stride + width, -1.0f);
    for (int64_t i = 0; i < p.rows; ++i) {
        for (int64_t s = 0; s < width; ++s) {
            tile.data()[i * stride + s] = p.scores[static_cast<size_t>(i * p.positions + begin + s)];
        }
    }
    const std::vector<float> values(p.values.begin() + begin * p.depth, p.values.begin() + end * p.depth);
    softmax_step<Tile>(i_extent, width, d_extent, tile.data(), stride,
                       lanes(values.data(), Int<Tile.lanes>{}, p.depth), state);
    EXPECT_TRUE(tile.guards_are_intact());
    for (int64_t i = 0; i + 1 < p.rows; ++i)
        EXPECT_EQ(tile[i * stride + width], -1.0f) << "between the rows of scores";
}

template <ContractTile Tile>
void check_sizes() {
    constexpr int L = Tile.lanes;
    for (const int64_t rows : {1, 3, 5, 70}) {
        for (const int64_t positions : {1, L - 1, L, L + 1, 61}) {
            for (const int64_t depth : {1, L, L + 1, 37}) {
                if (positions < 1) continue;
                for (const int64_t cut : {int64_t{1000}, int64_t{7}}) {
                    SCOPED_TRACE("rows " + std::to_string(rows) + " positions " + std::to_string(positions) +
                                 " depth " + std::to_string(depth) + " cut " + std::to_string(cut));
                    const Problem p =
                        make(rows, positions, depth, static_cast<uint64_t>(rows * positions + depth));
                    Buffers<L, int64_t> b(rows, depth, depth + 3);
                    softmax_init<L>(rows, depth, b.state);
                    int64_t steps = 0;
                    for (int64_t s = 0; s < positions; s += cut, ++steps) {
                        step<Tile>(p, rows, depth, s, std::min(s + cut, positions), b.state);
                    }
                    b.expect(p, steps);
                }
            }
        }
    }
}

TEST(Softmax, LanesOfTheMachine) {
    check_sizes<ContractTile{.lanes = kRegisterLanes, .rows = 4, .groups = 2}>();
}
TEST(Softmax, OtherLanes) {
    check_sizes<ContractTile{.lanes = 16, .rows = 6, .groups = 1}>();
    check_sizes<ContractTile{.lanes = 4, .rows = 1, .groups = 4}>();
}

TEST(Softmax, StaticExtents) {
    static constexpr ContractTile kTile{.lanes = 16, .rows = 4, .groups = 2};
    const Problem p = make(6, 40, 64, 5);
    Buffers<16, Int<64>> b(6, 64, Int<64>{});
    softmax_init<16>(Int<6>{}, Int<64>{}, b.state);
    step<kTile>(p, Int<6>{}, Int<64>{}, 0, 25, b.state);
    step<kTile>(p, Int<6>{}, Int<64>{}, 25, 40, b.state);
    b.expect(p, 2);
}

// More positions in a step than a panel holds: only the first part of them scales the earlier result.
TEST(Softmax, ValuesByPanels) {
    static constexpr ContractTile kTile{.lanes = 16, .rows = 4, .groups = 2, .panel_blocks = 2};
    constexpr int64_t kWidth = kContractPanel / (kTile.lanes * kTile.groups) + 300;
    const Problem p = make(9, 2 * kWidth, 37, 7);
    Buffers<16, int64_t> b(9, 37, 37);
    softmax_init<16>(9, 37, b.state);
    step<kTile>(p, 9, 37, 0, kWidth, b.state);
    step<kTile>(p, 9, 37, kWidth, 2 * kWidth, b.state);
    b.expect(p, 2);
}

template <ContractTile Tile>
void check_rounded() {
    for (const int64_t cut : {8, 37}) {
        check_rounded_weights<Tile.lanes>({5, 37, 19}, cut,
                                          [](auto... arguments) { softmax_step<Tile, bf16>(arguments...); });
    }
}

TEST(Softmax, WeightsThatAreRounded) {
    check_rounded<ContractTile{.lanes = kRegisterLanes, .rows = 4, .groups = 2}>();
    check_rounded<ContractTile{.lanes = kRegisterLanes, .rows = 4, .groups = 2, .dot = true}>();
    check_rounded<ContractTile{.lanes = 32, .rows = 2, .groups = 1, .dot = true}>();
}

template <ContractTile Tile, class Weight>
void check_masked() {
    constexpr double kTolerance = std::same_as<Weight, bf16> ? 0x1p-8 : 1e-5;
    for (const int64_t rows : {1, 5, 70}) {
        for (const int64_t cut : {1, 8, 37}) {
            check_masked_values<Tile.lanes>({rows, 90, 19}, cut, kTolerance, [](auto... arguments) {
                softmax_step<Tile, Weight>(arguments...);
            });
        }
    }
}

TEST(Softmax, MaskedValuesNeedNotBeFinite) {
    check_masked<ContractTile{.lanes = kRegisterLanes, .rows = 4, .groups = 2}, float>();
    check_masked<ContractTile{.lanes = kRegisterLanes, .rows = 4, .groups = 2, .panel_blocks = 2}, float>();
    check_masked<ContractTile{.lanes = kRegisterLanes, .rows = 4, .groups = 2}, bf16>();
    check_masked<ContractTile{.lanes = kRegisterLanes, .rows = 4, .groups = 2, .dot = true}, bf16>();
}

// The cache is longer than the text, and later tokens than a row's own are masked: neither costs anything.
TEST(Softmax, ValuesBehindTheLastExecutedPositionAreNotRead) {
    static constexpr ContractTile kTile{.lanes = 8, .rows = 2, .groups = 1};
    constexpr int64_t kRows = 3, kDepth = 8, kExecuted = 16, kPositions = 61;
    const AtPageEnd<float> values(std::vector<float>(kExecuted * kDepth, 0.5f));
    std::vector<float> scores(kRows * kPositions, -kInf);
    for (int64_t i = 0; i < kRows; ++i)
        for (int64_t s = 0; s < kExecuted - 3 + i; ++s) scores[static_cast<size_t>(i * kPositions + s)] = 0;
    Buffers<8, int64_t> b(kRows, kDepth, kDepth);
    softmax_init<8>(kRows, kDepth, b.state);
    softmax_step<kTile>(kRows, kPositions, kDepth, scores.data(), kPositions,
                        lanes(values.data(), Int<8>{}, kDepth), b.state);
    for (int64_t i = 0; i < kRows; ++i) {
        EXPECT_EQ(b.sum[i], static_cast<float>(kExecuted - 3 + i));
        EXPECT_EQ(b.value[i * kDepth], 0.5f * static_cast<float>(kExecuted - 3 + i));
    }
}

TEST(Softmax, PartsMergeInEitherOrder) {
    static constexpr ContractTile kTile{.lanes = 8, .rows = 4, .groups = 2};
    for (const int64_t cut : {0, 1, 20, 49, 50}) {
        const Problem p = make(5, 50, 19, 6);
        Buffers<8, int64_t> left(5, 19, 19), right(5, 19, 24);
        softmax_init<8>(5, 19, left.state);
        softmax_init<8>(5, 19, right.state);
        if (cut > 0) step<kTile>(p, 5, 19, 0, cut, left.state);
        if (cut < 50) step<kTile>(p, 5, 19, cut, 50, right.state);
        if (cut % 2 == 0) {
            softmax_merge<8>(5, 19, left.state, right.state);
            left.expect(p, 3);
        } else {
            softmax_merge<8>(5, 19, right.state, left.state);
            right.expect(p, 3);
        }
    }
}

TEST(Softmax, NothingSeenIsTheIdentity) {
    static constexpr ContractTile kTile{.lanes = 8, .rows = 2, .groups = 1};
    Buffers<8, int64_t> b(2, 9, 9);
    softmax_init<8>(2, 9, b.state);
    std::vector<float> scores(6, -kInf);
    const std::vector<float> values(27, 1.0f);
    softmax_step<kTile>(2, 3, 9, scores.data(), 3, lanes(values.data(), 8, 9), b.state);
    softmax_merge<8>(2, 9, b.state, b.state);
    for (int64_t i = 0; i < 2; ++i) {
        EXPECT_EQ(b.maximum[i], -kInf);
        EXPECT_EQ(b.sum[i], 0.0f);
        for (int64_t d = 0; d < 9; ++d) EXPECT_EQ(b.value[i * 9 + d], 0.0f);
    }
}

TEST(Softmax, NanIsNotHidden) {
    static constexpr ContractTile kTile{.lanes = 8, .rows = 2, .groups = 1};
    for (int64_t at = 0; at < 11; ++at) {
        Buffers<8, int64_t> b(1, 4, 4);
        softmax_init<8>(1, 4, b.state);
        std::vector<float> scores(11, 0.5f);
        scores[static_cast<size_t>(at)] = std::nanf("");
        const std::vector<float> values(44, 1.0f);
        softmax_step<kTile>(1, 11, 4, scores.data(), 11, lanes(values.data(), 8, 4), b.state);
        EXPECT_TRUE(std::isnan(b.maximum[0])) << at;
        EXPECT_TRUE(std::isnan(b.sum[0])) << at;
        EXPECT_TRUE(std::isnan(b.value[0])) << at;
    }
}

}  // namespace
}  // namespace tessera::ntt
