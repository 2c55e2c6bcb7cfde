#include "lowering/movement/verify_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lowering/kernels/micro_kernels.h"
#include "lowering/movement/parse_program.h"
#include "support/error.h"

namespace tessera::movement {
namespace {

using ::testing::HasSubstr;

/// Buffers, then a body, of the only kernel of a program with a symbol T and two workers.
std::string program_of(const std::string& buffers, const std::string& body) {
    return "program \"p\" workers 2 arena 256 {\nsymbol T: 1..8\nblock \"b\" x 1 {\nkernel k\nnest \"\"\n" +
           buffers + "{\n" + body + "}\n}\n}\n";
}

constexpr const char* kBuffers =
    "reads index: i32 input 0 bytes 32 of \"index\"\n"
    "reads w: bf16 constant 0 bytes 128 of \"w\"\n"
    "writes x: f32 arena 0 bytes 64 of \"x\"\n"
    "writes own: f32 arena 64 bytes 128 worker 64 of \"own\"\n";

std::string fault(const std::string& text) {
    try {
        (void)parse_program(text, "test", kernels::call_kinds());
    } catch (const Error& error) {
        return error.problem;
    }
    return "";
}
std::string body_fault(const std::string& body) {
    return fault(program_of(kBuffers, body));
}

TEST(VerifyProgram, FindsNoFaultInASoundProgram) {
    EXPECT_EQ(body_fault("for t: 0..7 from worker to T by 2 {\n"
                         "  lanes e: 0..12 multiple 4 from 0 to 16 by 4 {\n"
                         "    declare s[4]: sum\n    s += (w[e; 1] * own[t])\n    x[e; 1] = s\n  }\n}\n"),
              "");
}

TEST(VerifyProgram, NamesKernelAndStatement) {
    const std::string text = body_fault("for t: 0..7 from 0 to T by 1 {\n  w[t] = 1\n}\n");
    EXPECT_EQ(text, "kernel k: `w[t] = 1`: w is not written by this kernel");
}

TEST(VerifyProgram, FaultsOfStatements) {
    const std::pair<const char*, const char*> faults[] = {
        {"for t: 0..6 from 0 to T by 1 { x[t] = 1 }\n", "t may leave its bounds"},
        {"for t: 0..7 multiple 4 from 0 to T by 2 { x[t] = 1 }\n", "t may be no multiple of 4"},
        {"for t: 0..7 multiple 4 from 1 to T by 4 { x[t] = 1 }\n", "t may be no multiple of 4"},
        {"let t: 0..3 = T\n", "t may leave its bounds"},
        {"let t: 0..16 multiple 2 = T\n", "t may be no multiple of 2"},
        {"lanes e: 0..15 from 0 to 16 by 3 { x[e; 1] = 1 }\n", "no power of two"},
        {"lanes e: 0..127 from 0 to 128 by 128 { x[e; 1] = 1 }\n", "out of range"},
        {"lanes e: 0..15 from 0 to 16 by 4 { lanes d: 0..15 from 0 to 16 by 4 { x[0] = 1 } }\n",
         "stands in another one"},
        {"lanes e: 0..15 from 0 to 16 by 4 { x[0] = w[e; 1] }\n", "stored in one element"},
        {"lanes e: 0..15 from 0 to 16 by 4 { if (int(e; 1) < 2) { x[0] = 1 } }\n", "differs between lanes"},
        {"lanes e: 0..15 from 0 to 16 by 4 { declare s: sum\n s += w[e; 1] }\n", "which has none"},
        {"lanes e: 0..15 from 0 to 16 by 4 { declare s[8]: sum\n s += w[e; 1] }\n", "other lanes"},
        {"declare s: sum\n x[0] = fold(s)\n", "has no lanes to fold"},
        {"x[0] = index[0]\n", "holds integers"},
        {"x[x[0]] = 1\n", "no buffer of integers"},
        {"x[16] = 1\n", "x[16] lies outside of its 16 elements"},
        {"x[-1] = 1\n", "lies outside"},
        {"own[16] = 1\n", "lies outside of its 16 elements"},
        {"x[index[8]] = 1\n", "index[8] lies outside of its 8 elements"},
        {"tile t: 4\n t[4] = 1\n", "lies outside of its 4 elements"},
        {"fill w[0] times 4 = 0\n", "is not written"},
        {"x[1152921504606846976 * T] = 1\n", "may exceed 64 bits"},
        {"contract { lanes 3, m 1, n 4, k 4, a &w[0], b &w[0] by (1, 1), c &x[0] }\n", "no power of two"},
        {"contract { m 1, n 4, k 4, a &w[0], b &w[0] by (1, 1), c &w[0] }\n", "w is not written"},
        {"contract { m 1, n 4, k 4, a_k 1, b &w[0] by (1, 1), c &x[0] }\n", "`` is no buffer here"},
        {"contract { m 1, n 4, k 4, a &w[64], b &w[0] by (1, 1), c &x[0] }\n", "lies outside"},
        {"contract_blocks { coefficient |g: 0..0, k: 0..0| 1 }\n", "neither one number nor two terms"},
        {"lanes e: 0..15 from 0 to 16 by 4 { contract { m 1, c &x[0] } }\n", "stands in a loop over lanes"},
    };
    for (const auto& [body, problem] : faults) EXPECT_THAT(body_fault(body), HasSubstr(problem)) << body;
}

TEST(VerifyProgram, FaultsOfBuffers) {
    const std::pair<const char*, const char*> faults[] = {
        {"writes x: f32 input 0 bytes 64 of \"x\"\n", "buffer x: is written, but lies in the inputs"},
        {"writes x: f32 constant 0 bytes 64 of \"x\"\n", "lies in the constants"},
        {"reads x: u4 state 0 bytes 64 of \"x\"\n", "smaller than a byte"},
        {"reads x: f32 arena 196 bytes 64 of \"x\"\n", "do not lie in the arena of 256 bytes"},
        {"reads x: f32 arena 0 bytes 64 worker 64 of \"x\"\n", "2 copies of 64 bytes do not fit into 64"},
        {"reads x: f32 state 0 bytes 64 worker 32 of \"x\"\n", "has copies, but is not in the arena"},
    };
    for (const auto& [buffers, problem] : faults)
        EXPECT_THAT(fault(program_of(buffers, "")), HasSubstr(problem)) << buffers;
}

/// Faults that the parser cannot produce.
TEST(VerifyProgram, FaultsThatHaveNoText) {
    const Program sound = parse_program(program_of(kBuffers, "x[T] = 1\n"), "test", kernels::call_kinds());
    EXPECT_TRUE(verify(sound).empty());
    const auto with = [&](Statement statement) {
        Program program = sound;
        program.blocks[0].kernels[0].body = {std::move(statement)};
        const auto faults = verify(program);
        return faults.empty() ? "" : faults.front().problem;
    };
    const Index t = Index::variable({"t", {0, 3}}), other = Index::variable({"T", {1, 9}});
    EXPECT_EQ(with({Store{{"x", t}, 0, number_value(1)}}), "t is no variable here");
    EXPECT_EQ(with({Store{{"x", other}, 0, number_value(1)}}), "T is taken for a variable with other bounds");
    EXPECT_EQ(with({Store{{"y", Index(0)}, 0, number_value(1)}}), "`y` is no buffer here");
    EXPECT_EQ(with({Store{{"x", Index(0), ElementType::kBF16}, 0, number_value(1)}}),
              "x is of f32, not of bf16");
    EXPECT_EQ(with({For{{"t", {0, 3}}, Index(0), Index(4), 0, {}}}), "the loop does not step forwards");
    EXPECT_EQ(with({For{{"T", {0, 3}}, Index(0), Index(4), 1, {}}}), "T is declared already");
    EXPECT_EQ(with({For{{"call.t", {0, 3}}, Index(0), Index(4), 1, {}}}), "call.t is no identifier");
    EXPECT_EQ(with({Declare{"s", Monoid::kNone}}), "s folds by no operation");
    EXPECT_EQ(with({Accumulate{"s", Monoid::kSum, number_value(1), nullptr}}), "s is no accumulator here");
    Program twice = sound;
    twice.blocks[0].kernels.push_back(twice.blocks[0].kernels[0]);
    ASSERT_FALSE(verify(twice).empty());
    EXPECT_EQ(print(verify(twice).front()), "kernel k: its block has two kernels of this name");
}

TEST(VerifyProgram, OneGuardHasLanesThatRunForwards) {
    const auto guarded = [](const std::string& guards) {
        return body_fault("lanes e: 0..7 from 0 to 8 by 8 { x[e; 1] = (w[e; 1] if " + guards +
                          " else 0.0) }\n");
    };
    EXPECT_EQ(guarded("0 <= e; 1 < 8 and 0 <= T < 9"), "");
    EXPECT_THAT(guarded("0 <= 7 - e; -1 < 8"), HasSubstr("guarded by lanes that run backwards"));
    EXPECT_THAT(guarded("0 <= e; 1 < 8 and 0 <= e; 2 < 9"), HasSubstr("guarded by lanes twice"));
    EXPECT_THAT(body_fault("x[0] = (w[0] if 0 <= T; 1 < 9 else 0.0)\n"), HasSubstr("or do not exist"));
}

/// Code that a value or an empty range may keep from running need not be inside.
TEST(VerifyProgram, WhatMayNotRunMayLieOutside) {
    EXPECT_EQ(body_fault("for t: 0..7 from 8 to T by 1 { x[t + 16] = 1 }\n"), "");
    EXPECT_EQ(body_fault("if (x[0] < 1) { x[16] = 1 }\n"), "");
    EXPECT_EQ(body_fault("x[0] = (w[99] if 0 <= T - 9 < T else 0.0)\n"), "");
}

}  // namespace
}  // namespace tessera::movement
