#include "lowering/kernels/micro_kernels.h"

#include <set>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "lowering/kernels/one_operator.h"

namespace tessera::kernels {
namespace {

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

TEST(MicroKernels, EachIsDeclaredOnceAndExplained) {
    std::set<std::string_view> names;
    for (const plan::MicroKernel* each : micro_kernels()) {
        const plan::MicroKernel& kernel = *each;
        EXPECT_TRUE(names.insert(kernel.name).second) << kernel.name;
        EXPECT_EQ(find_micro_kernel(kernel.name), each);
        EXPECT_FALSE(kernel.summary.empty()) << kernel.name;
        std::set<std::string_view> parameters;
        for (const plan::Parameter& p : kernel.parameters) {
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
              "its body is no product of an operand and others");
}

TEST(MicroKernels, EveryDefinitionHasOne) {
    for (const Definition* d : {&product(), &map(), &softmax()}) {
        bool is_implemented = false;
        for (const plan::MicroKernel* kernel : micro_kernels()) is_implemented |= kernel->why_not(*d).empty();
        EXPECT_TRUE(is_implemented) << d->name;
    }
}

}  // namespace
}  // namespace tessera::kernels
