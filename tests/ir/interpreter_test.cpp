#include "ir/interpreter.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/fixtures.h"
#include "support/error.h"

// Small cases whose results are worked out by hand.
namespace tessera {
namespace {

using ::testing::ElementsAre;

constexpr double kInf = INFINITY;

/// Runs a definition without dims on these operands (in order, index operands first; an update's contents
/// last).
std::vector<std::vector<double>> run(const std::string& text, std::vector<std::vector<double>> operands,
                                     bool round_results = true,
                                     InfiniteScores infinite_scores = InfiniteScores::kNumbers) {
    const Definition definition = parse_definition(text, "case.op");
    const BoundExtents extents = bound_extents(definition, {}, "case.op");
    std::vector<TensorData> tensors;
    operands.resize(definition.tensors.size());
    for (size_t i = 0; i < operands.size(); ++i) tensors.push_back({extents.shapes[i], operands[i]});
    std::vector<std::vector<double>> values;
    for (TensorData& result :
         interpret(definition, extents, tensors, "case.op", round_results, nullptr, infinite_scores))
        values.push_back(std::move(result.values));
    return values;
}

TEST(Interpreter, MatrixProduct) {
    const auto result =
        run("op f(m: 2, n: 2, k*: 3)\nin A f32[m, k]\nin B f32[k, n]\nout C f32[m, n] = sum(A * B)\n",
            {{1, 2, 3, 4, 5, 6}, {1, 0, 0, 1, 2, -1}});
    EXPECT_THAT(result[0], ElementsAre(7, -1, 16, -1));
}

TEST(Interpreter, EveryMonoidStartsAtItsIdentity) {
    const std::string frame = "op f(t: 2, s*: 2)\nin X f32[t, s]\nout Y f32[t] = ";
    const std::string where = "(X)\nwhere t == 0\n";
    EXPECT_THAT(run(frame + "sum" + where, {{3, 4, 5, 6}})[0], ElementsAre(7, 0));
    EXPECT_THAT(run(frame + "prod" + where, {{3, 4, 5, 6}})[0], ElementsAre(12, 1));
    EXPECT_THAT(run(frame + "max" + where, {{3, 4, 5, 6}})[0], ElementsAre(4, -kInf));
    EXPECT_THAT(run(frame + "min" + where, {{3, 4, 5, 6}})[0], ElementsAre(3, kInf));
}

TEST(Interpreter, AnUpdateContinuesFromItsContents) {
    const std::string frame = "op f(t: 3, s*: 2)\nin X f32[t, s]\nupdate Y f32[t] = ";
    EXPECT_THAT(run(frame + "sum(X)\nwhere t < 2\n", {{1, 2, 3, 4, 5, 6}, {10, 20, 30}})[0],
                ElementsAre(13, 27, 30));
    EXPECT_THAT(run(frame + "max(X)\n", {{1, 2, 3, 4, 5, 6}, {10, 2, 5.5}})[0], ElementsAre(10, 4, 6));
    EXPECT_THAT(run("op f(t: 2)\nin X f32[t]\nupdate Y f32[2 * t] of [4] = X\n", {{1, 2}, {9, 8, 7, 6}})[0],
                ElementsAre(1, 8, 2, 6));
}

TEST(Interpreter, AMapStoresWhereItIsExecuted) {
    EXPECT_THAT(run("op f(t: 4)\nin X f32[t]\nout Y f32[3 - t] = X\nwhere t != 1\n", {{1, 2, 3, 4}})[0],
                ElementsAre(4, 3, 0, 1));
}

TEST(Interpreter, ReadsOutsideOfATensorGiveTheIdentity) {
    const std::string window = "op f(y: 3, i*: 3)\nin X f32[y + i - 1] of [3]\nout Y f32[y] = ";
    EXPECT_THAT(run(window + "sum(X + 1)\n", {{1, 2, 3}})[0], ElementsAre(6, 9, 8));
    EXPECT_THAT(run(window + "prod(X)\n", {{2, 3, 4}})[0], ElementsAre(6, 24, 12));
    EXPECT_THAT(run(window + "max(X)\n", {{-1, -2, -3}})[0], ElementsAre(-1, -1, -2));
    EXPECT_THAT(run(window + "min(X)\n", {{1, 2, 3}})[0], ElementsAre(1, 1, 2));
    EXPECT_THAT(run("op f(y: 3)\nin X f32[y + 1] of [3]\nout Y f32[y] = X + 1\n", {{1, 2, 3}})[0],
                ElementsAre(3, 4, 1));
    // In a post-expression it is 0, whatever the monoid; in a predicate too.
    EXPECT_THAT(run("op f(y: 2, i*: 2)\nin X f32[i]\nin Z f32[y + 1] of [2]\nout Y f32[y] = max(X) + Z\n",
                    {{1, 2}, {5, 6}})[0],
                ElementsAre(8, 2));
    EXPECT_THAT(
        run("op f(y: 2, i*: 2)\nin X f32[i]\nin Z f32[y + 1] of [2]\nout Y f32[y] = max(X)\nwhere Z > -1\n",
            {{1, 2}, {5, -6}})[0],
        ElementsAre(-kInf, 2));
}

TEST(Interpreter, ThePostExpressionIsAppliedOnceToEveryElementThatTheMapReaches) {
    // Applied to executed elements and others, but not to elements that the map does not reach.
    EXPECT_THAT(run("op f(t: 2, s*: 2)\nin X f32[t, s]\nin Z f32[t]\nout Y f32[2 * t] of [4] = sum(X) * 2 + "
                    "Z\nwhere t == 0\n",
                    {{1, 2, 3, 4}, {10, 20}})[0],
                ElementsAre(16, 0, 20, 0));
    // Two iterations share an element: once all the same.
    EXPECT_THAT(run("op f(t: 4)\nin X f32[t]\nout Y f32[t div 2] = sum(X) + 1\n", {{1, 2, 3, 4}})[0],
                ElementsAre(4, 8));
}

TEST(Interpreter, IndirectResultsGatherAndScatter) {
    EXPECT_THAT(run("op f(t: 3, d: 2)\nindex id i32[t]\nin E f32[id[t], d] of [4, 2]\nout Y f32[t, d] = E\n",
                    {{3, 0, 3}, {1, 2, 3, 4, 5, 6, 7, 8}})[0],
                ElementsAre(7, 8, 1, 2, 7, 8));
    EXPECT_THAT(
        run("op f(t*: 3, d: 2)\nindex id i32[t]\nin X f32[t, d]\nout G f32[id[t], d] of [3, 2] = sum(X)\n",
            {{2, 0, 2}, {1, 2, 3, 4, 5, 6}})[0],
        ElementsAre(3, 4, 0, 0, 6, 8));
    EXPECT_THAT(run("op f(t: 2)\nindex a i32[t], b i32[t]\nin X f32[b[a[t]]] of [3]\nout Y f32[t] = X + a\n",
                    {{1, 0}, {2, 1}, {10, 20, 30}})[0],
                ElementsAre(21, 30));
}

TEST(Interpreter, StreamingSoftmax) {
    const std::string text =
        "op f(t: 2, d: 2, s*: 3)\nin P f32[t, s]\nin V f32[s, d]\n"
        "out M f32[t], L f32[t], A f32[t, d] = softmax_sum(P * 2, V)\nwhere s <= t\n";
    const auto result = run(text, {{0, 9, 9, 1, 0.5, 9}, {1, 2, 3, 4, 9, 9}}, false);
    EXPECT_THAT(result[0], ElementsAre(0, 2));
    EXPECT_THAT(result[1], ElementsAre(1, 1 + std::exp(-1.0)));
    EXPECT_THAT(result[2], ElementsAre(1, 2, 1 + 3 * std::exp(-1.0), 2 + 4 * std::exp(-1.0)));
}

// The nearest bf16 to e^-0.1 = 0.9048.. is 0.90625; the sum of the weights adds the unrounded ones.
TEST(Interpreter, StreamingSoftmaxRoundsWeights) {
    const auto result =
        run("op f(t: 1, s*: 2)\nin P f32[t, s]\nin V f32[s]\nout M f32[t], L f32[t], A f32[t] = "
            "softmax_sum(P, V)\nweights bf16\n",
            {{0, -0.1}, {1, 100}}, false);
    EXPECT_THAT(result[1], ElementsAre(1 + std::exp(-0.1)));
    EXPECT_THAT(result[2], ElementsAre(1 + 90.625));
}

TEST(Interpreter, StreamingSoftmaxOfNothing) {
    const auto result =
        run("op f(t: 2, s*: 2)\nin P f32[t, s]\nin V f32[s]\nout M f32[t], L f32[t], A f32[t] = "
            "softmax_sum(P, V)\nwhere t > 0\n",
            {{1, 2, 3, 3}, {4, 6}});
    EXPECT_THAT(result[0], ElementsAre(-kInf, 3));
    EXPECT_THAT(result[1], ElementsAre(0, 2));
    EXPECT_THAT(result[2], ElementsAre(0, 10));
}

/// A score of -inf is that of nothing: its value, which is infinite here, does not count.
TEST(Interpreter, StreamingSoftmaxMayLeaveOutScoresOfMinusInfinity) {
    const std::string text =
        "op f(t: 2, s*: 2)\nin P f32[t, s]\nin V f32[s]\nout M f32[t], L f32[t], A f32[t] = "
        "softmax_sum(P, V)\n";
    const std::vector<std::vector<double>> operands = {{-kInf, -kInf, 3, -kInf}, {4, kInf}};
    EXPECT_TRUE(std::isnan(run(text, operands)[1][0]));
    const auto result = run(text, operands, true, InfiniteScores::kNothing);
    EXPECT_THAT(result[0], ElementsAre(-kInf, 3));
    EXPECT_THAT(result[1], ElementsAre(0, 1));
    EXPECT_THAT(result[2], ElementsAre(0, 4));
}

// M and L do not use d; nothing is executed at d = 0, so d is held at 1.
TEST(Interpreter, StreamingSoftmaxHoldsIteratorsAtTheirFirstExecutedValue) {
    const auto result =
        run("op f(d: 3, s*: 2)\nindex n i32[d div 3]\nin P f32[s]\nin V f32[s, d]\n"
            "out M f32[n[0]] of [1], L f32[n[0]] of [1], A f32[d] = softmax_sum(P, V)\nwhere d > 0\n",
            {{0}, {0, 0}, {1, 2, 3, 4, 5, 6}});
    EXPECT_THAT(result[0], ElementsAre(0));
    EXPECT_THAT(result[1], ElementsAre(2));
    EXPECT_THAT(result[2], ElementsAre(0, 7, 9));
}

TEST(Interpreter, ResultsAreRoundedOnceToTheirType) {
    EXPECT_THAT(run("op f(t: 1, s*: 3)\nin X f32[s]\nout Y i8[t] = sum(X)\n", {{0.6, 0.6, 0.9}})[0],
                ElementsAre(2));
    EXPECT_THAT(run("op f(t: 1, s*: 3)\nin X f32[s]\nout Y f16[t] = sum(X)\n", {{2048, 1, 1}})[0],
                ElementsAre(2050));
    EXPECT_THAT(run("op f(t: 3)\nin X f32[t]\nout Y i8[t] = round(X)\n", {{0.5, 1.5, -2.5}})[0],
                ElementsAre(0, 2, -2));
}

/// The value of an expression of t = 0, 1, 2, .. and of X.
std::vector<double> values(const std::string& body, const std::vector<double>& x) {
    return run(fmt::format("op f(t: {})\nin X f32[t]\nout Y f32[t] = {}\n", x.size(), body), {x}, false)[0];
}

TEST(Interpreter, EveryFunction) {
    EXPECT_THAT(values("X + t - 1", {1, 1}), ElementsAre(0, 1));
    EXPECT_THAT(values("X * X / 4", {2, 6}), ElementsAre(1, 9));
    EXPECT_THAT(values("X div 3", {7, -7, 6}), ElementsAre(2, -3, 2));
    EXPECT_THAT(values("X mod 3", {7, -7, 6}), ElementsAre(1, 2, 0));
    EXPECT_THAT(values("X div -3", {7, -7}), ElementsAre(-3, 2));
    EXPECT_THAT(values("X mod -3", {7, -7}), ElementsAre(-2, -1));
    EXPECT_THAT(values("X mod 0.5", {1.75, -0.25}), ElementsAre(0.25, 0.25));
    EXPECT_THAT(values("-X", {1, -2}), ElementsAre(-1, 2));
    EXPECT_THAT(values("min(X, 1)", {0, 2}), ElementsAre(0, 1));
    EXPECT_THAT(values("max(X, 1)", {0, 2}), ElementsAre(1, 2));
    EXPECT_THAT(values("min(X, inf)", {3}), ElementsAre(3));
    EXPECT_THAT(values("abs(X)", {-3, 2}), ElementsAre(3, 2));
    EXPECT_THAT(values("exp(X)", {0, 1}), ElementsAre(1, std::exp(1.0)));
    EXPECT_THAT(values("log(X)", {1, 0}), ElementsAre(0, -kInf));
    EXPECT_THAT(values("sqrt(X)", {9}), ElementsAre(3));
    EXPECT_THAT(values("rsqrt(X)", {4}), ElementsAre(0.5));
    EXPECT_THAT(values("tanh(X)", {0.5}), ElementsAre(std::tanh(0.5)));
    EXPECT_THAT(values("erf(X)", {0.5}), ElementsAre(std::erf(0.5)));
    EXPECT_THAT(values("sigmoid(X)", {0, -800}), ElementsAre(0.5, 0));
    EXPECT_THAT(values("select(X < 2, 5, select(X <= 2, 6, 7))", {1, 2, 3}), ElementsAre(5, 6, 7));
    EXPECT_THAT(values("select(X > 2 or X >= 2 and X == 2, 1, 0)", {1, 2, 3}), ElementsAre(0, 1, 1));
    EXPECT_THAT(values("select(not X != 2, 1, 0)", {1, 2}), ElementsAre(0, 1));
    EXPECT_THAT(values("i4(X) + u4(X)", {-9.5, 20}), ElementsAre(-8, 22));
    EXPECT_THAT(values("bf16(X)", {1.001953125, 1.005859375}), ElementsAre(1, 1.0078125));
}

TEST(Interpreter, WhatIsNoNumberIsPassedOn) {
    for (const std::string& body :
         {std::string("max(X, 1)"), std::string("min(1, X)"), std::string("i8(X)"), std::string("X * 0")}) {
        EXPECT_TRUE(std::isnan(values(body, {NAN})[0])) << body;
    }
    EXPECT_TRUE(
        std::isnan(run("op f(t: 1, s*: 3)\nin X f32[s]\nout Y f32[t] = max(X)\n", {{1, NAN, 2}})[0][0]));
}

TEST(Interpreter, IntegersHaveOneZero) {
    const auto reciprocals = [](const std::string& integer) {
        return run("op f(t: 2)\nout Y f32[t] = 1 / (" + integer + ")\n", {})[0];
    };
    EXPECT_THAT(reciprocals("-2 * t"), ElementsAre(kInf, -0.5));
    EXPECT_THAT(reciprocals("-t"), ElementsAre(kInf, -1));
    EXPECT_THAT(reciprocals("t div (2 * t - 3)"), ElementsAre(kInf, -1));
    EXPECT_THAT(reciprocals("i8(-2 * t) * 1"), ElementsAre(kInf, -0.5));
    EXPECT_THAT(reciprocals("-2.0 * t"), ElementsAre(-kInf, -0.5)) << "a float";
}

TEST(Interpreter, RefusesWhatTheNotationForbids) {
    EXPECT_THROW(
        run("op f(t: 2)\nindex id i32[t]\nin X f32[t]\nout Y f32[id[t]] of [2] = X\n", {{0, 2}, {1, 2}}),
        Error);
    EXPECT_THROW(
        run("op f(t: 2)\nindex id i32[t]\nin X f32[t]\nout Y f32[id[t]] of [2] = X\n", {{0, 0}, {1, 2}}),
        Error);
    EXPECT_THROW(
        run("op f(t: 2)\nindex id i32[t]\nin X f32[t]\nout Y f32[t] = X * id[t + 1]\n", {{0, 0}, {1, 2}}),
        Error);
    // Both sides of a predicate are evaluated.
    EXPECT_THROW(
        run("op f(t: 2)\nindex id i32[t]\nin X f32[t]\nout Y f32[t] = X\nwhere t < 1 and id[t + 1] > 0\n",
            {{0, 1}, {1, 2}}),
        Error);
    EXPECT_NO_THROW(
        run("op f(t: 2)\nindex id i32[t]\nin X f32[t]\nout Y f32[t] = X * id[t + 1]\nwhere t < 1\n",
            {{0, 0}, {1, 2}}));
}

TEST(Interpreter, ReadsOnlyWhatIsHeld) {
    const Definition definition =
        parse_definition("op f(t: 3)\nindex id i32[t]\nin X f32[t]\nout Y f32[t] = X[id[t]]\n", "f.op");
    const BoundExtents extents = bound_extents(definition, {}, "f.op");
    const std::vector<TensorData> operands = {{{3}, {2, 2, 2}}, {{3}, {5, 6, 7}}, {{3}, {0, 0, 0}}};
    const HeldElements held = {{true, true, true}, {false, false, true}, {}};
    EXPECT_EQ(interpret(definition, extents, operands, "f.op", true, &held)[0].values,
              (std::vector<double>{7, 7, 7}));
    const auto problem = [&](const HeldElements& some) -> std::string {
        try {
            (void)interpret(definition, extents, operands, "f.op", true, &some);
        } catch (const Error& error) {
            return error.what();
        }
        return {};
    };
    EXPECT_EQ(problem({{}, {true, true, false}, {}}),
              "f.op: `X`: is read at [2], which is not there, at t = 0");
    EXPECT_EQ(problem({{true, false, true}, {}, {}}),
              "f.op: `id`: is read at [1], which is not there, at t = 1");
}

}  // namespace
}  // namespace tessera
