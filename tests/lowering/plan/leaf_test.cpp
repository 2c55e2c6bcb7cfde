#include "lowering/plan/leaf.h"

#include <gtest/gtest.h>

#include "lowering/plan/toy_kernels.h"
#include "support/error.h"

namespace tessera::plan {
namespace {

using testing::kSum;
using testing::kToyAhead;
using testing::kToyK;
using testing::kToyLanes;
using testing::kToyRows;
using testing::kToyX;

TEST(Leaf, WhatWasNeverSetIsTheDefault) {
    const Leaf leaf("y", kSum);
    EXPECT_EQ(leaf.number(kToyLanes), 1);
    EXPECT_EQ(leaf.number(kToyAhead), 0);
    EXPECT_EQ(leaf.iterator(kToyX), "");
    EXPECT_FALSE(leaf.is_given(kToyLanes));
    EXPECT_FALSE(leaf.is_given(kToyK));
}

TEST(Leaf, WhatIsSetCanBeReadAndReset) {
    Leaf leaf("y", kSum);
    leaf.set(kToyLanes, 8).set(kToyK, "k");
    EXPECT_EQ(leaf.number(kToyLanes), 8);
    EXPECT_EQ(leaf.iterator(kToyK), "k");
    EXPECT_TRUE(leaf.is_given(kToyK));
    leaf.reset(kToyLanes);
    EXPECT_EQ(leaf.number(kToyLanes), 1);
    EXPECT_EQ(leaf.iterator(kToyK), "k");
}

TEST(Leaf, AParameterThatTheMicroKernelDoesNotHaveIsItsOwnDefault) {
    const Leaf loops("y", testing::kLoops);
    EXPECT_EQ(loops.number(kToyRows), 1);
    EXPECT_EQ(loops.number(kToyAhead), 0);
    EXPECT_EQ(loops.iterator(kToyK), "");
    EXPECT_FALSE(loops.is_given(kToyRows));
}

TEST(Leaf, EqualityIsThatOfTheValues) {
    Leaf leaf("y", kSum);
    EXPECT_EQ(Leaf("y", kSum).set(kToyLanes, 1), leaf) << "given as what it is anyway";
    EXPECT_EQ(Leaf("y", kSum).set(kToyLanes, 4).reset(kToyLanes), leaf);
    EXPECT_NE(Leaf("y", kSum).set(kToyLanes, 4), leaf);
    EXPECT_NE(Leaf("x", kSum), leaf);
    EXPECT_NE(Leaf("y", testing::kLoops), leaf);
}

TEST(Leaf, NumbersAreWhatIsStated) {
    const Leaf leaf = Leaf("y", kSum).set(kToyK, "k").set(kToyAhead, 16);
    EXPECT_EQ(leaf.numbers(), (std::map<std::string, int64_t>{{"ahead", 16}, {"rows", 1}}));
    EXPECT_EQ(print(leaf), "y[sum ahead=16 k=k rows=1]");
}

TEST(Leaf, ParametersAreCheckedAgainstRangesAndIterators) {
    const Definition sum = parse_definition("op y(n: 4, k*: 6)\nin A f32[n, k]\nout Y f32[n] = sum(A)\n", "");
    const auto refused = [&](const Leaf& leaf) -> std::string {
        try {
            check_parameters(sum, leaf);
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    const Leaf legal = Leaf("y", kSum).set(kToyK, "k");
    EXPECT_EQ(refused(legal), "");
    EXPECT_EQ(refused(Leaf(legal).set(kToyLanes, 3)), "y: `lanes`: is 3, expected a power of two");
    EXPECT_EQ(refused(Leaf(legal).set(kToyRows, 13)), "y: `rows`: is 13, expected a number from 1 to 12");
    EXPECT_EQ(refused(Leaf(legal).set(kToyX, "z")), "y: `x`: names z, which is no iterator of the operator");
}

}  // namespace
}  // namespace tessera::plan
