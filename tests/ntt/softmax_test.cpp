#include "tessera/ntt/softmax.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "ntt/buffers.h"

namespace tessera::ntt {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

/// The definition of the monoid, in double and in one piece.
struct Reference {
    std::vector<double> maximum, sum, value;
};

struct Problem {
    int64_t rows, positions, depth;
    std::vector<float> scores;  // [rows][positions], some -inf
    std::vector<float> values;  // [positions][depth]
};

Problem make(int64_t rows, int64_t positions, int64_t depth, uint64_t seed) {
    Random random(seed);
    Problem p{rows, positions, depth, random.numbers(rows * positions), random.numbers(positions * depth)};
    for (int64_t i = 0; i < rows; ++i) {
        for (int64_t s = 0; s < positions; ++s) {
            float& x = p.scores[static_cast<size_t>(i * positions + s)];
            x *= 20.0f;
            // Causal rows; row 1 sees nothing at all; row 2 sees only what comes last.
            if (s > positions - rows + i || i == 1 || (i == 2 && s < positions - 1)) x = -kInf;
        }
    }
    return p;
}

Reference solve(const Problem& p) {
    Reference r;
    for (int64_t i = 0; i < p.rows; ++i) {
        double m = -kInf, l = 0;
        std::vector<double> a(static_cast<size_t>(p.depth));
        for (int64_t s = 0; s < p.positions; ++s) {
            m = std::max(m, static_cast<double>(p.scores[static_cast<size_t>(i * p.positions + s)]));
        }
        for (int64_t s = 0; s < p.positions && m > -kInf; ++s) {
            const double w = std::exp(p.scores[static_cast<size_t>(i * p.positions + s)] - m);
            l += w;
            for (int64_t d = 0; d < p.depth; ++d) {
                a[static_cast<size_t>(d)] += w * p.values[static_cast<size_t>(s * p.depth + d)];
            }
        }
        r.maximum.push_back(m);
        r.sum.push_back(l);
        r.value.insert(r.value.end(), a.begin(), a.end());
    }
    return r;
}

template <int L, class SI>
struct Buffers {
    Guarded<float> maximum, sum, value;
    SoftmaxState<StoredExtent<SI>, Int<L>> state;
    int64_t stride;

    Buffers(int64_t rows, int64_t depth, SI stride_i)
        : maximum(rows, 9.0f),
          sum(rows, 9.0f),
          value((rows - 1) * stride_i + depth, 9.0f),
          state(softmax_state(maximum.data(), sum.data(), value.data(), stride_i, Int<L>{})),
          stride(stride_i) {}
    Buffers(const Buffers&) = delete;

    // Weights are at most 1 and each step rounds a few times: errors count against the sum of weights.
    void expect(const Problem& p, int64_t steps) const {
        const Reference r = solve(p);
        ASSERT_TRUE(maximum.guards_are_intact() && sum.guards_are_intact() && value.guards_are_intact());
        for (int64_t i = 0; i < p.rows; ++i) {
            const auto row = static_cast<size_t>(i);
            const double unit = 0x1p-24 * r.sum[row] * static_cast<double>(p.positions + 8 * steps + 4);
            ASSERT_EQ(maximum[i], r.maximum[row]) << i;
            ASSERT_NEAR(sum[i], r.sum[row], unit) << i;
            for (int64_t d = 0; d < p.depth; ++d) {
                ASSERT_NEAR(value[i * stride + d], r.value[static_cast<size_t>(i * p.depth + d)], 2 * unit)
                    << i << " " << d;
            }
        }
    }
};

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

// More positions in a step than a panel holds: only the first part of them scales what was there before.
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

// The weights of several steps are those of one, each of its own maximum, rounded; L is not.
template <ContractTile Tile>
void check_rounded_weights() {
    constexpr int64_t kRows = 5, kPositions = 37, kDepth = 19;
    constexpr double kRounding = 0x1p-8;  // half of the spacing of bf16 below 1, twice
    Problem p = make(kRows, kPositions, kDepth, 11);
    std::vector<bf16> values;
    for (float& x : p.values) {
        values.push_back(narrow<bf16>(x));
        x = widen(values.back());
    }
    for (const int64_t cut : {int64_t{8}, kPositions}) {
        Buffers<Tile.lanes, int64_t> b(kRows, kDepth, kDepth);
        softmax_init<Tile.lanes>(kRows, kDepth, b.state);
        for (int64_t begin = 0; begin < kPositions; begin += cut) {
            const int64_t width = std::min(cut, kPositions - begin);
            Guarded<float> tile(kRows * width);
            for (int64_t i = 0; i < kRows * width; ++i) {
                const int64_t at = i / width * kPositions + begin + i % width;
                tile.data()[i] = p.scores[static_cast<size_t>(at)];
            }
            softmax_step<Tile, bf16>(kRows, width, kDepth, tile.data(), width,
                                     lanes(values.data() + begin * kDepth, Int<Tile.lanes>{}, kDepth),
                                     b.state);
            ASSERT_TRUE(tile.guards_are_intact());
        }
        const Reference r = solve(p);
        for (int64_t i = 0; i < kRows; ++i) {
            const double sum = r.sum[static_cast<size_t>(i)];
            ASSERT_EQ(b.maximum[i], r.maximum[static_cast<size_t>(i)]);
            ASSERT_NEAR(b.sum[i], sum, 1e-5 * sum);
            double largest = 0;
            for (int64_t d = 0; d < kDepth; ++d) {
                const double error =
                    std::fabs(b.value[i * kDepth + d] - r.value[static_cast<size_t>(i * kDepth + d)]);
                ASSERT_LE(error, kRounding * sum) << i << " " << d;
                largest = std::max(largest, error);
            }
            const bool sees_several = i != 1 && i != 2;
            ASSERT_TRUE(!sees_several || largest > 1e-5 * sum) << i << ": nothing was rounded";
        }
    }
}

TEST(Softmax, WeightsThatAreRounded) {
    check_rounded_weights<ContractTile{.lanes = kRegisterLanes, .rows = 4, .groups = 2}>();
    check_rounded_weights<ContractTile{.lanes = kRegisterLanes, .rows = 4, .groups = 2, .dot = true}>();
    check_rounded_weights<ContractTile{.lanes = 32, .rows = 2, .groups = 1, .dot = true}>();
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
        EXPECT_TRUE(std::isnan(b.sum[0])) << at;
        EXPECT_TRUE(std::isnan(b.value[0])) << at;
    }
}

}  // namespace
}  // namespace tessera::ntt
