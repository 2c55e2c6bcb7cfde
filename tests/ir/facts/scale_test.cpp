#include <gtest/gtest.h>

#include "ir/facts/fact_files.h"

// The extents of a 32 B model: 1e11 to 1e15 iterations, so that only an analytic derivation answers at all.
// The CTest time limit is the only clock.
namespace tessera::facts {
namespace {

nlohmann::json large(const std::string& text) {
    return facts_of(text, "large.op", false);
}

TEST(FactsAtScale, Matmul) {
    const auto facts = large(
        "op matmul(m: 4096, n: 27648, k*: 5120)\nin A f32[m, k]\nin B bf16[k, n]\nout C f32[m, n] = sum(A * "
        "B)\n"
        "test\ntile m 128 at 128, n 256 at 0, k 64 at 64\nlanes 16\nunit A<m16,k16> B<k2,n16,k8> "
        "C<m16,n16>\n");
    EXPECT_EQ(facts["work"]["flops"], int64_t{2} * 4096 * 27648 * 5120);
    EXPECT_EQ(facts["touched"]["B"]["bytes"], int64_t{2} * 27648 * 5120);
    EXPECT_EQ(facts["tiles"]["interior"]["B"]["origin"], nlohmann::json({64, 0}));
    EXPECT_EQ(facts["sbp"]["k"]["C"], "P(sum)");
    EXPECT_EQ(facts["units"].size(), 2U);
}

TEST(FactsAtScale, BlockedProduct) {
    const auto facts = large(
        "op blocked(m: 4096, n: 27648, k*: 5120)\nin A f32[m div 16, k div 16, m mod 16, k mod 16]\n"
        "in B bf16[n div 32, k div 2, n mod 32, k mod 2]\n"
        "out C f32[m div 16, n div 32, m mod 16, n mod 32] = sum(A * B)\n"
        "test\ntile m 130 at 130, n 256 at 0, k 65 at 65\nunit A<m4,k4> B<k2,n4,k2> C<m4,n4>\n");
    EXPECT_EQ(facts["touched"]["A"]["elements"], int64_t{4096} * 5120);
    EXPECT_EQ(facts["tiles"]["interior"]["A"]["elements"], 130 * 65);
    EXPECT_EQ(facts["packs"]["n"]["B"], 2);
    EXPECT_EQ(facts["packs"]["n"]["C"], 3);
    EXPECT_EQ(facts["sbp"]["m"]["C"], "S(0)");
}

TEST(FactsAtScale, BlockQuantised) {
    const auto facts = large(
        "op q4(m: 4096, n: 27648, k*: 5120)\nin X f32[m, k]\nin q u4[n, k div 64 * 32 + k mod 32, k div 32 "
        "mod 2]\n"
        "in d f16[n, k div 256]\nin s u6[n, k div 256, k div 32 mod 8]\n"
        "out Y f32[m, n] = sum(X * (d * s * q))\ntest\ntile m 128 at 128, n 256 at 0, k 40 at 40\n");
    EXPECT_EQ(facts["touched"]["q"]["bytes"], int64_t{27648} * 5120 / 2);
    EXPECT_EQ(facts["touched"]["s"]["elements"], int64_t{27648} * 160);
    EXPECT_EQ(facts["packs"]["k"]["q"], 1);
    EXPECT_EQ(facts["linear"]["X"]["Y"], "P(sum)");
}

TEST(FactsAtScale, Convolution) {
    const auto facts = large(
        "op conv(o: 1280, y: 1024, x: 1023, c*: 1280, i*: 3, j*: 3)\n"
        "in X f32[c, y + i - 1, x + j - 1] of [1280, 1024, 1023]\nin F f32[o, c, i, j]\nin bias f32[o]\n"
        "out Y f32[o, y, x] = sum(X * F) + bias\ntest\ntile o 2 at 2, y 4 at 0, x 2 at 2, c 4 at 0\n");
    EXPECT_EQ(facts["touched"]["X"]["elements"], int64_t{1280} * 1024 * 1023);
    EXPECT_EQ(facts["tiles"]["interior"]["X"]["extent"], nlohmann::json({4, 5, 4}));
    EXPECT_EQ(facts["sbp"].contains("c"), false);
}

TEST(FactsAtScale, GroupedScoresAndAttention) {
    const auto scores = large(
        "op scores(h: 64, t: 4096, s: 32768, e*: 128)\nin Q f32[t, h, e]\nin K f16[s div 16, s mod 16, h div "
        "8, e]\n"
        "out P f32[h, t, s] = sum(Q * K) * 0.0884\ntest\ntile h 2 at 2, t 64 at 0, s 100 at 100\n"
        "lanes 16\nunit A<m16,k16> B<k2,n16,k8> C<m16,n16>\n");
    EXPECT_EQ(scores["work"]["points"], int64_t{64} * 4096 * 32768 * 128);
    EXPECT_EQ(scores["tiles"]["interior"]["K"]["elements"], 100 * 128);
    EXPECT_EQ(scores["sbp"]["h"]["K"], "S(2)");
    EXPECT_EQ(scores["sbp"]["s"]["K"], "S(0)");
    const auto attend = large(
        "op attend(h: 64, t: 4096, d: 128, s*: 32768)\nin P f32[h, t, s]\nin V f16[s, h div 8, d]\n"
        "out M f32[t, h], L f32[t, h], A f32[t, h, d] = softmax_sum(P * 0.5, V)\n"
        "test\ntile h 2 at 0, t 3 at 0, d 4 at 4, s 16 at 16\nunit A<m4,k4> B<k2,n4,k2> C<m4,n4>\n");
    EXPECT_EQ(attend["work"]["special"], int64_t{64} * 4096 * 32768);
    EXPECT_EQ(attend["sbp"]["s"]["A"], "P(softmax_sum)");
    EXPECT_EQ(attend["sbp"]["d"]["M"], "B");
    EXPECT_EQ(attend["units"].size(), 4U);  // rows are tokens, or the eight heads that share V
}

TEST(FactsAtScale, RotaryEmbeddings) {
    for (const std::string other : {"(d + 64) mod 128", "d div 2 * 2 + 1 - d mod 2"}) {
        const auto facts = large(
            "op rope(t: 32768, h: 64, d: 128)\nin X f32[t, h, d]\nin c f32[t, d div 2]\n"
            "out Y f32[t, h, d] = X * c + X[t, h, " +
            other +
            "]\n"
            "test\ntile t 2 at 2, h 2 at 0, d 5 at 5\n");
        EXPECT_EQ(facts["touched"]["X"]["elements"], int64_t{32768} * 64 * 128);
        EXPECT_EQ(facts["sbp"]["t"]["X"], "S(0)");
        EXPECT_EQ(facts["linear"]["X"]["Y"], "P(sum)");
    }
}

TEST(FactsAtScale, Reshapes) {
    const auto odd = large(
        "op reshape(a: 4096, b: 27648)\nin X f32[(a * 27648 + b) div 5120, (a * 27648 + b) mod 5120]\n"
        "out Y f32[a, b] = X\ntest\ntile a 64 at 64, b 100 at 100\n");
    EXPECT_EQ(odd["touched"]["X"]["elements"], int64_t{4096} * 27648);
    EXPECT_EQ(odd["tiles"]["interior"]["X"]["elements"], 64 * 100);
    const auto strided = large(
        "op pairs(t: 4096, d: 5120)\nin X f32[2 * (t * 5120 + d)] of [41943040]\n"
        "out Y f32[t, d] = X * X[2 * (t * 5120 + d) + 1]\ntest\ntile t 64 at 64\n");
    EXPECT_EQ(strided["touched"]["X"]["elements"], 41943040);
    EXPECT_EQ(strided["packs"].contains("d"), false);
    const auto pixels = large(
        "op pixels(c: 320, y: 4096, x: 4096)\nin X f32[c * 4 + y mod 2 * 2 + x mod 2, y div 2, x div 2]\n"
        "out Y f32[c, y, x] = X\ntest\ntile y 33 at 33, x 7 at 7\n");
    EXPECT_EQ(pixels["touched"]["X"]["elements"], int64_t{320} * 4096 * 4096);
    EXPECT_EQ(pixels["tiles"]["interior"]["X"]["elements"], 320 * 33 * 7);
}

}  // namespace
}  // namespace tessera::facts
