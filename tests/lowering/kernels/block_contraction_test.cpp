#include "lowering/kernels/block_contraction.h"

#include <string>
#include <vector>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "tessera/ntt/contract_blocks.h"

namespace tessera::kernels {
namespace {

static_assert(kLargestBlocksK == ntt::kContractBlocksK);

constexpr const char* kActivation = "in X i8[m, k], S f32[m, k div 32]\n";

/// Each way as "A by SCALE, (B + zero) * coefficient + offset: blocks".
std::vector<std::string> ways(const std::string& operands, const std::string& body,
                              const std::string& activation = kActivation) {
    const Definition d = parse_definition(
        fmt::format("op p(m: 3, n: 5, k*: 256)\n{}in {}\nout C f32[m, n] = {}\n", activation, operands, body),
        "test");
    const auto name = [&](const Read& read) { return d.tensors[static_cast<size_t>(read.tensor)].name; };
    std::vector<std::string> result;
    for (const BlockContraction& c : block_contractions_of(d)) {
        const std::string low = c.a_low ? fmt::format(" * {} + {}", c.radix, name(*c.a_low)) : "";
        result.push_back(fmt::format("{}{} by {}, ({} + {}) * ({}){}: {} of {}", name(c.a), low,
                                     name(c.a_scale), name(c.b), c.zero, print(d, c.coefficient),
                                     c.offset ? " + " + print(d, c.offset) : "", c.block, c.a_block));
        const int m = name(c.a) == "X" ? 0 : 1;
        EXPECT_EQ(c.m, std::vector<int>{m});
        EXPECT_EQ(c.n, std::vector<int>{1 - m});
        EXPECT_EQ(c.k, 2);
    }
    return result;
}

using Ways = std::vector<std::string>;

TEST(BlockContractions, TakeEveryFormatOfGguf) {
    const std::string q4 = "Q u4[n, k], D f16[n, k div 32]", minimum = ", M f16[n, k div 32]";
    EXPECT_EQ(ways(q4, "sum(X * S * ((Q - 8) * D))"), Ways{"X by S, (Q + -8) * (D): 32 of 32"});
    EXPECT_EQ(ways(q4 + minimum, "sum(X * S * (Q * D + M))"), Ways{"X by S, (Q + 0) * (D) + M: 32 of 32"});
    EXPECT_EQ(
        ways("Q u4[n, k], s u6[n, k div 32], h u6[n, k div 32], D f16[n, k div 256], E f16[n, k div 256]",
             "sum(X * S * (Q * (s * D) - h * E))"),
        Ways{"X by S, (Q + 0) * (s * D) + -(h * E): 32 of 32"});
    EXPECT_EQ(ways("Q u6[n, k], s i8[n, k div 16], D f16[n, k div 256]", "sum(X * S * ((Q - 32) * s * D))"),
              Ways{"X by S, (Q + -32) * (s * D): 16 of 32"});
}

TEST(BlockContractions, OfTwoFactorsInInt8AreReadBothWays) {
    EXPECT_EQ(ways("Q i8[n, k], D f16[n, k div 32]", "sum(X * S * (Q * D))"),
              (Ways{"X by S, (Q + 0) * (D): 32 of 32", "Q by D, (X + 0) * (S): 32 of 32"}));
}

TEST(BlockContractions, DoNotDependOnHowTheProductIsWritten) {
    const std::string q4 = "Q u4[n, k], D f16[n, k div 32]";
    const Ways expected = {"X by S, (Q + -8) * (D): 32 of 32"};
    EXPECT_EQ(ways(q4, "sum((Q - 8) * D * (X * S))"), expected);
    EXPECT_EQ(ways(q4, "sum(S * (f32(D) * f32(Q - 8)) * X)"), expected);
    EXPECT_EQ(ways(q4, "sum(X * S * ((Q - 8) * D)) * 0.5"), expected);
    EXPECT_EQ(ways(q4, "sum(X * S * ((Q - 8) * D * 0.5))"), Ways{"X by S, (Q + -8) * (D * 0.5): 32 of 32"});
    EXPECT_EQ(ways(q4, "sum(X * S * ((Q * D - 8) * D))"),
              Ways{"X by S, (Q + 0) * (D * D) + -8 * D: 32 of 32"});
}

TEST(BlockContractions, NumbersOfSixteenBitsAreTwoBytes) {
    const std::string q4 = "Q u4[n, k], D f16[n, k div 32]",
                      terms = "in X i8[m, k], L i8[m, k], S f32[m, k div 32]\n";
    EXPECT_EQ(ways(q4, "sum((X * 256 + L) * S * ((Q - 8) * D))", terms),
              Ways{"X * 256 + L by S, (Q + -8) * (D): 32 of 32"});
    EXPECT_EQ(ways(q4, "sum((X * 256 - L) * S * ((Q - 8) * D))", terms), Ways());
    EXPECT_EQ(ways(q4, "sum((X * 0.5 + L) * S * ((Q - 8) * D))", terms), Ways());
    // Sums that no int32 holds.
    EXPECT_EQ(ways("Q u4[n, k], D f16[n, k div 128]", "sum((X * 256 + L) * S * ((Q - 8) * D))",
                   "in X i8[m, k], L i8[m, k], S f32[m, k div 128]\n"),
              Ways());
}

/// The coefficient as "INTEGER * REST each BLOCK", in the only reading of the definition.
std::string fold(const std::string& operands, const std::string& body, int64_t radix, int64_t a_block) {
    const Definition d = parse_definition(
        fmt::format("op p(m: 3, n: 5, k*: 512)\nin X i8[m, k], L i8[m, k], A f32[m, k div {}]\nin {}\n"
                    "out C f32[m, n] = sum((X * {} + L) * A * ({}))\n",
                    a_block, operands, radix, body),
        "test");
    const std::vector<BlockContraction> ways = block_contractions_of(d);
    EXPECT_EQ(ways.size(), 1u);
    const auto& found = ways.at(0).fold;
    if (!found) return "none";
    const std::string integer = found->integer ? print(d, found->integer) + " * " : "";
    return fmt::format("{}{} each {}", integer, print(d, found->rest), found->block);
}

TEST(BlockContractions, IntegersOfTheCoefficientFold) {
    const std::string
        q4_k = "Q u4[n, k], s i8[n, k div 32], h u8[n, k div 32], D f16[n, k div 256], E f16[n, k div 256]",
        value = "Q * (s * D) - h * E";
    EXPECT_EQ(fold(q4_k, value, 32, 256), "s * D each 256");
    EXPECT_EQ(fold(q4_k, value, 32, 128), "s * D each 128");
    EXPECT_EQ(fold(q4_k, "Q * (s * D * 0.5) - h * E", 32, 256), "s * D * 0.5 each 256");
    // As many blocks as keep the sum an int32.
    const std::string q6_k = "Q u6[n, k], s i8[n, k div 16], D f16[n, k div 256]";
    EXPECT_EQ(fold(q6_k, "(Q - 32) * s * D", 32, 256), "s * D each 64");
    EXPECT_EQ(fold(q6_k, "(Q - 32) * s * D", 16, 256), "s * D each 128");
}

TEST(BlockContractions, OneScaleOfANumberServesSeveralBlocks) {
    EXPECT_EQ(fold("Q i8[n, k], D f16[n, k div 32]", "Q * D", 32, 256), "D each 32");
    EXPECT_EQ(fold("Q i8[n, k], D f16[n, k div 32]", "Q * D", 32, 32), "none");
    EXPECT_EQ(fold("Q u4[n, k], s i8[n, k div 32]", "Q * s", 32, 256), "s each 32");
    // All of the coefficient for every block.
    EXPECT_EQ(fold("Q u4[n, k], s i8[n, k div 32], D f16[n, k div 32]", "Q * (s * D)", 32, 256),
              "s * D each 32");
}

TEST(BlockContractions, IntegersWithoutRoomDoNotFold) {
    // Products that are no shorts.
    EXPECT_EQ(fold("Q i8[n, k], s u8[n, k div 32], D f16[n, k div 256]", "(Q - 3) * (s * D)", 8, 256),
              "s * D each 32");
    // Sums of one block that are no int32.
    EXPECT_EQ(fold("Q i8[n, k], s i8[n, k div 32], D f16[n, k div 256]", "Q * (s * D)", 240, 256),
              "s * D each 32");
}

TEST(BlockContractions, OtherBodiesAreNone) {
    const std::string q4 = "Q u4[n, k], D f16[n, k div 32]", body = "sum(X * S * ((Q - 8) * D))";
    EXPECT_EQ(ways(q4, "max(X * S * ((Q - 8) * D))"), Ways());
    EXPECT_EQ(ways(q4, "sum(X * ((Q - 8) * D))", "in X i8[m, k]\n"), Ways());   // no scale of X
    EXPECT_EQ(ways(q4, body, "in X f32[m, k], S f32[m, k div 32]\n"), Ways());  // no integers
    EXPECT_EQ(ways(q4, body, "in X i8[m, k], S f32[m, k]\n"), Ways());          // no blocks
    EXPECT_EQ(ways(q4, body, "in X i8[m, k], S f32[m, k div 2]\n"), Ways());    // less than one operation
    EXPECT_EQ(ways(q4, body, "in X i8[m, k], S f32[m, n]\n"), Ways());          // a scale of both
    EXPECT_EQ(ways("Q u4[n, k], D f16[n, k]", body), Ways());                   // two operands run along k
    EXPECT_EQ(ways("Q f16[n, k], D f16[n, k div 32]", body), Ways());           // no integers
    EXPECT_EQ(ways(q4, "sum(X * S * ((8 - Q) * D))"), Ways());                  // falling
    EXPECT_EQ(ways(q4, "sum(X * S * (Q * Q * D))"), Ways());                    // squared
    EXPECT_EQ(ways(q4, "sum(X * S * ((Q - 200 - 200) * D))"), Ways());          // beyond any format
    EXPECT_EQ(ways(q4, "sum(X * S * (exp(Q) * D))"), Ways());                   // not linear
    EXPECT_EQ(ways(q4, "sum(X * S * ((Q - 8) * D * X))"), Ways());              // X on both sides
}

}  // namespace
}  // namespace tessera::kernels
