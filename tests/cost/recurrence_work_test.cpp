#include "cost/recurrence_work.h"

#include <gtest/gtest.h>

namespace tessera::cost {
namespace {

const Definition& state_space() {
    static const Definition definition = parse_definition(R"(op scan(h: 2, n*: 8, p: 16, i>: T)
dim T in 1..64
in K f32[i, n] of [T, 8], V f32[i, h, p] of [T, 2, 16], A f32[i, h] of [T, 2]
carry S f32[h, n, p] of [2, 8, 16]
carry S = S * A + A * K * V
out Y f32[i, h, p] of [T, 2, 16] = sum(S * K)
)",
                                                          "test");
    return definition;
}

constexpr int kLanesAlong = 2;  // p

VectorWork work_of(int64_t values, int64_t steps) {
    return recurrence_work(state_space(), {2, 8, 16, values}, kLanesAlong, 8, 2, steps);
}

TEST(RecurrenceWork, CountsWhatDiffersBetweenLanesForEachLine) {
    // Groups of 8 of 16 elements, of 2 registers: 4 for each h, n and value.
    const VectorWork work = work_of(1, 1);
    constexpr double kPoints = 2 * 8 * 4;
    EXPECT_EQ(work.steps, 2 * kPoints);
    EXPECT_EQ(work.folds, kPoints);
    EXPECT_EQ(work.flops, (3 + 1) * kPoints) << "S * A, (A * K) * V, +; S * K";
    EXPECT_EQ(work_of(6, 1).folds, 6 * work.folds);
}

TEST(RecurrenceWork, ValuesTogetherReadTheStateOnce) {
    const VectorWork one_by_one = work_of(64, 1), together = work_of(64, 4);
    EXPECT_LT(together.loads, one_by_one.loads / 2);
    EXPECT_LT(together.flops + together.folds, one_by_one.flops + one_by_one.folds);
}

TEST(RecurrenceWork, TheRestGoesOneByOne) {
    EXPECT_EQ(work_of(3, 4), work_of(3, 1));
    const VectorWork whole = work_of(4, 4), rest = work_of(2, 1), both = work_of(6, 4);
    EXPECT_EQ(both.folds, whole.folds + rest.folds);
    EXPECT_EQ(both.loads, whole.loads + rest.loads);
}

}  // namespace
}  // namespace tessera::cost
