// Files of the formats that CPUs, chips and clusters had mean what the files of machines/ say today.

#include "machine/older_formats.h"

#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "machine/description_text.h"
#include "machine/machine_text.h"
#include "support/error.h"

namespace tessera::machine {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

const fs::path kSource = TESSERA_SOURCE_DIR;

struct Kind {
    const char* older;
    const char* today;
};

class OlderFormat : public ::testing::TestWithParam<Kind> {};

TEST_P(OlderFormat, GivesTheSameValue) {
    size_t files = 0;
    for (const auto& entry : fs::directory_iterator(kSource / "tests/machine/older" / GetParam().older)) {
        const fs::path today = kSource / GetParam().today / entry.path().filename();
        EXPECT_EQ(read_description(entry.path()), read_description(today)) << entry.path();
        ++files;
    }
    EXPECT_GE(files, 2u);
}

INSTANTIATE_TEST_SUITE_P(All, OlderFormat,
                         ::testing::Values(Kind{"cpus", "machines"}, Kind{"chips", "machines/chips"},
                                           Kind{"clusters", "machines/clusters"}),
                         [](const auto& test) { return std::string(test.param.older); });

TEST(OlderFormats, KeepMeasurements) {
    const Machine measured = read_machine(kSource / "docs/measurements/zen4.toml");
    EXPECT_FALSE(measured.micro_kernels.empty());
    EXPECT_FALSE(measured.memory.back().read_bandwidth.empty());
    EXPECT_EQ(measured.memory.front().name, "L1");
    EXPECT_EQ(measured.memory.back().shared_by_cores, 2);
    EXPECT_EQ(parse_machine(print_machine(measured), "printed"), measured);
}

std::string refusal_of(const std::string& text) {
    try {
        (void)parse_description(text, "m.toml");
    } catch (const Error& error) {
        return error.what();
    }
    return "accepted";
}

TEST(OlderFormats, AreRefusedByTheirOwnFields) {
    EXPECT_EQ(refusal_of(
                  "name = \"a\"\nisa = \"x86-64\"\ncores = 0\ncache_line_bytes = 64\n[compiler]\nflags = []\n"
                  "[[memory]]\nname = \"memory\"\n"),
              "m.toml:3: `cores`: is 0, expected 1 to 1048576");
    EXPECT_EQ(refusal_of("name = \"a\"\ncores = 0\n"), "m.toml:2: `cores`: is 0, expected 1 to 65536");
    EXPECT_EQ(refusal_of("name = \"a\"\n[device]\nflops_per_second = 0\n"),
              "m.toml:3: `flops_per_second`: is 0, expected 1 to 1e+21");
}

TEST(OlderFormats, PathsOfTheirFieldsAreThoseOfToday) {
    using Path = std::vector<std::string>;
    EXPECT_THAT(renamed_chip_field(Path{"sram", "bytes"}), ElementsAre("level", "core", "capacity_bytes"));
    EXPECT_THAT(renamed_chip_field(Path{"sram", "reserved_bytes"}),
                ElementsAre("level", "core", "reserved_bytes"));
    EXPECT_THAT(renamed_chip_field(Path{"hbm", "bytes_per_second"}),
                ElementsAre("level", "chip", "module", "bytes_per_second"));
    EXPECT_THAT(renamed_chip_field(Path{"pod", "chips"}), ElementsAre("level", "chip", "count"));
    EXPECT_THAT(renamed_chip_field(Path{"clock_hz"}), ElementsAre("clock_hz"));
}

}  // namespace
}  // namespace tessera::machine
