#include "nest/nests/walk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/nests/example.h"
#include "nest/nests/instance_files.h"
#include "nest/nests/naive_walk.h"
#include "nest/nests/random_nest.h"
#include "support/error.h"

namespace tessera::nests {
namespace {

using ::testing::HasSubstr;

const BufferCounts& buffer_of(const NestFacts& facts, const std::string& name) {
    for (const BufferCounts& buffer : facts.buffers)
        if (buffer.name == name) return buffer;
    ADD_FAILURE() << "no buffer " << name;
    return facts.buffers.front();
}

// The reasons are free.
Movement without_reason(Movement movement) {
    if (movement.wrong_numbers) movement.wrong_numbers = "";
    return movement;
}

TEST(Walks, MoveWhatTheTripsChange) {
    // 20 rows in tiles of 8; D stays as long as n has one trip.
    const Kernel kernel = kernel_of(kProducts);
    const NestFacts facts = facts_of_nest(kernel, "m:8@unit { k:6 { c } h:4 n:18 { e } }");
    EXPECT_EQ(facts.units, 3);
    EXPECT_EQ(buffer_of(facts, "A for c").loads, (Transfers{3, 20 * 6 * 4}));
    EXPECT_EQ(buffer_of(facts, "B for c").loads, (Transfers{3, 3 * 6 * 18 * 4}));
    EXPECT_EQ(buffer_of(facts, "D for e").loads, (Transfers{6, 3 * 18 * 8 * 4}));
    EXPECT_EQ(buffer_of(facts, "E").stores, (Transfers{6, 20 * 8 * 4}));
    EXPECT_EQ(buffer_of(facts, "C").box_bytes, 8 * 18 * 4);
    EXPECT_EQ(buffer_of(facts, "D for e").depends, std::vector<std::string>{"e.h"});
}

TEST(Walks, BringPartialSumsBack) {
    const Kernel kernel = kernel_of(kProducts);
    const NestFacts facts = facts_of_nest(kernel, "n:6 m:10 { c e }");
    EXPECT_EQ(buffer_of(facts, "E").stores, (Transfers{6, 3 * 20 * 8 * 4}));
    EXPECT_EQ(buffer_of(facts, "E").reloads, (Transfers{4, 2 * 20 * 8 * 4}));
}

TEST(Walks, LoadOnlyWhereAReaderRuns) {
    // In the first trip nobody needs T, though what would be read of X depends on no loop.
    const Kernel kernel = kernel_of(
        "op p(a: 3, k*: 5)\nin X f32[k]\nout T f32[a + 1] of [4] = sum(X)\n"
        "op join(t: 4)\nin T f32[t]\nout Y f32[t] = T * 2\n");
    const NestFacts facts = facts_of_nest(kernel, "t:1 { load X p join }");
    EXPECT_EQ(facts.operators[0].executions, 3);
    EXPECT_EQ(buffer_of(facts, "X").loads, (Transfers{1, 20}));
    EXPECT_EQ(buffer_of(facts, "X").depends, std::vector<std::string>{});
}

TEST(Walks, HaveBoundedWork) {
    const Kernel kernel =
        kernel_of("op c(m: 100000000, n: 100000000)\nin A f32[m], B f32[n]\nout C f32[m, n] = A * B\n");
    EXPECT_EQ(facts_of_nest(kernel, "m:50000000 { c }").operators[0].executions, 2);
    try {
        const Nest nest = std::get<Nest>(parse_nest(kernel, "m:1 n:1 { c }"));
        (void)derive_facts(kernel, nest, {}, {.steps = 100'000});
        FAIL() << "10^16 trips";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("t.nest: `nest`: takes more than 100000 steps to walk through"));
    }
}

TEST(Walks, CountWithin64Bits) {
    const Kernel kernel =
        kernel_of("op c(m: 1000000000, n: 1000000000)\nin A f32[m], B f32[n]\nout C f32[m, n] = A * B\n");
    EXPECT_EQ(facts_of_nest(kernel, "m:500000000 n:500000000 { c }").bytes,
              4'000'000'000'000'000'000 + 12'000'000'000);
    EXPECT_THROW((void)facts_of_nest(kernel, "{ c }"), Error);  // 3.2e19 bits in one box
}

TEST(Walks, RefuseWrongNumbers) {
    const Kernel attend = kernel_of(
        "op a(t: 4, d: 6, s*: 9)\nin P f32[t, s], V f32[s, d]\n"
        "out M f32[t], L f32[t], A f32[t, d] = softmax_sum(P, V)\n");
    EXPECT_EQ(refusal(attend, "s:3 d:3 { a }"), "numbers: a folds into M and L again in each trip of a.d");
    EXPECT_EQ(refusal(attend, "s:9 d:3 { a }"), "");
    EXPECT_EQ(refusal(attend, "d:3 s:3 { a }"), "");
    EXPECT_EQ(refusal(attend, "s:3 t:2 { a }"), "");
    const Kernel shifted = kernel_of(
        "op c(t: 8)\nin X f32[t]\nout Y f32[t] = X + 1\nop e(t: 7)\nin Y f32[t + 1] of [8]\nout Z f32[t] = Y "
        "* 2\n");
    EXPECT_EQ(refusal(shifted, "t:3 { c e }"), "");
    EXPECT_EQ(refusal(shifted, "t:3 { c e }", {"Y"}), "numbers: Y is visible, but not all of it is made");
}

TEST(Walks, EqualTheNaiveOneOnInstances) {
    for (const auto& file : instances_in(own_instances(), ".nest")) {
        SCOPED_TRACE(file.filename().string());
        const KernelFile read = read_kernel_file(read_text(file), file.filename().string());
        const Kernel kernel = make_kernel(read);
        const auto nest = parse_nest(kernel, *read.nest, read.visible.value_or(std::vector<std::string>{}));
        if (!std::holds_alternative<Nest>(nest)) continue;
        EXPECT_EQ(without_reason(walk(kernel, std::get<Nest>(nest))),
                  without_reason(naive_walk(kernel, std::get<Nest>(nest))));
    }
}

TEST(Walks, EqualTheNaiveOneOnRandomNests) {
    int legal = 0;
    int wrong = 0;
    for (uint64_t seed = 0; seed < 120; ++seed) {
        const std::string text = random_nest_text(seed);
        SCOPED_TRACE(text);
        const KernelFile read = read_kernel_file(text, "random.nest");
        const Kernel kernel = make_kernel(read);
        const auto parsed = parse_nest(kernel, *read.nest, read.visible.value_or(std::vector<std::string>{}));
        ASSERT_TRUE(std::holds_alternative<Nest>(parsed)) << std::get<Illegal>(parsed).reason;
        const Nest& nest = std::get<Nest>(parsed);
        const Movement movement = walk(kernel, nest);
        ++(movement.wrong_numbers ? wrong : legal);
        ASSERT_EQ(without_reason(movement), without_reason(naive_walk(kernel, nest)));
    }
    EXPECT_GE(legal, 60);
    EXPECT_GE(wrong, 4);
}

}  // namespace
}  // namespace tessera::nests
