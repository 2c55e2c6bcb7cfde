#include "nest/nests/tiling_expressions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error.h"

namespace tessera::nests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// The example of the paper's section III: M = N = 1,024, K = H = 512, steps of 16, in half precision, with
/// the shared memory of an A100.
constexpr const char* kExample = R"(op c(m: 1024, n: 1024, k*: 512)
in  A f16[m, k], B f16[k, n]
out C f16[m, n] = sum(f32(A) * f32(B))

op e(m: 1024, h: 512, n*: 1024)
in  C f16[m, n], D f16[n, h]
out E f16[m, h] = sum(f32(C) * f32(D))

multiple 16
capacity 166912
machine bandwidth 1.555e12 peak 3.12e14 units 108
)";

ExpressionCounts counted(const std::string& text) {
    return count_expressions(make_space(read_kernel_file(text, "test.space")));
}

TEST(TilingExpressions, OfThePapersExample) {
    const ExpressionCounts counts = counted(kExample);
    EXPECT_EQ(counts.expressions, 26);
    EXPECT_EQ(counts.candidates, 109'051'904);
    ASSERT_EQ(counts.readings.size(), 3U);
    EXPECT_THAT(counts.readings[0].expressions, ElementsAre("kn", "nk"));
    EXPECT_THAT(counts.readings[1].expressions, ElementsAre("kn", "n(k,h)", "nk"));
    EXPECT_EQ(counts.readings[2].expressions.size(), 24U);
    const std::vector<int64_t> after_rule_2 = {1, 2, 13};
    for (size_t r = 0; r < 3; ++r) {
        EXPECT_EQ(counts.readings[r].after_rule_2, after_rule_2[r]);
        EXPECT_EQ(counts.readings[r].after_strict_rule_2, 1);
    }
    EXPECT_EQ(counts.after_rule_3, 1764);
    EXPECT_EQ(counts.after_rule_4, 751);
}

TEST(TilingExpressions, ExtentsThatNoStepDivides) {
    std::string text = kExample;
    for (size_t at = text.find("h: 512"); at != std::string::npos; at = text.find("h: 512"))
        text.replace(at, 6, "h: 500");
    const ExpressionCounts counts = counted(text);
    EXPECT_EQ(counts.tiles, 64 * 64 * 32 * 32);  // 16, 32, .., 496, and 500
    EXPECT_EQ(counts.after_rule_3, 7 * 7 * 6);   // the whole extent alone
}

TEST(TilingExpressions, AreOfTwoProductsOnly) {
    try {
        (void)counted(R"(op c(m: 32, n: 48, k*: 16)
in  A f16[m, k], B f16[k, n]
out C f16[m, n] = sum(f32(A) * f32(B))
op e(m: 32, n*: 48)
in  C f16[m, n]
out E f16[m] = sum(f32(C))
multiple 8
capacity 4096
machine bandwidth 3e10 peak 1.2e11 units 2
)");
        FAIL();
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("no chain of two products"));
    }
}

}  // namespace
}  // namespace tessera::nests
