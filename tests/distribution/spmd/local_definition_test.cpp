#include "distribution/spmd/local_definition.h"

#include <gtest/gtest.h>

#include "ir/result_type.h"

namespace tessera::spmd {
namespace {

using facts::Range;

/// The definition of the part with these iterations and elements, printed.
std::string local(const std::string& text, const facts::IterationBox& iterations,
                  const std::vector<std::vector<Range>>& held) {
    const Definition definition = parse_definition(text, "test");
    std::vector<TensorType> types;
    for (size_t t = 0; t < definition.tensors.size(); ++t)
        types.push_back(type_of(definition, static_cast<int>(t), "test"));
    return print(local_definition(definition, iterations, held, types));
}

constexpr Range kSymbolic{0, 0};

TEST(LocalDefinition, OffsetsThatCancelLeaveNoTrace) {
    EXPECT_EQ(local("op heads(t: T, h: 8, e: 64)\ndim T in 1..4\nin X f32[t, h * 64 + e] of [T, 512]\n"
                    "out Y f32[t, h, e] = X\n",
                    {kSymbolic, {4, 8}, {0, 64}}, {{kSymbolic, {256, 512}}, {kSymbolic, {4, 8}, {0, 64}}}),
              "op heads(t: T, h: 4, e: 64)\ndim T in 1..4\nin X f32[t, h * 64 + e] of [T, 256]\n"
              "out Y f32[t, h, e] = X\n");
    EXPECT_EQ(local("op scaled(n: 8, k*: 64)\nin X i8[n, k], S f32[n, k div 16]\nout Y f32[n] = sum(X * S)\n",
                    {{0, 8}, {32, 64}}, {{{0, 8}, {32, 64}}, {{0, 8}, {2, 4}}, {{0, 8}}}),
              "op scaled(n: 8, k*: 32)\nin X i8[n, k]\nin S f32[n, k div 16] of [8, 2]\nout Y f32[n] = sum(X "
              "* S)\n");
}

TEST(LocalDefinition, OffsetsThatStayAreWrittenOut) {
    // All of X is held: the part is read at its place.
    EXPECT_EQ(local("op half(n: 8)\nin X f32[n]\nout Y f32[n] = X\n", {{4, 8}}, {{{0, 8}}, {{4, 8}}}),
              "op half(n: 4)\nin X f32[n + 4] of [8]\nout Y f32[n] = X\n");
    // The block of 16 in which the part begins is not its own.
    EXPECT_EQ(local("op scaled(k: 32)\nin X f32[k], S f32[k div 16]\nout Y f32[k] = X * S\n", {{24, 32}},
                    {{{24, 32}}, {{0, 2}}, {{24, 32}}}),
              "op scaled(k: 8)\nin X f32[k]\nin S f32[(k + 24) div 16] of [2]\nout Y f32[k] = X * S\n");
}

TEST(LocalDefinition, NumbersOfIteratorsKeepTheirValues) {
    EXPECT_EQ(local("op signs(n: 8)\nin X f32[n]\nout Y f32[n] = X * select(n mod 2 == 0, -1, n)\n", {{4, 8}},
                    {{{4, 8}}, {{4, 8}}}),
              "op signs(n: 4)\nin X f32[n]\nout Y f32[n] = X * select(n mod 2 == 0, -1, n + 4)\n");
    EXPECT_EQ(
        local("op below(n: 8)\nin X f32[n]\nout Y f32[n] = X\nwhere n < 6\n", {{4, 8}}, {{{4, 8}}, {{4, 8}}}),
        "op below(n: 4)\nin X f32[n]\nout Y f32[n] = X\nwhere n + 4 < 6\n");
}

}  // namespace
}  // namespace tessera::spmd
