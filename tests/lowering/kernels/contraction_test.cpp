#include "lowering/kernels/contraction.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tessera::kernels {
namespace {

std::string names(const Definition& d, const std::vector<int>& iterators) {
    std::string all;
    for (const int x : iterators) all += d.iterators[static_cast<size_t>(x)].name;
    return all;
}

/// Each way as "A, B: m n k", with the expression of B.
std::vector<std::string> contractions(const std::string& text) {
    const Definition d = parse_definition("op " + text, "test");
    std::vector<std::string> result;
    for (const Contraction& c : contractions_of(d)) {
        result.push_back(d.tensors[static_cast<size_t>(c.a.tensor)].name + ", " + print(d, c.b) +
                         ": m=" + names(d, c.m) + " n=" + names(d, c.n) + " k=" + names(d, c.k));
        EXPECT_EQ(c.b_operand() != nullptr, c.b_reads.size() == 1 && c.b_operand());
    }
    return result;
}

using Ways = std::vector<std::string>;

TEST(Contractions, AProductOfTwoOperandsIsReadBothWays) {
    EXPECT_EQ(
        contractions("p(m: 3, n: 5, k*: 6)\nin A f32[m, k], B f32[n, k]\nout C f32[m, n] = sum(A * B)\n"),
        (Ways{"A, B: m=m n=n k=k", "B, A: m=n n=m k=k"}));
}

TEST(Contractions, OfOneRowHasOneWay) {
    const std::string head =
        "p(n: 5, k*: 6)\nindex i i32[n]\nin A f32[k], B f32[n, k], c f32[n]\nout C f32[n] = ";
    const Ways expected = {"A, B: m= n=n k=k"};
    EXPECT_EQ(contractions(head + "sum(A * B) + c * i[n] * 0\n"),
              expected);  // for any post-expression
    EXPECT_EQ(contractions(head + "sum(B * A) * (c + i[n])\n"), expected);
}

TEST(Contractions, CastsToF32CountAsNothing) {
    EXPECT_EQ(
        contractions("p(n: 5, k*: 6)\nin A bf16[k], B f32[n, k]\nout C f32[n] = sum(f32(f32(A) * B))\n"),
        (Ways{"A, B: m= n=n k=k"}));
}

TEST(Contractions, AFactorMayBeComputedFromSeveralOperands) {
    const auto with = [](const std::string& operands, const std::string& body) {
        return contractions("p(m: 3, n: 5, k*: 32)\nin X f32[m, k], " + operands +
                            "\nout C f32[m, n] = sum(" + body + ")\n")
            .front();
    };
    const std::string scale = "D f16[n, k div 16]";
    EXPECT_EQ(with("Q u4[n, k], " + scale, "X * ((Q - 8) * D)"), "X, (Q - 8) * D: m=m n=n k=k");
    EXPECT_EQ(with("Q u4[n, k], " + scale + ", M f16[n, k div 16]", "(Q * D + M) * X"),
              "X, Q * D + M: m=m n=n k=k");
    EXPECT_EQ(with(scale, "X * D * 2"), "X, D * 2: m=m n=n k=k");
}

TEST(Contractions, OtherBodiesAreNone) {
    const std::string head = "p(n: 5, k*: 6)\nin A f32[k], B f32[n, k]\nout C f32[n] = ";
    EXPECT_EQ(contractions(head + "max(A * B)\n"), Ways());
    EXPECT_EQ(contractions(head + "sum(A + B)\n"), Ways());
    EXPECT_EQ(contractions(head + "sum(bf16(A) * B)\n"), Ways());  // rounds
    EXPECT_EQ(contractions(head + "sum(A * (B + A))\n"), Ways());  // A on both sides
    EXPECT_EQ(contractions("p(n: 5, k*: 6)\nin B f32[n, k]\nout C f32[n] = sum(B * B)\n"), Ways());
    EXPECT_EQ(contractions("p(n: 5, k*: 6)\nindex i i32[k]\nin B f32[n, k]\nout C f32[n] = sum(i[k] * B)\n"),
              Ways());
    EXPECT_EQ(contractions("p(n: 5)\nin A f32[n], B f32[n]\nout C f32[n] = A * B\n"), Ways());
    EXPECT_EQ(contractions("p(k*: 5, u: 1)\nin A f32[k], B f32[k]\nout C f32[u] = sum(A * B)\n"), Ways());
}

}  // namespace
}  // namespace tessera::kernels
