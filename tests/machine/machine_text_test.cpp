#include "machine/machine_text.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "machine/description.h"
#include "support/error.h"

namespace tessera::machine {
namespace {

constexpr const char* kSmall = R"(name = "small"
isa = "x86-64"
cache_line_bytes = 64

[compiler]
flags = ["-mavx2", "-mfma"]

[[level]]
name = "memory"
count = 1
capacity_bytes = 1073741824

[[level]]
name = "core"
count = 2

[[unit]]
name = "avx2"
kind = "vector"
registers = 16
strided_rows = false
operands = [
    { name = "A", type = "f32", lanes = "i8" },
    { name = "B", type = "f32", lanes = "i8" },
    { name = "C", type = "f32", lanes = "i8" },
]
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

std::string error_of(const std::string& text) {
    try {
        parse_machine(text, "m.toml");
    } catch (const Error& error) {
        return error.what();
    }
    return "accepted";
}

TEST(MachineText, PrintsTheFormOfTheFiles) {
    EXPECT_EQ(print_machine(parse_machine(kSmall, "m.toml")), kSmall);
}

TEST(MachineText, NumbersAndCommandSurviveTheRoundTrip) {
    Machine machine = parse_machine(kSmall, "m.toml");
    machine.memory[0].latency_seconds = 1.0 / 3;
    machine.compiler.command = "/usr/bin/clang++";
    EXPECT_EQ(parse_machine(print_machine(machine), "printed"), machine);
}

TEST(MachineText, HashFollowsTheContentAndNotTheSpelling) {
    const Machine machine = parse_machine(kSmall, "a.toml");
    EXPECT_EQ(content_hash(parse_machine("# a comment\n" + std::string(kSmall), "b.toml")),
              content_hash(machine));
    Machine other = machine;
    other.cores = 3;
    EXPECT_NE(content_hash(other), content_hash(machine));
}

TEST(MachineText, CountsSayHowManyCoresShareALevel) {
    Machine machine = parse_machine(kSmall, "m.toml");
    EXPECT_EQ(machine.cores, 2);
    EXPECT_EQ(machine.memory[0].shared_by_cores, 2);
    // A process that may use three cores of two pairs, each pair with a cache.
    machine.cores = 3;
    machine.memory = {{.name = "L2", .capacity_bytes = 1 << 20, .shared_by_cores = 2},
                      {.name = "memory", .capacity_bytes = 1 << 30, .shared_by_cores = 3}};
    const Description description = describe(machine);
    EXPECT_EQ(description.levels[1].count, 2);
    EXPECT_EQ(description.levels[0].shared_by_cores, 3);
    EXPECT_EQ(description.cpu->usable_cores, 3);
    EXPECT_EQ(parse_machine(print_machine(machine), "printed"), machine);
}

TEST(MachineText, LanesKeepOrderAndRepetition) {
    const auto lanes = parse_lanes("k16,n16,k2");
    ASSERT_TRUE(lanes);
    EXPECT_EQ(*lanes, (std::vector<LaneAxis>{{'k', 16}, {'n', 16}, {'k', 2}}));
    EXPECT_EQ(print_lanes(*lanes), "k16,n16,k2");
    EXPECT_EQ(parse_lanes(""), std::vector<LaneAxis>());
    for (const char* bad :
         {"k", "16", "k0", "k-1", "k16,", ",k16", "k16 ,n2", "K16", "k5000", "k99999999999999999999"})
        EXPECT_FALSE(parse_lanes(bad)) << bad;
}

struct Refusal {
    const char* name;
    const char* from;
    const char* to;
    const char* message;
};

class MachineTextRefuses : public ::testing::TestWithParam<Refusal> {};

TEST_P(MachineTextRefuses, WithTheReason) {
    EXPECT_EQ(error_of(replaced(kSmall, GetParam().from, GetParam().to)), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    All, MachineTextRefuses,
    ::testing::Values(
        Refusal{"unknown_field", "cache_line_bytes = 64", "cache_line_bytes = 64\nthreads = 4",
                "m.toml:4: `threads`: is not a known field"},
        Refusal{"unknown_nested_field", "registers = 16", "registers = 16\nlatency = 4",
                "m.toml:21: `latency`: is not a known field"},
        Refusal{"missing_field", "cache_line_bytes = 64\n", "", "m.toml:1: `cache_line_bytes`: is missing"},
        Refusal{"wrong_type", "count = 2", "count = \"2\"",
                "m.toml:15: `count`: is string, expected integer"},
        Refusal{"out_of_range", "count = 2", "count = 0", "m.toml:15: `count`: is 0, expected 1 to 1048576"},
        Refusal{"negative_capacity", "= 1073741824", "= -1",
                "m.toml:11: `capacity_bytes`: is -1, expected 1 to 1152921504606846976"},
        Refusal{"unknown_isa", "\"x86-64\"", "\"z80\"",
                "m.toml:2: `isa`: is z80, expected one of x86-64, aarch64"},
        Refusal{"native", "-mavx2", "-march=native",
                "m.toml:6: `flags`: holds -march=native, which means another machine everywhere (name the "
                "features: "
                "`tessera machine` lists those of the host)"},
        Refusal{"plugin", "-mavx2", "-fplugin=evil.so",
                "m.toml:6: `flags`: holds -fplugin=evil.so, expected -m and a feature (for example -mavx2)"},
        Refusal{"relative_command", "flags =", "command = \"bin/c++\"\nflags =",
                "m.toml:6: `command`: is a relative path, expected a name or an absolute path"},
        Refusal{
            "quote_in_name", "\"small\"", "'sm\"all'",
            "m.toml:1: `name`: must be at most 200 printable ASCII characters without quotes and backslash"},
        Refusal{"empty_name", "\"small\"", "\"\"", "m.toml:1: `name`: is empty"},
        Refusal{"two_main_memories", "count = 1", "count = 2",
                "m.toml:10: `count`: is 2, and a CPU has one main memory"},
        Refusal{"cache_without_size", "capacity_bytes = 1073741824\n", "",
                "m.toml:8: `capacity_bytes`: is missing"},
        Refusal{"core_with_memory", "count = 2", "count = 2\ncapacity_bytes = 5",
                "m.toml:16: `capacity_bytes`: is set, and the innermost level of a CPU is a core, which has "
                "none"},
        Refusal{"link_of_a_cpu", "count = 2",
                "count = 2\nlinks = { topology = \"shared\", bytes_per_second = 1 }",
                "m.toml:16: `links`: is set, and levels of a CPU have none"},
        Refusal{"no_core", "[[level]]\nname = \"core\"\ncount = 2\n", "",
                "m.toml:8: `level`: has one level, expected at least the main memory and the core"},
        Refusal{"cache_within_cores", "count = 2", "count = 1048576\n[[level]]\nname = \"thread\"\ncount = 2",
                "m.toml:13: `capacity_bytes`: is missing"},
        Refusal{"no_instruction_set", "isa = \"x86-64\"\n", "", "m.toml:1: `isa`: is missing"},
        Refusal{"bad_lanes", "lanes = \"i8\"", "lanes = \"i8,\"",
                "m.toml:23: `lanes`: is i8,, expected letters with factors (for example k16,n16,k2)"},
        Refusal{"lanes_disagree", "lanes = \"i8\"", "lanes = \"i4\"",
                "m.toml:22: `operands`: give axis i 4 lanes in A and 8 in B"},
        Refusal{"vector_of_rank_three", "lanes = \"i8\"", "lanes = \"i8,j8,k2\"",
                "m.toml:22: `operands`: gives A the lanes <i8,j8,k2>, which no vector unit has"},
        Refusal{"no_f32_vector", "type = \"f32\"", "type = \"bf16\"",
                "m.toml:17: `unit`: has no vector unit with f32 operands (the portable one has 4 lanes)"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(MachineText, NamesTheLineOfASyntaxError) {
    EXPECT_TRUE(error_of("name = \"a\"\ncores = = 2\n").starts_with("m.toml:2: "))
        << error_of("name = \"a\"\ncores = = 2\n");
    EXPECT_TRUE(error_of(std::string("\xff\xfe\0\0", 4)).starts_with("m.toml:1: "));
    EXPECT_TRUE(error_of("a = " + std::string(100000, '[')).starts_with("m.toml:1: "));
    EXPECT_EQ(error_of(""), "m.toml:1: `name`: is missing");
}

TEST(MachineText, TwoLevelsOfOneNameAreRefused) {
    const std::string level = "[[level]]\nname = \"memory\"\ncount = 1\n";
    EXPECT_EQ(error_of(kSmall + level), "m.toml:8: `level`: has two entries of the name memory");
}

TEST(MachineText, MissingFileIsNamed) {
    EXPECT_THROW(read_machine("/no/such.toml"), Error);
}

}  // namespace
}  // namespace tessera::machine
