#include "distribution/choices.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "distribution/example.h"

namespace tessera::distribution {
namespace {

using ::testing::Contains;
using ::testing::Not;

std::string text_of(const Problem& problem, const Choice& choice) {
    std::string all;
    for (const LevelChoice& level : choice.levels)
        all += (all.empty() ? "" : " ") + text(level, problem.operators[0].bound.definition);
    all += ":";
    for (const Form& form : choice.forms) all += " " + text(form);
    return all;
}

/// "m: [S(0)] [B] [S(0)]": choices by level, then the form of each tensor.
std::vector<std::string> choices_of(const Problem& problem) {
    std::vector<std::string> found;
    for (const Choice& choice : derive_choices(problem, problem.operators[0]))
        found.push_back(text_of(problem, choice));
    return found;
}

const std::string kTwo = "devices 2 alpha 0 beta 0\n";
const std::string kTwoByTwo = kTwo + kTwo;

// Paper 000, equation 2: A and B of [4, 4] on two devices, C = A + B.
TEST(Choices, OfASumAreThoseOfEquation2) {
    const Problem problem =
        alone("op add(i: 4, j: 4)\nin A f32[i, j], Z f32[i, j]\nout C f32[i, j] = A + Z\n", kTwo, "A, Z",
              "output C B\n");
    const std::vector<std::string> found = choices_of(problem);
    EXPECT_THAT(found, Contains("i: [S(0)] [S(0)] [S(0)]"));
    EXPECT_THAT(found, Contains("j: [S(1)] [S(1)] [S(1)]"));
    EXPECT_THAT(found, Contains("B: [B] [B] [B]"));
    EXPECT_THAT(found, Not(Contains(::testing::HasSubstr("[S(0)] [S(1)]"))));
    EXPECT_EQ(found.size(), 3u);
}

TEST(Choices, OfAProduct) {
    const Problem problem = alone(
        "op product(m: 4, n: 4, k*: 4)\nin A f32[m, k], W f32[k, n]\n"
        "out C f32[m, n] = sum(A * W)\n",
        kTwo, "A, W", "output C B\n");
    EXPECT_THAT(choices_of(problem), ::testing::UnorderedElementsAre(
                                         "B: [B] [B] [B]", "m: [S(0)] [B] [S(0)]", "n: [B] [S(1)] [S(1)]",
                                         "k: [S(1)] [S(0)] [P(sum)]", "linear A: [P(sum)] [B] [P(sum)]",
                                         "linear W: [B] [P(sum)] [P(sum)]"));
}

TEST(Choices, OfLevelsNest) {
    const Problem problem = alone(
        "op product(m: 4, n: 2, k*: 4)\nin A f32[m, k], W f32[k, n]\n"
        "out C f32[m, n] = sum(A * W)\n",
        kTwoByTwo, "A, W", "output C B B\n");
    const std::vector<std::string> found = choices_of(problem);
    EXPECT_THAT(found, Contains("m m: [S(0), S(0)] [B, B] [S(0), S(0)]"));
    EXPECT_THAT(found, Contains("k n: [S(1), B] [S(0), S(1)] [P(sum), S(1)]"));
    EXPECT_THAT(found, Contains("k k: [S(1), S(1)] [S(0), S(0)] [P(sum), P(sum)]"));
    EXPECT_THAT(found, Contains("linear A m: [P(sum), S(0)] [B, B] [P(sum), S(0)]"));
    // n has two columns: the inner level has one left.
    EXPECT_THAT(found, Not(Contains(::testing::StartsWith("n n:"))));
}

// Query heads in groups of two: the outer level splits the cache's heads, the inner one has a single head
// left.
TEST(Choices, OfAnInnerLevelSeeWhatTheOuterOneLeaves) {
    const Problem problem = alone(
        "op scores(h: 4, e*: 2)\nin Q f32[h, e], K f32[h div 2, e]\n"
        "out P f32[h] = sum(Q * K)\n",
        kTwoByTwo, "Q, K", "output P B B\n");
    EXPECT_THAT(choices_of(problem), Contains("h h: [S(0), S(0)] [S(0), B] [S(0), S(0)]"));
}

TEST(Choices, DoNotMixMonoids) {
    const Problem problem = alone("op top(t: 2, v*: 4)\nin Z f32[t, v]\nout M f32[t] = max(Z)\n", kTwoByTwo,
                                  "Z", "output M B B\n");
    const std::vector<std::string> found = choices_of(problem);
    EXPECT_THAT(found, Contains("v v: [S(1), S(1)] [P(max), P(max)]"));
    EXPECT_THAT(found, Not(Contains(::testing::HasSubstr("P(sum)"))));
}

TEST(Choices, OfHalosNeedTheWhole) {
    const Problem problem = alone("op blur(x: 4, j*: 3)\nin A f32[x + j - 1] of [4]\nout C f32[x] = sum(A)\n",
                                  kTwo, "A", "output C B\n");
    EXPECT_THAT(choices_of(problem), Contains("x: [B] [S(0)]"));
}

TEST(Choices, OfIndirectOperandsNeedTheWhole) {
    const Problem problem =
        alone("op pick(t: 4, d: 2)\nindex id i32[t]\nin E f32[id[t], d] of [8, 2]\nout X f32[t, d] = E\n",
              kTwo, "id, E", "output X B\n", "fill id[i] = 2 * i\n");
    EXPECT_THAT(choices_of(problem), Contains("t: [S(0)] [B] [S(0)]"));
}

// The roofline of one device: operations by iterators that are split, bytes by tensors that are.
TEST(Choices, TakeTheTimeOfOneDevice) {
    const std::string op =
        "op product(m: 2, n: 4, k*: 8)\nin A f32[m, k], W f32[k, n]\n"
        "out C f32[m, n] = sum(A * W)\n";
    const Problem problem = alone(op, kTwo, "A, W", "output C B\n");
    for (const Choice& choice : derive_choices(problem, problem.operators[0])) {
        const std::string what = text_of(problem, choice);
        const double flops = 2 * 2 * 4 * 8;
        if (what.starts_with("B:")) {
            EXPECT_DOUBLE_EQ(choice.seconds, (64 + 128 + 32) * 1e-9);
        }
        if (what.starts_with("n:")) {
            EXPECT_DOUBLE_EQ(choice.seconds, (64 + 128 / 2 + 32 / 2) * 1e-9);
        }
        if (what.starts_with("k:")) {
            EXPECT_DOUBLE_EQ(choice.seconds, std::max(flops / 2, 64 / 2 + 128 / 2 + 32.0) * 1e-9);
        }
    }
}

TEST(Choices, OfOneSignatureAreTheFastest) {
    // s lies in a part that no device reaches by itself: both splits have the signature of B, and one is
    // faster.
    const Problem problem =
        alone("op both(t: 2, s*: 4)\nin A f32[t]\nout C f32[t] = max(A * 1)\n", kTwo, "A", "output C B\n");
    const std::vector<Choice> found = derive_choices(problem, problem.operators[0]);
    for (const Choice& a : found)
        for (const Choice& b : found) {
            if (&a != &b) {
                EXPECT_NE(a.forms, b.forms);
            }
        }
}

}  // namespace
}  // namespace tessera::distribution
