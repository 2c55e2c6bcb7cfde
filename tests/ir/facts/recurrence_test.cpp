#include <gtest/gtest.h>

#include "ir/facts/bound_definition.h"
#include "ir/facts/linear.h"
#include "ir/facts/sbp.h"
#include "ir/facts/work.h"

namespace tessera::facts {
namespace {

constexpr const char* kDecayedSums = R"(op decayed_sums(b: B, h: 2, d*: 3, i>: I)
dim T in 1..16, B in 1..4, I in 1..16
index first i32[b]
index length i32[b]
in X f32[first[b] + i, h, d] of [T, 2, 3]
carry S f32[b, h, d]
carry S = S * 0.5 + X
out Y f32[first[b] + i, h] of [T, 2] = sum(S)
where i < length[b]

test
bind T = 8, B = 2, I = 4
fill first[i] = 4 * i
fill length[i] = 4 - i
)";

TEST(FactsOfRecurrences, TheyAreDividedByWhatAllLinesHave) {
    const BoundDefinition bound = bind_test(parse_definition_file(kDecayedSums, "test"), "test");
    const auto signatures = derive_sbp(bound);
    ASSERT_EQ(signatures.size(), 4U);
    EXPECT_TRUE(signatures[1].has_value()) << "h";
    EXPECT_FALSE(signatures[2].has_value()) << "d is folded";
    EXPECT_FALSE(signatures[3].has_value()) << "i is ordered";
    for (const auto& linear : derive_linear(bound)) EXPECT_FALSE(linear.has_value());
}

TEST(FactsOfRecurrences, WorkCountsAllLines) {
    const Work work = derive_work(bind_test(parse_definition_file(kDecayedSums, "test"), "test"));
    EXPECT_EQ(work.points, 7 * 2 * 3);
    EXPECT_EQ(work.flops, 7 * 2 * 3 * 3);
}

}  // namespace
}  // namespace tessera::facts
