#include "ir/facts/product.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera::facts {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Definition definition(const std::string& text) {
    return parse_definition(text, "test.op");
}

/// The roles by two_factors.
ProductRoles roles(const Definition& d) {
    const auto factors = two_factors(d);
    EXPECT_TRUE(factors);
    return factors ? product_roles(d, iterators_in(factors->first), iterators_in(factors->second))
                   : ProductRoles{};
}

TEST(Product, RolesAreReadOffTheMaps) {
    EXPECT_EQ(roles(definition("op scores(b: 2, r: 3, s: 10, e*: 5)\nin G f16[b, r, e]\nin K f16[b, s, e]\n"
                               "out S f32[b, r, s] = sum(f32(G) * f32(K)) * 0.5\n")),
              (ProductRoles{.rows = {1}, .columns = {2}, .summed = {3}, .batch = {0}}));
    EXPECT_EQ(roles(definition("op attend(r: 3, d: 6, s*: 4)\nin P f32[r, s]\nin V f32[s, d]\n"
                               "out M f32[r], L f32[r], A f32[r, d] = softmax_sum(P, V)\n")),
              (ProductRoles{.rows = {0}, .columns = {1}, .summed = {2}, .batch = {}}));
}

TEST(Product, AReductionOfOneFactorAloneIsNotSummedOfBoth) {
    EXPECT_EQ(roles(definition("op partly(m: 2, n: 3, k*: 4, j*: 5)\nin A f32[m, k, j]\nin B f32[k, n]\n"
                               "out C f32[m, n] = sum(A * B)\n")),
              (ProductRoles{.rows = {0}, .columns = {1}, .summed = {2}, .batch = {3}}));
}

TEST(Product, FactorsAreThoseOfTheWholeProduct) {
    const Definition scaled = definition(
        "op scaled(m: 2, n: 3, k*: 4)\nin A f32[m, k]\nin B i8[n, k]\nin S f16[n]\n"
        "out C f32[m, n] = sum(A * (f32(B) * f32(S)))\n");
    EXPECT_EQ(summed_factors(scaled, Casts::kToF32).size(), 3U);
    EXPECT_FALSE(two_factors(scaled));
    const Definition added =
        definition("op added(t: 4, d*: 8)\nin X f32[t, d]\nin Z f32[t, d]\nout Y f32[t] = sum(X + Z)\n");
    EXPECT_EQ(summed_factors(added, Casts::kAll).size(), 1U);
    EXPECT_FALSE(two_factors(added));
    const Definition largest =
        definition("op largest(t: 4, d*: 8)\nin X f32[t, d]\nin Z f32[t, d]\nout Y f32[t] = max(X * Z)\n");
    EXPECT_THAT(summed_factors(largest, Casts::kAll), IsEmpty());
    EXPECT_FALSE(two_factors(largest));
}

TEST(Product, ACastThatRoundsIsAFactorWhereItCounts) {
    const Definition rounded = definition(
        "op rounded(m: 2, n: 3, k*: 4)\nin A f32[m, k]\nin B f32[n, k]\n"
        "out C f32[m, n] = sum(f32(bf16(A * B)))\n");
    EXPECT_EQ(summed_factors(rounded, Casts::kAll).size(), 2U);
    EXPECT_EQ(summed_factors(rounded, Casts::kToF32).size(), 1U);
    EXPECT_TRUE(two_factors(rounded));
}

}  // namespace
}  // namespace tessera::facts
