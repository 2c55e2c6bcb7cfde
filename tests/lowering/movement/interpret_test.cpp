// The effects of statements and values, one by one.
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lowering/movement/program_memory.h"
#include "support/error.h"

namespace tessera::testing {
namespace {

using ::testing::ElementsAre;

constexpr const char* kBuffers =
    "reads x: f32 input 0 bytes 256 of \"x\"\n"
    "reads i: i32 input 1 bytes 256 of \"i\"\n"
    "reads b: bf16 constant 0 bytes 64 of \"b\"\n"
    "reads h: f16 constant 64 bytes 64 of \"h\"\n"
    "reads q: u5 constant 128 bytes 64 of \"q\"\n"
    "reads s: i4 constant 192 bytes 64 of \"s\"\n"
    "writes a: f32 arena 0 bytes 256 of \"a\"\n"
    "writes r: bf16 arena 256 bytes 64 of \"r\"\n"
    "writes c: i8 arena 320 bytes 64 of \"c\"\n"
    "writes f: f16 arena 384 bytes 64 of \"f\"\n"
    "writes y: f32 output 0 bytes 256 of \"y\"\n";

/// The first elements of y after this body, of which no fault is found.
std::vector<float> result_of(const std::string& body, size_t count, PlainMemory memory = {}, int64_t t = 4) {
    const std::string text =
        program_text("kernel k nest \"\"\n" + std::string(kBuffers) + "{\n" + body + "}\n");
    EXPECT_EQ(faults_of(text, memory, {}, t), "");
    return {memory.output.begin(), memory.output.begin() + static_cast<ptrdiff_t>(count)};
}
float value_of(const std::string& value, PlainMemory memory = {}) {
    return result_of("y[0] = " + value + "\n", 1, std::move(memory)).front();
}

TEST(Interpret, NumbersAndFunctions) {
    EXPECT_EQ(value_of("(1.5 + (2.0 * -3.0))"), -4.5F);
    EXPECT_EQ(value_of("(1.0 / 3.0)"), 1.0F / 3.0F);
    EXPECT_EQ(value_of("(0.1 + 0.2)"), 0.1F + 0.2F) << "in f32";
    EXPECT_EQ(value_of("neg(inf)"), -INFINITY);
    EXPECT_EQ(value_of("exp(1.0)"), static_cast<float>(std::exp(1.0)));
    EXPECT_EQ(value_of("max(1.0, min(3.0, 2.0))"), 2.0F);
    EXPECT_EQ(value_of("select((1.0 < 2.0), 5.0, 6.0)"), 5.0F);
    EXPECT_EQ(value_of("select(not((1.0 < 2.0)), 5.0, 6.0)"), 6.0F);
    EXPECT_EQ(value_of("((1.0 < 2.0) + 1.0)"), 2.0F) << "a condition is 0 or 1";
    EXPECT_EQ(value_of("round(2.5)"), 2.0F);
    EXPECT_EQ(value_of("bf16(1.00390625)"), 1.0F);
    EXPECT_EQ(value_of("f16(65520.0)"), INFINITY);
}

TEST(Interpret, IntegersStayExactUntilTheyMeetANumber) {
    PlainMemory memory;
    memory.indices[0] = 16777217;  // no f32
    EXPECT_EQ(value_of("select((int(i[0]) == int(16777217)), 1.0, 0.0)", memory), 1.0F);
    EXPECT_EQ(value_of("select((int(i[0]) > 16777216), 1.0, 0.0)", memory), 1.0F);
    EXPECT_EQ(value_of("(int(i[0]) * 1.0)", memory), 16777216.0F);
    EXPECT_EQ(value_of("(int(7) / int(2))"), 3.5F);
}

TEST(Interpret, IndicesRoundDown) {
    PlainMemory memory;
    memory.indices = {5, 3};
    memory.indices.resize(64);
    EXPECT_THAT(
        result_of("y[0] = int(((i[1] - i[0]) div 4))\ny[1] = int(((i[1] - i[0]) mod 4))\n"
                  "y[2] = int(min(i[0], i[1]) + 10 * max(i[0], i[1]))\ny[3] = int((i[0] * (T + 0)))\n",
                  4, memory),
        ElementsAre(-1, 2, 53, 20));
}

TEST(Interpret, ElementsOfEveryType) {
    PlainMemory memory;
    memory.set_constants<uint16_t>(0, {0x3F80, 0xC000});     // 1, -2
    memory.set_constants<uint16_t>(64, {0x3C00, 0xB800});    // 1, -0.5
    memory.set_constants<uint8_t>(128, {0x1F | 2 << 5, 0});  // 31, 2
    memory.set_constants<uint8_t>(192, {0x7 | 0x8 << 4});    // 7, -8
    EXPECT_THAT(result_of("y[0] = b[1]\ny[1] = h[1]\ny[2] = q[0]\ny[3] = q[1]\ny[4] = s[0]\ny[5] = s[1]\n", 6,
                          memory),
                ElementsAre(-2, -0.5, 31, 2, 7, -8));
    EXPECT_THAT(result_of("r[0] = 1.01\nc[0] = -200.0\nc[1] = 2.75\nf[0] = 2049.0\n"
                          "y[0] = r[0]\ny[1] = c[0]\ny[2] = c[1]\ny[3] = f[0]\n",
                          4),
                ElementsAre(1.0078125, -128, 2, 2048));
}

TEST(Interpret, LoopsGoByTheirSteps) {
    EXPECT_THAT(result_of("fill y[0] times 8 = 0.5\nfor t: 1..7 from 1 to 8 by 3 { y[t] = int(t) }\n"
                          "let u: 0..127 = 2 * T - 1\nif (int(u) == 7) { y[0] = 9.0 }\n",
                          8),
                ElementsAre(9, 1, 0.5, 0.5, 4, 0.5, 0.5, 7));
    EXPECT_THAT(result_of("fill y[0] times 1 = 3.0\nfor t: 0..63 from 5 to T by 1 { y[0] = 1.0 }\n", 1),
                ElementsAre(3));
}

TEST(Interpret, GroupsOfLanesEndWhereTheRangeDoes) {
    PlainMemory memory;
    for (size_t e = 0; e < 64; ++e) memory.input[e] = static_cast<float>(e);
    EXPECT_THAT(result_of("fill y[0] times 8 = -1.0\n"
                          "lanes e: 0..5 from 0 to 6 by 4 { y[e; 1] = (x[2 * e; 2] + int(e; 1)) }\n",
                          8, memory),
                ElementsAre(0, 3, 6, 9, 12, 15, -1, -1));
    EXPECT_THAT(result_of("fill y[0] times 8 = 0.0\n"
                          "lanes e: 0..1 from 0 to 2 by 4 { y[3 * e; 3] = x[9] }\n",
                          8, memory),
                ElementsAre(9, 0, 0, 9, 0, 0, 0, 0));
}

TEST(Interpret, AccumulatorsFoldByLanes) {
    PlainMemory memory;
    for (size_t e = 0; e < 64; ++e) memory.input[e] = static_cast<float>(e + 1);
    // 1 .. 7 in two groups; the last lane of the second one does not count.
    EXPECT_THAT(result_of("declare sum[4]: sum\ndeclare m[4]: max\ndeclare p[4]: prod\ndeclare l[4]: min\n"
                          "lanes e: 0..6 from 0 to 7 by 4 {\n  sum += x[e; 1]\n  m max= x[e; 1]\n"
                          "  p *= x[e; 1]\n  if (int(e; 1) > 2) l min= x[e; 1]\n}\n"
                          "y[0] = fold(sum)\ny[1] = fold(m)\ny[2] = fold(p)\ny[3] = fold(l)\n",
                          4, memory),
                ElementsAre(28, 7, 5040, 4));
    EXPECT_THAT(
        result_of("for t: 0..3 from 0 to 4 by 1 {\n  declare sum: sum\n"
                  "  for u: 0..3 from 0 to 4 by 1 { if (int(u) <= int(t)) sum += 1 }\n  y[t] = sum\n}\n",
                  4),
        ElementsAre(1, 2, 3, 4))
        << "declared anew in each trip";
}

TEST(Interpret, GuardedElementsAreNotTouched) {
    PlainMemory memory;
    memory.input[0] = 7;
    EXPECT_THAT(result_of("for t: 0..3 from 0 to 4 by 1 {\n"
                          "  y[t] = (x[t - 2] if 0 <= t - 2 < T - 3 else -5.0)\n}\n",
                          4, memory),
                ElementsAre(-5, -5, 7, -5));
}

TEST(Interpret, GuardsTellLanesApart) {
    PlainMemory memory;
    memory.input = {7, 8, 9};
    const char* const before =
        "lanes e: 0..3 from 0 to 4 by 4 {\n  y[e; 1] = (x[e - 2; 1] if 0 <= e - 2; 1 < 3 ";
    EXPECT_THAT(result_of(before + std::string("else -5.0)\n}\n"), 4, memory), ElementsAre(-5, -5, 7, 8));
    EXPECT_THAT(result_of("lanes e: 0..3 from 0 to 4 by 4 {\n"
                          "  y[e; 1] = (x[2 * e - 1; 2] if 0 <= 2 * e - 1; 2 < 3 else -5.0)\n}\n",
                          4, memory),
                ElementsAre(-5, 8, -5, -5));
    EXPECT_THAT(result_of("lanes e: 0..3 from 0 to 4 by 4 {\n"
                          "  y[e; 1] = (x[e; 1] if 0 <= e - 9; 1 < 3 else -5.0)\n}\n",
                          4, memory),
                ElementsAre(-5, -5, -5, -5));
}

TEST(Interpret, TilesAreOfTheBody) {
    EXPECT_THAT(result_of("for t: 0..1 from 0 to 2 by 1 {\n  tile z: 4\n  fill z[0] times 4 = 1.0\n"
                          "  z[t] = 2.0\n  y[2 * t] = z[0]\n  y[2 * t + 1] = z[1]\n}\n",
                          4),
                ElementsAre(2, 1, 1, 2));
}

TEST(Interpret, RepetitionsAndWorkersHaveTheirOwnPlaces) {
    const std::string text = program_text(
        "kernel k nest \"\"\n"
        "reads w: f32 constant 0 bytes 16 repetition 16 of \"w\"\n"
        "writes own: f32 arena 0 bytes 128 worker 64 of \"own\"\n"
        "writes s: f32 state 0 bytes 64 repetition T * 4 of \"s\"\n"
        "{\nown[0] = (w[0] + int(worker))\ns[worker] = own[0]\n}\n",
        2, 2);
    PlainMemory memory;
    memory.set_constants<float>(0, {10, 0, 0, 0, 20});
    EXPECT_EQ(faults_of(text, memory, {}, 4), "");
    EXPECT_THAT(std::vector<float>(memory.state.begin(), memory.state.begin() + 6),
                ElementsAre(10, 11, 0, 0, 20, 21));
}

TEST(Interpret, MemoryMustFitTheProgram) {
    const movement::Program program = movement::parse_program(
        program_text("kernel k nest \"\"\nreads x: f32 input 2 bytes 16 of \"x\"\n{ }\n"), "test",
        kernels::call_kinds());
    PlainMemory memory;
    EXPECT_THROW((void)movement::interpret(program, memory.memory()), Error);
    movement::ProgramMemory none = memory.memory();
    none.symbols.clear();
    EXPECT_THROW((void)movement::interpret(program, none), Error);
}

}  // namespace
}  // namespace tessera::testing
