#include "distribution/read_problem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "distribution/example.h"
#include "support/error.h"

namespace tessera::distribution {
namespace {

using ::testing::HasSubstr;

std::string error_of(const std::string& text) {
    try {
        (void)read_problem(text, "t.dist");
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

/// The error about the layers with one part replaced.
std::string error_with(const std::string& from, const std::string& to) {
    return error_of(changed(kLayers, from, to));
}

TEST(Problems, HoldWhatStandsInTheFile) {
    const Problem problem = read_problem(kLayers, "t.dist");
    ASSERT_EQ(problem.operators.size(), 3u);
    EXPECT_EQ(problem.operators[1].name(), "activate");
    ASSERT_EQ(problem.values.size(), 6u);
    EXPECT_EQ(problem.values[0].name, "X");
    EXPECT_EQ(problem.values[0].given, Form{broadcast()});
    EXPECT_TRUE(problem.values[1].is_constant);
    EXPECT_EQ(problem.values[2].name, "H");
    EXPECT_EQ(problem.values[2].maker, 0);
    EXPECT_EQ(problem.values[2].readers, std::vector<int>{1});
    EXPECT_EQ(problem.values[5].wanted, Form{broadcast()});
    EXPECT_EQ(problem.placement, (Placement{{{4, 1e-7, 1e-10}}}));
    EXPECT_EQ(problem.flops_per_second, 4e9);
    EXPECT_FALSE(problem.memory);
    EXPECT_EQ(problem.units(problem.values[2], {split(1)}), 64 * 2 * 32);
    EXPECT_EQ(problem.bytes(problem.units(problem.values[2], {split(1)})), 128);
}

TEST(Problems, ShareFillsOfIndexOperands) {
    const std::string two =
        "op a(t: 4)\nindex id i32[t]\nin E f32[id[t]] of [8]\nout X f32[t] = E\n"
        "op b(t: 4)\nindex id i32[t]\nin F f32[id[t]] of [8]\nout Y f32[t] = F\n";
    const Problem problem = alone(two, "devices 2 alpha 0 beta 0\n", "id, E, F", "output X B\noutput Y B\n",
                                  "fill id[i] = 2 * i\n");
    EXPECT_EQ(problem.values[0].readers, (std::vector<int>{0, 1}));
    EXPECT_EQ(problem.operators[1].bound.contents[0], (std::vector<double>{0, 2, 4, 6}));
}

TEST(Problems, NameTheLine) {
    EXPECT_THAT(error_with("sum(X * W1)", "sum(X * W9)"), HasSubstr("t.dist:3: "));
    EXPECT_THAT(error_with("alpha 1e-7", "alpha -1"), HasSubstr("t.dist:13: "));
    EXPECT_THAT(error_with("input X B", "input X S(7)"), HasSubstr("t.dist:17: `X`: has no axis 7"));
}

TEST(Problems, HaveLinesInOrder) {
    EXPECT_THAT(error_with("memory unlimited\n", ""), HasSubstr("`memory`: is missing"));
    EXPECT_THAT(error_with("output Y B\n", ""), HasSubstr("`output`: is missing"));
    EXPECT_THAT(error_of(kLayers + "input X B\n"), HasSubstr("`input`: cannot follow `output`"));
    EXPECT_THAT(error_with("memory unlimited", "memory 5\nmemory 6"), HasSubstr("`memory`: stands twice"));
    EXPECT_THAT(error_of(kLayers + "op more(t: 2)\n"), HasSubstr("`op`: stands below a line"));
    EXPECT_THAT(error_of("in X f32[t]\n"), HasSubstr("t.dist:1: `in`: stands in no operator"));
    EXPECT_THAT(error_of(""), HasSubstr("holds no operator"));
    EXPECT_THAT(error_of("op a(t: 2)\nin X f32[t]\nout Y f32[t] = X\n"), HasSubstr("`devices`: is missing"));
    EXPECT_THAT(error_with("op up", "dim T in 1..4\nop up"), HasSubstr("`dim`: has no place"));
    EXPECT_THAT(error_with("memory", "memories"), HasSubstr("`memories`: begins no line"));
}

TEST(Problems, HaveValuesOfOneKind) {
    EXPECT_THAT(error_with("constant W1, W2", "constant W1"), HasSubstr("`W2`: is neither"));
    EXPECT_THAT(error_with("constant W1, W2", "constant W1, W2, H"), HasSubstr("`H`: is a result"));
    EXPECT_THAT(error_with("constant W1, W2", "constant W1, W2, W1"), HasSubstr("`W1`: stands twice"));
    EXPECT_THAT(error_with("input X B", "input X B\ninput W1 B"), HasSubstr("`W1`: is a constant"));
    EXPECT_THAT(error_with("input X B", "input H B"), HasSubstr("`H`: is a result"));
    EXPECT_THAT(error_with("output Y B", "output X B"), HasSubstr("`X`: is no result"));
    EXPECT_THAT(error_with("output Y B", "output Q B"), HasSubstr("`Q`: is no tensor"));
    EXPECT_THAT(error_with("output Y B", "output Y B\noutput Y B"), HasSubstr("`Y`: has two forms"));
    EXPECT_THAT(error_with("in  G f32[t, f], W2", "in  G f16[t, f], W2"),
                HasSubstr("`G`: is declared with another type"));
    EXPECT_THAT(error_with("out G f32[t, f] =", "out H f32[t, f] ="), HasSubstr("t.dist:7: `H`"));
    EXPECT_THAT(error_with("out Y f32", "out W1 f32"), HasSubstr("`W1`: is read above its operator"));
    EXPECT_THAT(error_with("out Y f32", "out Y i8"), HasSubstr("`Y`: is a result of type i8"));
    EXPECT_THAT(error_with("op down", "op up"), HasSubstr("`up`: is the name of two operators"));
    EXPECT_THAT(error_with("op up(t: 2, f: 64, d*: 16)", "op up(t: 2, f: 64, d*: 16, B*: 2)"),
                HasSubstr("`B`: cannot be the name of an iterator"));
}

TEST(Problems, HaveFormsThatExist) {
    EXPECT_THAT(error_with("input X B", "input X S(0)"), HasSubstr("`X`: cannot lie as [S(0)]"));
    EXPECT_THAT(error_with("input X B", "input X B B"), HasSubstr("has 2 entries"));
    EXPECT_THAT(error_with("input X B", "input X"), HasSubstr("has 0 entries"));
    EXPECT_THAT(error_with("input X B", "input X P(sum)"), HasSubstr("expected an entry `B` or `S(axis)`"));
}

TEST(Problems, HaveDevicesAndRates) {
    EXPECT_THAT(error_with("devices 4", "devices 1"), HasSubstr("`devices`: is 1"));
    EXPECT_THAT(error_with("devices 4 alpha", "devices 4 latency"), HasSubstr("expected `alpha`"));
    EXPECT_THAT(error_with("flops 4e9", "flops 0"),
                HasSubstr("`flops`: is `0`, expected a number from 1e-30 to"));
    EXPECT_THAT(error_with("alpha 1e-7", "alpha 1e308"), HasSubstr("`alpha`: is `1e308`, expected 0 or a"));
    EXPECT_THAT(error_with("unlimited", "much"), HasSubstr("or `unlimited`"));
    EXPECT_THAT(error_with("devices 4", "devices 1048576 alpha 0 beta 0\ndevices 4"),
                HasSubstr("makes more than 1048576 devices"));
    std::string levels;
    for (int i = 0; i < 6; ++i) levels += "devices 2 alpha 0 beta 0\n";
    EXPECT_THAT(error_with("devices 4", levels + "devices 4"), HasSubstr("stands more than 6 times"));
}

TEST(Problems, HaveFillsOfIndexOperands) {
    EXPECT_THAT(error_of(kLayers + "fill X[i] = 3\n"), HasSubstr("`X`: is filled, but is no index operand"));
    EXPECT_THAT(error_of(kLayers + "fill X[i] = 3\nfill X[i] = 4\n"), HasSubstr("`X`: is filled twice"));
    EXPECT_THAT(error_of(kLayers + "fill\n"), HasSubstr("t.dist:19: "));
    EXPECT_THAT(error_of("op a(t: 2)\nin X f32[t]\nout Y f32[t] = X\nfill X[i] = i\n"),
                HasSubstr("t.dist:4: `X`: is filled"));
    EXPECT_THAT(error_with("in  X f32[t, d], W1", "index id i32[t]\nin  X f32[id[t], d] of [2, 16], W1"),
                HasSubstr("`id`: has no contents"));
}

TEST(Problems, AreOfBoundedSize) {
    EXPECT_THAT(error_of(std::string((size_t{1} << 19) + 1, '#')), HasSubstr("expected at most 524288"));
    EXPECT_THAT(error_with("op up(t: 2,", "op up(t: 2000000000000,"), HasSubstr("iterations"));
}

}  // namespace
}  // namespace tessera::distribution
