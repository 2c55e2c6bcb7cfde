#include "ir/facts/linear_recurrence.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tessera::facts {
namespace {

/// A recurrence with these lines over keys, values and decays of two heads.
Definition with_lines(const std::string& lines, const std::string& where = "i < length[b]") {
    return parse_definition(
        fmt::format(R"(op recurrence(b: B, h: 2, d*: 5, e: 6, i>: I)
dim T in 1..24, B in 1..3, I in 1..24, N in 1..5
index first i32[b], length i32[b], {}seat i32[b]
in K f32[first[b] + i, h, d] of [T, 2, 5], V f32[first[b] + i, h, e] of [T, 2, 6], G f32[first[b] + i, h] of [T, 2]
carry S f32[seat[b], h, d, e] of [N, 2, 5, 6]
{}where {}
)",
                    lines.find("start") == std::string::npos ? "" : "start i32[b], ", lines, where),
        "test");
}

constexpr int kFolded = 2, kLanes = 3;

TEST(LinearRecurrence, OfAStateSpaceLayer) {
    const Definition d = with_lines(
        "carry S = select(start[b] + i == 0, 0.0, S) * G + G * K * V\n"
        "out Y f32[first[b] + i, h, e] of [T, 2, 6] = sum(S * K) + V\n");
    const auto found = linear_recurrence(d, kLanes);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->n, kFolded);
    EXPECT_EQ(found->carry, 0U);
    EXPECT_EQ(print(d, found->fresh), "start[b] + i == 0");
    ASSERT_EQ(found->decay.size(), 1U);
    EXPECT_EQ(print(d, found->decay[0]), "G");
    EXPECT_EQ(found->key.size(), 2U);
    ASSERT_EQ(found->value.size(), 1U);
    EXPECT_EQ(print(d, found->value[0]), "V");
    ASSERT_EQ(found->queries.size(), 2U);
    EXPECT_EQ(print(d, found->queries[1].at(0)), "K");
    EXPECT_FALSE(linear_recurrence(d, kFolded).has_value()) << "d is folded";
    EXPECT_FALSE(linear_recurrence(d, 1).has_value()) << "keys use h";
}

TEST(LinearRecurrence, OfADeltaRuleWhoseValuesAreMadeOfTheStateBefore) {
    const auto found = linear_recurrence(
        with_lines("out U f32[first[b] + i, h, e] of [T, 2, 6] = (V - G * sum(S * K)) * 0.5\n"
                   "carry S = S * G + K * U\n"
                   "out Y f32[first[b] + i, h, e] of [T, 2, 6] = sum(S * K)\n"),
        kLanes);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->carry, 1U);
    EXPECT_EQ(found->fresh, nullptr);
    EXPECT_EQ(found->value.size(), 1U);
}

TEST(LinearRecurrence, OtherStatesAreNone) {
    const std::string y = "out Y f32[first[b] + i, h, e] of [T, 2, 6] = sum(S * K) * G * V\n";
    for (const std::string& lines :
         {"carry S = S * G + max(K, V)\n" + y,  // no product
          "carry S = S * S * G + K * V\n" + y,  // not linear
          "carry S = S * V + K * V\n" + y,      // a decay by lanes
          "carry S = S * K + K * V\n" + y,      // a decay by folded elements
          "carry S = max(S, G) + K * V\n" + y,  //
          "carry S = select(i == 0, 1.0, S) * G + K * V\n" + y,
          std::string("carry S = S * G + K * V\nout Y f32[first[b] + i, h, e] of [T, 2, 6] = max(S * K)\n"),
          std::string("carry S = S * G + K * V\nout Y f32[first[b] + i, h, e] of [T, 2, 6] = sum(S * V)\n"),
          std::string("carry S = S * G + K * V\nout Y f32[first[b] + i, h, e] of [T, 2, 6] = sum(S)\nout Z "
                      "f32[first[b] + i, h, e] of [T, 2, 6] = sum(S * Y)\n")})
        EXPECT_FALSE(linear_recurrence(with_lines(lines), kLanes).has_value()) << lines;
}

TEST(LinearRecurrence, APredicateMayOnlyEndIt) {
    const std::string lines =
        "carry S = S * G + K * V\nout Y f32[first[b] + i, h, e] of [T, 2, 6] = sum(S * K)\n";
    EXPECT_TRUE(linear_recurrence(with_lines(lines, "i < length[b] - 1"), kLanes).has_value());
    EXPECT_FALSE(linear_recurrence(with_lines(lines, "i < length[b] and i > 2"), kLanes).has_value());
    EXPECT_FALSE(linear_recurrence(with_lines(lines, "i != length[b]"), kLanes).has_value());
}

}  // namespace
}  // namespace tessera::facts
