#include "compiler/programs/bind_symbols.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error.h"

namespace tessera::programs {
namespace {

using ::testing::ElementsAre;

runtime::Manifest manifest() {
    runtime::Manifest m;
    m.symbols = {{"T", 1, 64, 1}, {"P", 2, 8, 2}, {"S", 1, 9, 1}, {"one", 1, 1, 1}};
    m.inputs = {{"x", ElementType::kF32, {Dim("T"), Dim(40)}}, {"y", ElementType::kF32, {Dim("T")}}};
    m.states = {{"cache", ElementType::kF32, {Dim("P", 16), Dim(8)}, {Dim("P", 16), Dim(8)}, 3}};
    return m;
}

std::vector<int64_t> bound(const GivenShapes& given, const std::map<std::string, int64_t>& chosen) {
    return bind_symbols(manifest(), given, chosen, "a.tsr");
}

std::string problem(const GivenShapes& given,
                    const std::map<std::string, int64_t>& chosen = {{"S", 3}, {"P", 4}}) {
    try {
        (void)bound(given, chosen);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(BindSymbols, ShapesAndChoicesGiveThem) {
    const GivenShapes shapes = {{"x", {"x.npy", {5, 40}}}, {"y", {"y.npy", {5}}}};
    EXPECT_THAT(bound(shapes, {{"S", 3}, {"P", 4}}), ElementsAre(5, 4, 3, 1));
    GivenShapes with_state = shapes;
    with_state["cache"] = {"c.npy", {3, 96, 8}};
    EXPECT_THAT(bound(with_state, {{"S", 9}, {"T", 5}}), ElementsAre(5, 6, 9, 1));
}

TEST(BindSymbols, ShapesAreThoseOfTheFiles) {
    EXPECT_EQ(shape_text(array_shape(manifest().states[0])), "[3, 16 * P, 8]");
    EXPECT_EQ(shape_text(array_shape(manifest().inputs[1])), "[T]");
    EXPECT_EQ(shape_text({}), "[]");
}

TEST(BindSymbols, WhatDoesNotFitIsNamed) {
    EXPECT_EQ(problem({{"x", {"x.npy", {5}}}}), "x.npy: `x`: has shape [5], expected [T, 40]");
    EXPECT_EQ(problem({{"x", {"x.npy", {5, 39}}}}),
              "x.npy: `x`: has 39 along axis 1 of [5, 39], expected 40 (its shape is [T, 40])");
    EXPECT_EQ(problem({{"x", {"x.npy", {5, 40}}}, {"y", {"y.npy", {6}}}}),
              "y.npy: `y`: has T = 6 by axis 0 of `y`, but T = 5 by axis 0 of `x`");
    EXPECT_EQ(problem({{"x", {"x.npy", {65, 40}}}}),
              "x.npy: `x`: has T = 65 by axis 0 of `x`, expected 1 to 64");
    EXPECT_EQ(problem({{"x", {"x.npy", {0, 40}}}}),
              "x.npy: `x`: has T = 0 by axis 0 of `x`, expected 1 to 64");
    EXPECT_EQ(
        problem({{"cache", {"c.npy", {3, 100, 8}}}}),
        "c.npy: `cache`: has 100 along axis 1 of [3, 100, 8], expected a multiple of 16 (its shape is [3, "
        "16 * P, 8])");
    EXPECT_EQ(problem({{"cache", {"c.npy", {3, 48, 8}}}}),
              "c.npy: `cache`: has P = 3 by axis 1 of `cache`, expected 2 to 8 in steps of 2");
}

TEST(BindSymbols, WhatNothingGivesIsAskedFor) {
    EXPECT_EQ(problem({}),
              "a.tsr: `T`: is a symbol that no input's shape gives a value (--symbol T=N, 1 to 64)");
    EXPECT_EQ(
        problem({}, {{"T", 1}, {"S", 1}}),
        "a.tsr: `P`: is a symbol that no input's shape gives a value (--symbol P=N, 2 to 8 in steps of 2)");
    EXPECT_EQ(problem({}, {{"U", 1}}), "a.tsr: `U`: is no symbol of the program (it has T, P, S, one)");
    EXPECT_EQ(problem({}, {{"T", 65}}), "a.tsr: `T`: has T = 65 by --symbol, expected 1 to 64");
    EXPECT_EQ(problem({{"x", {"x.npy", {5, 40}}}}, {{"T", 6}}),
              "x.npy: `x`: has T = 5 by axis 0 of `x`, but T = 6 by --symbol");
}

}  // namespace
}  // namespace tessera::programs
