#include <set>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "kernels/micro_kernels.h"

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
    for (const MicroKernel* each : micro_kernels()) {
        const MicroKernel& kernel = *each;
        EXPECT_TRUE(names.insert(kernel.name).second) << kernel.name;
        EXPECT_EQ(find_micro_kernel(kernel.name), each);
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
              "its body is no product of an operand and others");
}

TEST(MicroKernels, TilesMultiplyFactorsOfBf16) {
    const auto with_types = [](const char* a, const char* b) {
        return definition(fmt::format(
            "mm(m: 4, n: 5, k*: 6)\nin A {}[m, k], B {}[n, k]\nout C f32[m, n] = sum(A * B)\n", a, b));
    };
    EXPECT_EQ(why_not("contract_tiles", with_types("bf16", "bf16")), "");
    const std::string types = "its body is no product of two operands of bf16";
    EXPECT_EQ(why_not("contract_tiles", with_types("f32", "bf16")), types);
    EXPECT_EQ(why_not("contract_tiles", with_types("f16", "f16")), types);
    EXPECT_EQ(why_not("contract_tiles",
                      definition("mm(m: 4, n: 5, k*: 6)\nin A bf16[m, k], B bf16[n, k], S f32[n]\n"
                                 "out C f32[m, n] = sum(A * (B * S))\n")),
              types);
    EXPECT_EQ(why_not("contract_tiles", map()), "its monoid is not sum");
}

TEST(MicroKernels, TilesMultiplyActivationsOfTwoBytesWithWeightsOfSmallIntegers) {
    const auto product = [](const char* a, const char* weight, const char* value, int64_t a_block) {
        return definition(
            fmt::format("mm(m: 4, n: 5, k*: 256)\nin X i8[m, k], L i8[m, k], S f32[m, k div {}], {}\n"
                        "out C f32[m, n] = sum({} * S * ({}))\n",
                        a_block, weight, a, value));
    };
    const char *const two = "(X * 32 + L)", *const q5 = "Q u5[n, k], s u8[n, k div 32], D f16[n, k div 64]",
                      *const q8 = "Q i8[n, k], D f16[n, k div 64]",
                      *const unsigned8 = "Q u8[n, k], D f16[n, k div 64]";
    EXPECT_EQ(why_not("contract_block_tiles", product(two, q5, "(Q - 8) * s * D", 64)), "");
    EXPECT_EQ(why_not("contract_block_tiles", product(two, q8, "Q * D", 256)), "");
    EXPECT_EQ(why_not("contract_block_tiles", product(two, unsigned8, "Q * D", 256)), "");
    const std::string bytes =
        "its activations are no two bytes that share a scale over several blocks, or its weights no signed "
        "bytes";
    EXPECT_EQ(why_not("contract_block_tiles", product("(X + L)", q8, "Q * D", 256)),
              "its body is no product of small integers whose scales are constant in blocks");
    EXPECT_EQ(why_not("contract_block_tiles", product(two, q8, "Q * D", 64)), bytes);
    EXPECT_EQ(why_not("contract_block_tiles", definition("mm(m: 4, n: 5, k*: 6)\nin A f32[m, k], B f32[n, "
                                                         "k]\nout C f32[m, n] = sum(A * B)\n")),
              "its body is no product of small integers whose scales are constant in blocks");
}

TEST(MicroKernels, EveryDefinitionHasOne) {
    for (const Definition* d : {&product(), &map(), &softmax()}) {
        bool is_implemented = false;
        for (const MicroKernel* kernel : micro_kernels()) is_implemented |= kernel->why_not(*d).empty();
        EXPECT_TRUE(is_implemented) << d->name;
    }
}

}  // namespace
}  // namespace tessera
