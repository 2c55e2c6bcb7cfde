#include "kernels/micro_kernel.h"

#include <set>

#include <gtest/gtest.h>

namespace tessera {
namespace {

Definition definition(const std::string& text) {
    return parse_definition("op " + text, "test");
}

const Definition& product() {
    static const Definition d =
        definition("mm(m: 4, n: 5, k*: 6)\nin A f32[m, k], B f32[n, k]\nout C f32[m, n] = sum(A * B)\n");
    return d;
}
const Definition& map() {
    static const Definition d = definition("map(n: 5)\nin X f32[n]\nout Y f32[n] = exp(X)\n");
    return d;
}
const Definition& softmax() {
    static const Definition d = definition(
        "attend(t: 2, d: 4, s*: 8)\nin P f32[t, s], V f32[s, d]\nout M f32[t], L f32[t], A f32[t, d] = "
        "softmax_sum(P, V)\n");
    return d;
}

std::string why_not(std::string_view kernel, const Definition& d) {
    return find_micro_kernel(kernel)->why_not(d);
}

TEST(MicroKernels, EachIsDeclaredOnceAndExplained) {
    std::set<std::string_view> names;
    for (const MicroKernel& kernel : micro_kernels()) {
        EXPECT_TRUE(names.insert(kernel.name).second) << kernel.name;
        EXPECT_EQ(find_micro_kernel(kernel.name), &kernel);
        EXPECT_FALSE(kernel.summary.empty()) << kernel.name;
        std::set<std::string_view> parameters;
        for (const Parameter& p : kernel.parameters) {
            EXPECT_TRUE(parameters.insert(p.name).second) << kernel.name << " " << p.name;
            EXPECT_FALSE(p.meaning.empty()) << kernel.name << " " << p.name;
        }
    }
    EXPECT_EQ(find_micro_kernel("gemm"), nullptr);
    EXPECT_EQ(find_micro_kernel(""), nullptr);
}

TEST(MicroKernels, WhatOneImplementsFollowsFromTheStructure) {
    for (const Definition* d : {&product(), &map(), &softmax()}) EXPECT_EQ(why_not("loops", *d), "");
    EXPECT_EQ(why_not("contract", product()), "");
    EXPECT_EQ(why_not("dot", product()), "");
    EXPECT_EQ(why_not("contract", map()), "its monoid is not sum");
    EXPECT_EQ(why_not("dot", softmax()), "its monoid is not sum");
    EXPECT_EQ(why_not("stream", softmax()), "");
    EXPECT_EQ(why_not("stream", product()), "its monoid is not softmax_sum");
    EXPECT_EQ(why_not("contract", definition("s(n*: 4, u: 1)\nin X f32[n]\nout Y f32[u] = sum(X)\n")),
              "its body is not a product of two operands");
}

TEST(MicroKernels, EveryDefinitionHasOne) {
    for (const Definition* d : {&product(), &map(), &softmax()}) {
        bool is_implemented = false;
        for (const MicroKernel& kernel : micro_kernels()) is_implemented |= kernel.why_not(*d).empty();
        EXPECT_TRUE(is_implemented) << d->name;
    }
}

/// Names of the factors, "" if the body is no product.
std::string factors(const std::string& text) {
    const Definition d = definition(text);
    const auto found = factors_of(d);
    if (!found) return "";
    return d.tensors[static_cast<size_t>(found->left.tensor)].name +
           d.tensors[static_cast<size_t>(found->right.tensor)].name;
}

TEST(Factors, AreTheOperandsOfASummedProduct) {
    const std::string head =
        "p(n: 5, k*: 6)\nindex i i32[n]\nin A f32[k], B f32[n, k], c f32[n]\nout C f32[n] = ";
    EXPECT_EQ(factors(head + "sum(A * B) + c * i[n] * 0\n"), "AB");  // whatever the post-expression does
    EXPECT_EQ(factors(head + "sum(B * A) * (c + i[n])\n"), "BA");
    EXPECT_EQ(factors("p(n: 5, k*: 6)\nin A bf16[k], B f32[n, k]\nout C f32[n] = sum(f32(A) * B)\n"), "AB");
}

TEST(Factors, OtherBodiesHaveNone) {
    const std::string head = "p(n: 5, k*: 6)\nin A f32[k], B f32[n, k]\nout C f32[n] = ";
    EXPECT_EQ(factors(head + "max(A * B)\n"), "");
    EXPECT_EQ(factors(head + "sum(A + B)\n"), "");
    EXPECT_EQ(factors(head + "sum(bf16(A) * B)\n"), "");  // rounds
    EXPECT_EQ(factors(head + "sum(A * B * 2)\n"), "");
    EXPECT_EQ(factors(head + "sum(A * (B + 1))\n"), "");
    EXPECT_EQ(factors("p(n: 5, k*: 6)\nin B f32[n, k]\nout C f32[n] = sum(B * B)\n"),
              "");  // one operand, squared
    EXPECT_EQ(factors("p(n: 5, k*: 6)\nindex i i32[k]\nin B f32[n, k]\nout C f32[n] = sum(i[k] * B)\n"), "");
    EXPECT_EQ(factors("p(n: 5)\nin A f32[n], B f32[n]\nout C f32[n] = A * B\n"), "");
}

}  // namespace
}  // namespace tessera
