#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "ntt/buffers.h"
#include "tessera/ntt/softmax.h"

/// Rows of scores and values, the monoid's result for them, and its steps with weights of bf16.
namespace tessera::ntt {

inline constexpr float kInf = std::numeric_limits<float>::infinity();

/// The definition of the monoid, in double and in one piece.
struct Reference {
    std::vector<double> maximum, sum, value;
};

struct Problem {
    int64_t rows, positions, depth;
    std::vector<float> scores;  // [rows][positions], some -inf
    std::vector<float> values;  // [positions][depth]
};

inline Problem make(int64_t rows, int64_t positions, int64_t depth, uint64_t seed) {
    Random random(seed);
    Problem p{rows, positions, depth, random.numbers(rows * positions), random.numbers(positions * depth)};
    for (int64_t i = 0; i < rows; ++i) {
        for (int64_t s = 0; s < positions; ++s) {
            float& x = p.scores[static_cast<size_t>(i * positions + s)];
            x *= 20.0f;
            // Causal rows; row 1 sees nothing at all; row 2 sees only the last position.
            if (s > positions - rows + i || i == 1 || (i == 2 && s < positions - 1)) x = -kInf;
        }
    }
    return p;
}

inline Reference solve(const Problem& p) {
    Reference r;
    for (int64_t i = 0; i < p.rows; ++i) {
        double m = -kInf, l = 0;
        std::vector<double> a(static_cast<size_t>(p.depth));
        for (int64_t s = 0; s < p.positions; ++s) {
            const double score = p.scores[static_cast<size_t>(i * p.positions + s)];
            m = std::isnan(m) || m > score ? m : score;
        }
        for (int64_t s = 0; s < p.positions; ++s) {
            if (p.scores[static_cast<size_t>(i * p.positions + s)] == -kInf) continue;
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

/// Rows see finite values next to infinite ones and NaN that are masked for them, and some see those:
/// each result is that of the positions which are not masked. `step` adds one, as below.
template <int L, class Step>
void check_masked_values(const std::array<int64_t, 3>& extents, int64_t cut, double tolerance, Step step) {
    const auto [rows, positions, depth] = extents;
    Problem p = make(rows, positions, depth, 3);
    std::vector<bf16> stored;
    for (int64_t s = 0; s < positions; ++s) {
        float* const value = p.values.data() + s * depth;
        // Seen by the last row alone, by a few, and by all but those in which everything is masked.
        if (s == positions - 1) value[depth - 1] = std::nanf("");
        if (s == positions - 3) value[0] = -kInf;
        if (s == positions / 3) value[depth / 2] = kInf;
        for (int64_t d = 0; d < depth; ++d) {
            stored.push_back(narrow<bf16>(value[d]));
            value[d] = widen(stored.back());
        }
    }
    Buffers<L, int64_t> b(rows, depth, depth);
    softmax_init<L>(rows, depth, b.state);
    for (int64_t begin = 0; begin < positions; begin += cut) {
        const int64_t width = std::min(cut, positions - begin);
        Guarded<float> tile(rows * width);
        for (int64_t i = 0; i < rows * width; ++i)
            tile.data()[i] = p.scores[static_cast<size_t>(i / width * positions + begin + i % width)];
        step(rows, width, depth, tile.data(), width, lanes(stored.data() + begin * depth, Int<L>{}, depth),
             b.state);
        ASSERT_TRUE(tile.guards_are_intact());
    }
    ASSERT_TRUE(b.maximum.guards_are_intact() && b.sum.guards_are_intact() && b.value.guards_are_intact());
    const Reference r = solve(p);
    for (int64_t i = 0; i < rows; ++i) {
        const double sum = r.sum[static_cast<size_t>(i)];
        ASSERT_EQ(b.maximum[i], r.maximum[static_cast<size_t>(i)]);
        ASSERT_NEAR(b.sum[i], sum, 1e-5 * sum);
        for (int64_t d = 0; d < depth; ++d) {
            const double want = r.value[static_cast<size_t>(i * depth + d)];
            const float got = b.value[i * depth + d];
            SCOPED_TRACE("row " + std::to_string(i) + " depth " + std::to_string(d) + " cut " +
                         std::to_string(cut));
            if (std::isfinite(want)) {
                ASSERT_NEAR(got, want, tolerance * sum);
            } else {
                ASSERT_TRUE(same(got, static_cast<float>(want))) << got << ", expected " << want;
            }
        }
    }
}

/// The weights of several steps of `cut` positions are those of one, each of its own maximum, rounded; L is
/// not. `step` adds one, with the arguments of softmax_step; the values end where nothing can be read.
template <int L, class Step>
void check_rounded_weights(const std::array<int64_t, 3>& extents, int64_t cut, Step step) {
    const auto [rows, positions, depth] = extents;
    constexpr double kRounding = 0x1p-8;  // half of the spacing of bf16 below 1, twice
    Problem p = make(rows, positions, depth, 11);
    std::vector<bf16> rounded;
    for (float& x : p.values) {
        rounded.push_back(narrow<bf16>(x));
        x = widen(rounded.back());
    }
    const AtPageEnd<bf16> values(rounded);
    Buffers<L, int64_t> b(rows, depth, depth);
    softmax_init<L>(rows, depth, b.state);
    for (int64_t begin = 0; begin < positions; begin += cut) {
        const int64_t width = std::min(cut, positions - begin);
        Guarded<float> tile(rows * width);
        for (int64_t i = 0; i < rows * width; ++i) {
            const int64_t at = i / width * positions + begin + i % width;
            tile.data()[i] = p.scores[static_cast<size_t>(at)];
        }
        step(rows, width, depth, tile.data(), width, lanes(values.data() + begin * depth, Int<L>{}, depth),
             b.state);
        ASSERT_TRUE(tile.guards_are_intact());
    }
    ASSERT_TRUE(b.maximum.guards_are_intact() && b.sum.guards_are_intact() && b.value.guards_are_intact());
    const Reference r = solve(p);
    for (int64_t i = 0; i < rows; ++i) {
        const double sum = r.sum[static_cast<size_t>(i)];
        ASSERT_EQ(b.maximum[i], r.maximum[static_cast<size_t>(i)]);
        ASSERT_NEAR(b.sum[i], sum, 1e-5 * sum);
        double largest = 0;
        for (int64_t d = 0; d < depth; ++d) {
            const double error =
                std::fabs(b.value[i * depth + d] - r.value[static_cast<size_t>(i * depth + d)]);
            ASSERT_LE(error, kRounding * sum) << i << " " << d;
            largest = std::max(largest, error);
        }
        const bool sees_several = i != 1 && i != 2;
        ASSERT_TRUE(!sees_several || largest > 1e-5 * sum) << i << ": nothing was rounded";
    }
}

}  // namespace tessera::ntt
