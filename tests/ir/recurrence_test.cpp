#include "ir/recurrence.h"

#include <cmath>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error.h"

// Recurrences against plain loops, and what the notation refuses of them.

namespace tessera {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// The gated delta rule of two heads, over the new tokens of each sequence.
constexpr const char* kDeltaRule = R"(op delta_rule(b: B, h: 2, d*: 3, e: 2, i>: I)
dim T in 1..16, B in 1..4, I in 1..16
index first i32[b]
index length i32[b]
index start i32[b]
index seat i32[b]
in K f32[first[b] + i, h, d] of [T, 2, 3]
in V f32[first[b] + i, h, e] of [T, 2, 2]
in G f32[first[b] + i, h] of [T, 2]
carry S f32[seat[b], h, d, e] of [4, 2, 3, 2]
out U f32[first[b] + i, h, e] of [T, 2, 2] = (V - G * sum(select(start[b] + i == 0, 0.0, S) * K)) * 0.5
carry S = select(start[b] + i == 0, 0.0, S) * G + K * U
out Y f32[first[b] + i, h, e] of [T, 2, 2] = sum(S * K) + V
where i < length[b]
)";

struct Sequence {
    size_t first, length, start, seat;
};

/// Plain loops over the same arrays: K [T, 2, 3], V [T, 2, 2], G [T, 2], S [4, 2, 3, 2].
std::vector<double> delta_rule(const std::vector<Sequence>& sequences, const std::vector<double>& k,
                               const std::vector<double>& v, const std::vector<double>& g,
                               std::vector<double>& s, size_t tokens) {
    std::vector<double> y(tokens * 4, 0.0);
    for (const Sequence& own : sequences)
        for (size_t i = 0; i < own.length; ++i)
            for (size_t h = 0; h < 2; ++h)
                for (size_t e = 0; e < 2; ++e) {
                    const size_t t = own.first + i;
                    const auto state = [&](size_t d) -> double& {
                        return s[((own.seat * 2 + h) * 3 + d) * 2 + e];
                    };
                    double read = 0, out = 0;
                    for (size_t d = 0; d < 3; ++d) {
                        if (own.start + i == 0) state(d) = 0;
                        read += state(d) * k[(t * 2 + h) * 3 + d];
                    }
                    const double u = (v[(t * 2 + h) * 2 + e] - g[t * 2 + h] * read) * 0.5;
                    for (size_t d = 0; d < 3; ++d) {
                        state(d) = state(d) * g[t * 2 + h] + k[(t * 2 + h) * 3 + d] * u;
                        out += state(d) * k[(t * 2 + h) * 3 + d];
                    }
                    y[(t * 2 + h) * 2 + e] = out + v[(t * 2 + h) * 2 + e];
                }
    return y;
}

std::vector<double> drawn(size_t count, std::mt19937& random) {
    std::uniform_real_distribution<double> numbers(-1, 1);
    std::vector<double> all(count);
    for (double& each : all) each = numbers(random);
    return all;
}

TensorData vector_of(const std::vector<Sequence>& sequences, size_t Sequence::*member) {
    TensorData data{.shape = {std::ssize(sequences)}, .values = {}};
    for (const Sequence& each : sequences) data.values.push_back(static_cast<double>(each.*member));
    return data;
}

TEST(Recurrence, IsThatOfPlainLoops) {
    const Definition op = parse_definition(kDeltaRule, "test");
    std::mt19937 random(1);
    const std::vector<Sequence> sequences = {{0, 4, 0, 2}, {4, 1, 7, 0}, {5, 3, 2, 3}};
    const size_t tokens = 8;
    const std::vector<double> k = drawn(tokens * 6, random), v = drawn(tokens * 4, random),
                              g = drawn(tokens * 2, random), before = drawn(48, random);
    const BoundExtents extents = bound_extents(op, {8, 3, 4}, "test");
    const std::vector<TensorData> results = interpret(op, extents,
                                                      {vector_of(sequences, &Sequence::first),
                                                       vector_of(sequences, &Sequence::length),
                                                       vector_of(sequences, &Sequence::start),
                                                       vector_of(sequences, &Sequence::seat),
                                                       {{8, 2, 3}, k},
                                                       {{8, 2, 2}, v},
                                                       {{8, 2}, g},
                                                       {{4, 2, 3, 2}, before},
                                                       {},
                                                       {}},
                                                      "test", false);
    std::vector<double> after = before;
    const std::vector<double> expected = delta_rule(sequences, k, v, g, after, tokens);
    ASSERT_EQ(results.size(), 3U);
    for (size_t i = 0; i < after.size(); ++i) EXPECT_NEAR(results[0].values[i], after[i], 1e-12) << i;
    for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(results[2].values[i], expected[i], 1e-12) << i;
}

TEST(Recurrence, ItsTextIsReadBack) {
    const Definition op = parse_definition(kDeltaRule, "test");
    EXPECT_EQ(print(op), kDeltaRule);
    EXPECT_TRUE(same(parse_definition(print(op), "printed"), op));
    EXPECT_TRUE(op.is_recurrence());
    EXPECT_EQ(ordered_iterator(op), 4);
    EXPECT_EQ(op.tensors[static_cast<size_t>(carried_tensor(op))].name, "S");
    EXPECT_THAT(line_iterators(op, 0).kept, ElementsAre(0, 1, 3));
    EXPECT_THAT(line_iterators(op, 0).folded, ElementsAre(2));
    EXPECT_THAT(line_iterators(op, 1).kept, ElementsAre(0, 1, 2, 3));
    EXPECT_THAT(line_iterators(op, 1).folded, ElementsAre());
}

/// A value that a line has not reached yet is as it was.
TEST(Recurrence, MovesWhatItCarries) {
    const Definition op = parse_definition(R"(op last_three(k*: 3, c: 2, i>: 5)
in X f32[i, c]
carry S f32[k, c]
carry S = select(k == 2, X, S[k + 1, c])
out Y f32[i, c] = sum(S)
)",
                                           "test");
    const TensorData x{{5, 2}, {1, 10, 2, 20, 3, 30, 4, 40, 5, 50}}, before{{3, 2}, {0, 0, 0, 0, 0, 0}};
    const auto results = interpret(op, bound_extents(op, {}, "test"), {x, before, {}}, "test");
    EXPECT_THAT(results[0].values, ElementsAre(3, 30, 4, 40, 5, 50));
    EXPECT_THAT(results[1].values, ElementsAre(1, 10, 3, 30, 6, 60, 9, 90, 12, 120));
}

std::string refusal(const std::string& text) {
    try {
        (void)parse_definition(text, "test");
    } catch (const std::exception& error) {
        return error.what();
    }
    return "";
}

/// A recurrence with these lines.
std::string with_lines(const std::string& lines, const std::string& iterators = "h: 2, d*: 3, i>: 4") {
    return "op own(" + iterators + ")\nin X f32[i, h], Z f32[i, h, d]\n" + lines;
}

TEST(Recurrence, WhatIsNoneIsRefused) {
    const std::string carry = "carry S f32[h, d]\ncarry S = S + X * Z\n";
    EXPECT_EQ(refusal(with_lines(carry + "out Y f32[i, h] = sum(S)\n")), "");
    const auto expect = [&](const std::string& lines, const std::string& problem,
                            const std::string& iterators = "h: 2, d*: 3, i>: 4") {
        EXPECT_THAT(refusal(with_lines(lines, iterators)), HasSubstr(problem)) << lines;
    };
    expect(carry, "has 0 ordered iterators", "h: 2, d*: 3, i*: 4");
    expect("out Y f32[i, h] = X + sum(Z)\n", "has 1 ordered iterators");
    expect("carry S f32[h, d]\nout Y f32[i, h] = sum(S * X * Z)\n", "S`: is not made by one line");
    expect(carry + "carry S = S\n", "is not made by one line");
    expect(carry + "carry R f32[h]\ncarry R = X\n", "carries 2 results");
    expect("carry S f32[h, d]\nout Y f32[i, h] = sum(S * W)\nout W f32[i, h] = X\ncarry S = S * Z\n",
           "is not declared");
    expect(carry + "out Y f32[i, d] = S\n", "does not use the parallel iterator `h`");
    expect(carry + "out Y f32[i, h] = S\n", "is neither an iterator of Y nor folded");
    expect(carry + "out Y f32[h] = sum(S)\n", "does not use the ordered iterator");
    expect("carry S f32[i, h, d]\ncarry S = S + X * Z\n", "is carried, so its map does not use");
    expect("carry S f32[h, d]\ncarry S = S[h, d - 1] + X * Z\n", "which the line may have changed");
    expect("carry S f32[h, d]\ncarry S = S[h, 0] + X * Z\n", "which the line may have changed");
    expect("carry S f32[h, d]\ncarry S = S[1 - h, d] + X * Z\n", "which the line may have changed");
    expect(carry + "out Y f32[i, h] = sum(S[1 - h, d])\n", "which the line may have changed");
    expect("carry S f32[h, 2 * d]\ncarry S = S + X * Z\n", "is no component of S by itself");
    expect("carry S f32[h, d]\ncarry S = S + X * Z\nout Y f32[i, h] = sum(S)\nwhere d < 2\n",
           "is no iterator of every line");
    expect("carry S f32[h, d]\ncarry S = S + X * Z\nout Y f32[i, h] = sum(S)\nwhere X > 0\n",
           "reads index operands alone");
    expect("carry S bf16[h, d]\ncarry S = S + X * Z\n", "which has the type f32");
    expect(carry + "out Y f32[i, h] = softmax_sum(S, Z)\n", "has three results");
}

TEST(Recurrence, MayBeRegrouped) {
    const std::string lines = "carry S f32[h, d]\ncarry S = S + X * Z\nout Y f32[i, h] = sum(S)\n";
    const Definition plain = parse_definition(with_lines(lines, "h: 2, d*: 3, i>: 4"), "test");
    const Definition regrouped =
        parse_definition(with_lines(lines + "regrouped\n", "h: 2, d*: 3, i>: 4"), "test");
    EXPECT_FALSE(plain.may_regroup);
    EXPECT_TRUE(regrouped.may_regroup);
    EXPECT_FALSE(same(plain, regrouped));
    EXPECT_EQ(print(regrouped), print(plain) + "regrouped\n");
    EXPECT_TRUE(same(parse_definition(print(regrouped), "test"), regrouped));
    EXPECT_THAT(refusal("op map(n: 4)\nin X f32[n]\nout Y f32[n] = X\nregrouped\n"),
                HasSubstr("is regrouped, which recurrences alone are"));
}

}  // namespace
}  // namespace tessera
