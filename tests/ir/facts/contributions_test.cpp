#include "ir/facts/contributions.h"

#include <gtest/gtest.h>

namespace tessera::facts {
namespace {

// This body's contribution to max, in its one case: F is read out of range, W, an f32, and U, a u8, within.
Contribution folded(const std::string& body, const std::string& tensor = "W") {
    const BoundDefinition bound =
        bind_test(parse_definition_file("op t(m: 5, k*: 2)\nin F f32[m], W f32[m], U u8[m]\n"
                                        "out Y f32[m] = max(" +
                                            body + ") + 0 * (F + W + U)\ntest\n",
                                        "t.op"),
                  "t.op");
    const IterationCases cases = iteration_cases(bound, bound.definition.body);
    int index = 0;
    while (bound.tensor(index).name != tensor) ++index;
    const double start = identity(bound.definition.monoid);
    auto found = contributions(bound, cases, bound.definition.body[0], index, start, start);
    EXPECT_EQ(found.size(), 1u);
    found.at(0).part = nullptr;
    return found.at(0);
}

TEST(Contributions, AreTheIdentityOutOfRange) {
    EXPECT_EQ(folded("F[m + 9]").outcome, Outcome::kIdentity);
    EXPECT_EQ(folded("F[m + 9] * 2 - W").outcome, Outcome::kIdentity);
    EXPECT_EQ(folded("min(F[m + 9], W)").outcome, Outcome::kIdentity);
}

TEST(Contributions, AreInfiniteByTheSignOfAnother) {
    const Contribution by_sign = folded("F[m + 9] * W");
    EXPECT_EQ(by_sign.outcome, Outcome::kNeverFinite);
    EXPECT_NE(by_sign.dependence, Dependence::kNone);
    EXPECT_EQ(folded("(F[m + 9] - U) * W", "U").dependence, Dependence::kNone);
    EXPECT_EQ(folded("F[m + 9] * W", "U").dependence, Dependence::kNone);
}

TEST(Contributions, AbsorbWhatElseIsFolded) {
    EXPECT_EQ(folded("F[m + 9] * -2").outcome, Outcome::kAbsorbing);
    EXPECT_EQ(folded("F[m + 9] * -2 - W").dependence, Dependence::kNone);  // inf, whatever W is
    // The whole has a sign, its parts have any.
    EXPECT_EQ(folded("F[m + 9] * U * -2", "U").outcome, Outcome::kAbsorbing);
    EXPECT_NE(folded("F[m + 9] * U * -2", "U").dependence, Dependence::kNone);
}

TEST(Contributions, AreNoNumbers) {
    const Contribution none = folded("F[m + 9] * 0 + W");
    EXPECT_EQ(none.outcome, Outcome::kAbsorbing);
    EXPECT_TRUE(none.is_nan);
    EXPECT_EQ(none.dependence, Dependence::kNone);
    EXPECT_TRUE(folded("(F[m + 9] div 3) * W").is_nan);
    EXPECT_TRUE(folded("min(W, F[m + 9] mod 3)").is_nan);
}

// 0 * -inf < 1 is false, though a normal form takes the left side for 0.
TEST(Contributions, DoNotTrustChoicesByNoNumbers) {
    EXPECT_EQ(folded("select(F[m + 9] * 0 < 1, inf, F[m + 9])").outcome, Outcome::kNeverFinite);
}

TEST(Contributions, AreUsual) {
    EXPECT_EQ(folded("max(F[m + 9], W)").outcome, Outcome::kUsual);
    EXPECT_EQ(folded("max(F[m + 9], W)").dependence, Dependence::kLinear);
    EXPECT_EQ(folded("1 / F[m + 9]").outcome, Outcome::kUsual);
    EXPECT_EQ(folded("exp(F[m + 9])").outcome, Outcome::kUsual);
    EXPECT_TRUE(folded("W - W").is_zero);
}

}  // namespace
}  // namespace tessera::facts
