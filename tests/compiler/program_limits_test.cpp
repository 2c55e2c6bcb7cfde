#include "compiler/program_limits.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error.h"

namespace tessera::compiler {
namespace {

using ::testing::HasSubstr;

std::string problem(const std::string& values, const std::string& blocks) {
    const Graph graph = parse_graph("graph \"g\"\n" + values + blocks, "g.ir");
    verify(graph, "g.ir");
    try {
        expect_program(graph, "g.ir");
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

std::string copy(const std::string& from, const std::string& to, const std::string& type = "f32") {
    return "node copy_" + to + "(" + from + ") -> " + to + "\nop copy(n: 8)\nin X " + type +
           "[n]\nout Y f32[n] = X + 1\n";
}

constexpr const char* kValues = "input x: f32[8]\nvalue y: f32[8]\nvalue z: f32[8]\n";

TEST(ProgramLimits, AnOrdinaryGraphIsAProgram) {
    EXPECT_EQ(problem(kValues, "block b\n" + copy("x", "y") + copy("y", "z") + "output y, z\n"), "");
}

TEST(ProgramLimits, ThereAreOutputsThatOperatorsMake) {
    const std::string block = "block b\n" + copy("x", "y");
    EXPECT_THAT(problem(kValues, block), HasSubstr("`output`: is missing"));
    EXPECT_THAT(problem(kValues, block + "output x\n"),
                HasSubstr("`x`: is an output and no result of an operator, but an input"));
}

TEST(ProgramLimits, ArraysHaveATypeOfNumpyAndNoLayout) {
    const std::string block = "block b\n" + copy("x", "y", "i4") + "output y\n";
    EXPECT_THAT(problem("input x: i4[8]\nvalue y: f32[8]\n", block),
                HasSubstr("`x`: is an input of i4, which NumPy files cannot hold"));
    EXPECT_THAT(problem("constant x: i4[8] from \"x\"\nvalue y: f32[8]\n", block),
                HasSubstr("`x`: is a constant of i4"));
    EXPECT_THAT(problem("input x: f32[8] lanes <0:4>\nvalue y: f32[8]\n",
                        "block b\n" + copy("x", "y") + "output y\n"),
                HasSubstr("`x`: has the layout lanes <0:4>"));
}

TEST(ProgramLimits, RanksMeetInModelsOnly) {
    EXPECT_THAT(problem("input x: f32[8]\nvalue y: f32[16]\n",
                        "block b\nnode y(x) -> y\nop place_between_ranks_0_8_16(n: 8)\nin X f32[n]\n"
                        "out Y f32[n] of [16] = X * 1\noutput y\n"),
                HasSubstr("`y`: is `place_between_ranks_0_8_16`, at which ranks meet"));
}

TEST(ProgramLimits, AnIndexIsKnownBeforeTheCall) {
    const std::string values = "input i: i32[8]\ninput x: f32[8]\nvalue j: i32[8]\nvalue y: f32[8]\n";
    const std::string next = "node next(x) -> j\nop next(n: 8)\nin X f32[n]\nout J i32[n] = X + 1\n";
    const auto pick = [](const std::string& index) {
        return "node pick(" + index +
               ", x) -> y\nop pick(n: 8)\nindex I i32[n]\nin X f32[I[n]] of [8]\nout Y f32[n] = X\n";
    };
    EXPECT_EQ(problem(values, "block b\n" + next + pick("i") + "output y\n"), "");
    EXPECT_THAT(problem(values, "block b\n" + next + pick("j") + "output y\n"),
                HasSubstr("`pick`: takes j, which changes while the program runs, for its index `I`"));
}

TEST(ProgramLimits, AComputedIndexMayBeARestThatLeadsNowhereElse) {
    const auto pick = [](const char* place) {
        return problem(
            "input i: i64[8]\ninput x: f32[8]\nvalue j: i64[8]\nvalue y: f32[8]\n",
            std::string("block b\nnode next(i) -> j\nop next(n: 8)\nin X i64[n]\nout J i64[n] = X + 1\n"
                        "acc i64\nnode pick(j, x) -> y\nop pick(n: 8)\nindex I i64[n]\nin X f32[") +
                place + "] of [8]\nout Y f32[n] = X\noutput y\n");
    };
    EXPECT_EQ(pick("I[n] mod 8"), "");
    EXPECT_EQ(pick("(I[n] + 3) mod 5"), "");
    for (const char* place : {"I[n]", "I[n] mod 9", "I[n] mod 8 + 1"})
        EXPECT_THAT(pick(place), HasSubstr("`pick`: takes j, which changes while the program runs")) << place;
}

TEST(ProgramLimits, WideNumbersAreComputedInTheirOwnArithmetic) {
    const auto twice = [](const std::string& type, const std::string& arithmetic) {
        return problem("input x: " + type + "[8]\nvalue y: f32[8]\n",
                       "block b\nnode twice(x) -> y\nop twice(n: 8)\nin X " + type +
                           "[n]\nout Y f32[n] = X + X\n" + arithmetic + "output y\n");
    };
    for (const char* type : {"i64", "i32", "i16", "u32", "u16"}) {
        EXPECT_THAT(twice(type, ""), HasSubstr("add `acc i64`")) << type;
        EXPECT_EQ(twice(type, "acc i64\n"), "") << type;
    }
    EXPECT_THAT(twice("f64", ""), HasSubstr("add `acc f64`"));
    EXPECT_EQ(twice("f64", "acc f64\n"), "");
    for (const char* type : {"bool", "u8", "i8", "f16"}) EXPECT_EQ(twice(type, ""), "") << type;
}

TEST(ProgramLimits, AnIndexIsAnIntegerOfWholeBytes) {
    const auto pick = [](const std::string& type) {
        return problem("input i: " + type + "[8]\ninput x: f32[8]\nvalue y: f32[8]\n",
                       "block b\nnode pick(i, x) -> y\nop pick(n: 8)\nindex I " + type +
                           "[n]\nin X f32[I[n]] of [8]\nout Y f32[n] = X\noutput y\n");
    };
    EXPECT_EQ(pick("u8"), "");
    EXPECT_EQ(pick("i64"), "");
    EXPECT_THAT(pick("u64"),
                HasSubstr("`pick`: takes i of u64 for its index `I`, expected i8 to i64 or u8 to u32"));
}

TEST(ProgramLimits, AnElementIsWrittenOnce) {
    const auto writes = [](const std::string& map, const std::string& where = "") {
        return problem("symbol T in 2..8\ninput x: f32[T]\nvalue y: f32[8]\n",
                       "block b\nnode put(x) -> y\nop put(t: T)\ndim T in 2..8\nin X f32[t]\n"
                       "out Y f32[" +
                           map + "] of [8] = X\n" + where + "output y\n");
    };
    EXPECT_EQ(writes("7 - t"), "");
    EXPECT_EQ(writes("t div 2", "where t mod 2 == 0\n"), "");
    EXPECT_THAT(writes("t div 2"), HasSubstr("`put`: writes an element of `Y` twice, again at t = 1"));
    EXPECT_THAT(writes("t mod 5"), HasSubstr("`put`: writes an element of `Y` twice, again at t = 5"));
}

TEST(ProgramLimits, OnlyReductionsFold) {
    const auto folds = [](const std::string& iterators, const std::string& map, const std::string& body) {
        return problem("input x: f32[8, 4]\nvalue y: f32[8]\n",
                       "block b\nnode put(x) -> y\nop put(" + iterators + ")\nin X f32[t, k]\nout Y f32[" +
                           map + "] of [8] = " + body + "\noutput y\n");
    };
    EXPECT_EQ(folds("t: 8, k*: 4", "7 - t", "sum(X)"), "");
    EXPECT_EQ(folds("t: 8, k*: 4", "t", "sum(X)\nwhere k <= t"), "");
    EXPECT_THAT(folds("t: 8, k*: 4", "t div 2", "sum(X)"),
                HasSubstr("`put`: writes an element of `Y` twice, again at t = 1"));
    EXPECT_THAT(folds("t: 8, k: 4", "t + k", "max(X)"), HasSubstr("`put`: writes an element of `Y` twice"));
    EXPECT_THAT(folds("t: 8, k*: 4", "t div 2", "sum(X)\nwhere t mod 2 == 0"),
                HasSubstr("`put`: writes an element of `Y` twice, again at t = 1"));
}

TEST(ProgramLimits, TypesThatNoMicroKernelComputesAreNamed) {
    EXPECT_THAT(
        problem("input x: i32[8]\nvalue y: f32[8]\n", "block b\n" + copy("x", "y", "i32") + "output y\n"),
        HasSubstr("copy_y: `X`: has element type i32"));
    EXPECT_THAT(problem("input x: f32[8]\nvalue y: u8[8]\n",
                        "block b\nnode put(x) -> y\nop put(t: 8)\nin X f32[t]\nout Y u8[t] = X\noutput y\n"),
                HasSubstr("put: `Y`: has element type u8"));
}

}  // namespace
}  // namespace tessera::compiler
