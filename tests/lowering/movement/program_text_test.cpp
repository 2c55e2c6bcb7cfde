#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lowering/kernels/micro_kernels.h"
#include "lowering/movement/parse_program.h"
#include "support/error.h"

namespace tessera::movement {
namespace {

using ::testing::HasSubstr;

/// Every statement and every value that there is.
std::string everything() {
    std::ifstream file(TESSERA_SOURCE_DIR "/tests/fuzz/corpus/program/everything.txt");
    return {std::istreambuf_iterator<char>(file), {}};
}

Program parsed(const std::string& text) {
    return parse_program(text, "test", kernels::call_kinds());
}

/// A program whose only kernel has this body; a buffer x, a symbol T.
std::string with_body(const std::string& body) {
    return "program \"p\" workers 2 arena 64 {\nsymbol T: 1..8\nblock \"b\" x 1 {\n  kernel k\n    nest "
           "\"\"\n"
           "    writes x: f32 arena 0 bytes 64 of \"x\"\n  {\n" +
           body + "  }\n}\n}\n";
}

std::string refusal(const std::string& text) {
    try {
        (void)parsed(text);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(ProgramText, PrintsWhatItWasReadFrom) {
    const std::string text = everything();
    const std::vector<Program> programs = parse_programs(text, "test", kernels::call_kinds());
    ASSERT_EQ(programs.size(), 2U);
    EXPECT_EQ(print(programs[0]) + print(programs[1]), text);
    const Program again = parsed(print(programs[0]));
    EXPECT_TRUE(again == programs[0]);
    EXPECT_FALSE(again == programs[1]);
}

TEST(ProgramText, OneDifferenceMakesProgramsUnequal) {
    const std::string text = everything();
    const Program whole = parse_programs(text, "test", kernels::call_kinds())[0];
    const std::pair<const char*, const char*> edits[] = {
        {"workers 2", "workers 1"},
        {"T: 1..23", "T: 1..22"},
        {"multiple 16", "multiple 8"},
        {"x 3 {", "x 2 {"},
        {"barrier alone", "barrier"},
        {"repetition 512", "repetition 256"},
        {"worker 256", "worker 128"},
        {"axis 1 in 16", "axis 1 in 8"},
        {"times 32", "times 16"},
        {"from worker", "from 0"},
        {"t - 3 < T", "t - 2 < T"},
        {"else -0.5", "else 0.5"},
        {"+ -8)", "+ -8.0)"},
        {"w[e; 2]", "w[e; 4]"},
        {"bf16(total)", "f16(total)"},
        {"neg(total)", "abs(total)"},
        {"tile scores: 64", "tile scores: 65"},
        {"dot true", "dot false"},
        {"<bf16>", "<f16>"},
        {"by (16, 2)", "by (16, 1)"},
        {"g: 0..1, i", "g: 0..2, i"},
    };
    for (const auto& [from, to] : edits) {
        std::string edited = text;
        const size_t at = edited.find(from);
        ASSERT_NE(at, std::string::npos) << from;
        edited.replace(at, std::string(from).size(), to);
        EXPECT_FALSE(parse_programs(edited, "test", kernels::call_kinds())[0] == whole) << from;
    }
}

TEST(ProgramText, VariablesKeepWhatTheirDeclarationSays) {
    const Program program = parsed(with_body(
        "for t: 0..64 multiple 8 from 0 to 65 by 8 {\nx[(t mod 8) + (t div 16) + min(t, 100)] = 1\n}\n"));
    // A multiple of 8 up to 64: its remainder is 0, and it is the smaller one.
    const auto& loop = std::get<For>(program.blocks[0].kernels[0].body[0].node);
    EXPECT_EQ(print(std::get<Store>(loop.body[0].node).to.offset), "(t div 16) + t");
    EXPECT_EQ(std::get<Store>(loop.body[0].node).to.offset.bounds().high, 68);
}

TEST(ProgramText, NamesMayBeWordsOfTheLanguage) {
    const std::string text = with_body(
        "    declare let: sum\n    let tile: 0..7 = T - 1\n    for min: 0..7 from 0 to 8 by 1 {\n"
        "      let += x[min(tile, min + 1)]\n      x[min] = let\n    }\n");
    EXPECT_EQ(print(parsed(text)), text);
}

TEST(ProgramText, RefusalsNameTheLine) {
    EXPECT_THAT(refusal(with_body("y[0] = 1\n")), HasSubstr("test:8: `y`: is no buffer here"));
    EXPECT_THAT(refusal(with_body("x[i] = 1\n")), HasSubstr("`i`: is no variable here"));
    EXPECT_THAT(refusal(with_body("x[0] = sum\n")), HasSubstr("`sum`: is no accumulator here"));
    EXPECT_THAT(refusal(with_body("for t: 0..1 from 0 to 2 by 1 { }\nx[t] = 1\n")), HasSubstr("test:9"));
    EXPECT_THAT(refusal(with_body("for t: 0..1 from 0 to 2 by 0 { }\n")), HasSubstr("a step"));
    EXPECT_THAT(refusal(with_body("for T: 0..1 from 0 to 2 by 1 { }\n")), HasSubstr("declared already"));
    EXPECT_THAT(refusal(with_body("declare s: sum\ns max= 1\n")), HasSubstr("folds by sum"));
    EXPECT_THAT(refusal(with_body("x[(T div 0)] = 1\n")), HasSubstr("a divisor"));
    EXPECT_THAT(refusal(with_body("contraction { m 1 }\n")), HasSubstr("`contraction`"));
    EXPECT_THAT(refusal(with_body("contract { rums 1 }\n")), HasSubstr("`rums`: is no field of the call"));
    EXPECT_THAT(refusal(with_body("contract_blocks { a [&x[0]] }\n")),
                HasSubstr("`coefficient`: is missing"));
    EXPECT_THAT(refusal(with_body("contract { rows &x[0] }\n")), HasSubstr("`rows`: is of another form"));
    EXPECT_THAT(refusal(with_body("x[9223372036854775807 * T + 9223372036854775807 * T] = 1\n")),
                HasSubstr("exceeds 64 bits"));
    EXPECT_THAT(refusal(with_body("x[99999999999999999999] = 1\n")), HasSubstr("out of range"));
    EXPECT_THAT(refusal("program \"p"), HasSubstr("does not end"));
    EXPECT_THAT(refusal(""), HasSubstr("holds 0 programs"));
}

TEST(ProgramText, DeepNestingIsRefused) {
    const std::string open(100'000, '(');
    EXPECT_THAT(refusal(with_body("x[" + open)), HasSubstr("deep"));
    EXPECT_THAT(refusal(with_body("x[0] = " + open)), HasSubstr("deep"));
    std::string loops;
    for (int i = 0; i < 1000; ++i) loops += "if 1 {";
    EXPECT_THAT(refusal(with_body(loops)), HasSubstr("deep"));
    std::string record;
    for (int i = 0; i < 1000; ++i) record += "{ a ";
    EXPECT_THAT(refusal(with_body("contract " + record)), HasSubstr("deep"));
    std::string sum = "0";
    for (int i = 0; i < 1000; ++i) sum += " + T";
    EXPECT_THAT(refusal(with_body("x[" + sum + "] = 1\n")), HasSubstr("operands"));
}

}  // namespace
}  // namespace tessera::movement
