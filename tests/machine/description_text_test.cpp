#include "machine/description_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "machine/machine_text.h"
#include "support/error.h"

namespace tessera::machine {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr const char* kGrid = R"(name = "grid"
clock_hz = 2e9
tile_overhead_cycles = 5

[[level]]
name = "chip"
count = 2
links = { topology = "all-to-all", bytes_per_second = 1e9, latency_cycles = 500 }

[[level.module]]
count = 3
edge = "right"
bytes_per_second = 4e9
latency_cycles = 30

[[level.module]]
count = 1
at = [0, 2]
bytes_per_second = 6e9
port_bytes_per_cycle = 1.5
latency_seconds = 4e-8

[[level]]
name = "core"
count = 6
capacity_bytes = 1000
reserved_bytes = 100
bytes_per_cycle = 16
links = { topology = "mesh", shape = [3, 2], bytes_per_second = 4e9, latency_cycles = 7 }

[[unit]]
name = "matrix"
kind = "matrix"
operations_per_cycle = 64
block = [2, 4, 8]

[[unit]]
name = "vector"
kind = "vector"
operations_per_cycle = 8
special_operations = 3

[energy]
matrix_flop = 1
vector_flop = 2
sram_byte = 3
link_byte = 4
hbm_byte = 5
chip_byte = 6
)";

/// A file without its comments, which stand at its head.
std::string without_comments(const fs::path& path) {
    std::ifstream file(path);
    std::string text;
    for (std::string line; std::getline(file, line);)
        if (!line.starts_with("#")) text += line + "\n";
    return text;
}

TEST(DescriptionText, EveryFileThatShipsIsPrintedAsItStands) {
    int files = 0;
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(TESSERA_SOURCE_DIR) / "machines")) {
        if (!entry.is_regular_file()) continue;
        EXPECT_EQ(print_description(read_description(entry.path())), without_comments(entry.path()))
            << entry.path();
        ++files;
    }
    EXPECT_GE(files, 11);
}

TEST(DescriptionText, ReadsLevelsUnitsAndModules) {
    const Description found = parse_description(kGrid, "g.toml");
    EXPECT_EQ(print_description(found), kGrid);
    ASSERT_EQ(found.levels.size(), 2u);
    const Level &chip = found.levels[0], &core = found.levels[1];
    EXPECT_EQ(chip.links->latency->cycles(2e9), 500);
    EXPECT_EQ(attached(chip.modules[0], core.links->shape), (std::vector<int64_t>{1, 3, 5}));
    EXPECT_EQ(attached(chip.modules[1], core.links->shape), (std::vector<int64_t>{0, 2}));
    EXPECT_EQ(chip.modules[1].port_bytes->per_second(2e9), 3e9);
    EXPECT_EQ(chip.modules[1].latency.cycles(2e9), 80);
    EXPECT_EQ(core.capacity_bytes, 1000);
    EXPECT_EQ(core.links->bytes.per_cycle(2e9), 2);
    EXPECT_EQ(instances_inside(found.levels), (std::vector<int64_t>{6, 1}));
    EXPECT_EQ(found.units[0].block, (std::array<int64_t, 3>{2, 4, 8}));
    EXPECT_EQ(found.units[1].operations->per_second(2e9), 16e9);
}

TEST(DescriptionText, EdgesOfAGrid) {
    const auto ports = [](const char* edge) { return attached({.edge = edge}, {2, 3}); };
    EXPECT_EQ(ports("left"), (std::vector<int64_t>{0, 3}));
    EXPECT_EQ(ports("right"), (std::vector<int64_t>{2, 5}));
    EXPECT_EQ(ports("top"), (std::vector<int64_t>{0, 1, 2}));
    EXPECT_EQ(ports("bottom"), (std::vector<int64_t>{3, 4, 5}));
}

struct Fault {
    const char* name;
    const char* from;
    const char* to;
    const char* message;  ///< with the line
};

class BadDescription : public ::testing::TestWithParam<Fault> {};

TEST_P(BadDescription, IsRefusedByLineAndField) {
    std::string text = kGrid;
    const size_t at = text.find(GetParam().from);
    ASSERT_NE(at, std::string::npos);
    text.replace(at, std::string(GetParam().from).size(), GetParam().to);
    std::string message = "accepted";
    try {
        (void)parse_description(text, "g.toml");
    } catch (const Error& error) {
        message = error.what();
    }
    EXPECT_THAT(message, HasSubstr(GetParam().message));
}

const Fault kFaults[] = {
    {"no_count", "count = 6\n", "", "g.toml:23: `count`: is missing"},
    {"unknown_of_a_level", "reserved_bytes = 100", "colour = 100",
     "g.toml:27: `colour`: is not a known field"},
    {"unknown_of_links", "shape = [3, 2],", "shape = [3, 2], loss = 1,",
     "g.toml:29: `loss`: is not a known field"},
    {"unknown_of_a_module", "edge = \"right\"", "edge = \"right\"\nbanks = 4",
     "g.toml:13: `banks`: is not a known field"},
    {"unknown_of_a_unit", "block = [2, 4, 8]", "blocks = [2, 4, 8]",
     "g.toml:35: `blocks`: is not a known field"},
    {"unknown_of_the_machine", "[energy]", "[cost]", "`cost`: is not a known field"},
    {"no_clock", "clock_hz = 2e9\n", "",
     "g.toml:7: `latency_cycles`: counts cycles, and the machine has no `clock_hz`"},
    {"two_rates", "bytes_per_cycle = 16", "bytes_per_cycle = 16\nbytes_per_second = 1e9",
     "g.toml:28: `bytes_per_cycle`: is set, and so is `bytes_per_second` (leave one of them out)"},
    {"measured", "bytes_per_cycle = 16", "bytes_per_cycle = 16\nlatency_seconds = 1e-9",
     "g.toml:29: `latency_seconds`: is set, and only levels of a CPU have it"},
    {"shared_by_cores", "bytes_per_cycle = 16", "bytes_per_cycle = 16\nshared_by_cores = 2",
     "g.toml:29: `shared_by_cores`: is set, and only levels of a CPU have it"},
    {"too_many_modules", "count = 3\nedge = \"right\"", "count = 4097\nedge = \"right\"",
     "g.toml:11: `count`: is 4097, expected 1 to 4096"},
    {"no_rate_of_a_link", "bytes_per_second = 4e9, latency_cycles = 7", "latency_cycles = 7",
     "g.toml:29: `bytes_per_second`: is missing (or bytes_per_cycle)"},
    {"unknown_topology", "\"mesh\"", "\"ring\"",
     "g.toml:29: `topology`: is ring, expected shared, all-to-all, mesh, torus or one-way torus"},
    {"other_shape", "shape = [3, 2]", "shape = [3, 3]",
     "g.toml:29: `shape`: is 3 x 3, and the level has 6 instances"},
    {"all_reserved", "reserved_bytes = 100", "reserved_bytes = 1000",
     "g.toml:27: `reserved_bytes`: is 1000, expected less than the 1000 bytes of `capacity_bytes`"},
    {"reserved_of_nothing", "capacity_bytes = 1000\n", "",
     "`reserved_bytes`: is given without `capacity_bytes`"},
    {"ports_are_narrow", "port_bytes_per_cycle = 1.5", "port_bytes_per_cycle = 1",
     "g.toml:20: `port_bytes_per_cycle`: gives a module 6e+09 B/s through 2 ports that carry 4e+09 B/s "
     "together"},
    {"core_twice", "at = [0, 2]", "at = [2, 2]", "g.toml:18: `at`: names 2 twice"},
    {"uneven", "count = 3", "count = 2",
     "g.toml:11: `count`: is 2, and 3 cores cannot be divided among them"},
    {"modules_of_the_innermost", "[[unit]]", "[[level.module]]\ncount = 1\n[[unit]]",
     "`module`: is set, and no level inside has links to its ports"},
    {"unit_without_rate", "operations_per_cycle = 64\n", "",
     "g.toml:31: `operations_per_second`: is missing (or operations_per_cycle)"},
    {"unknown_list", "[[unit]]", "[[units]]", "g.toml:31: `units`: is not a known field"},
    {"half_an_energy", "hbm_byte = 5\n", "", "`hbm_byte`: is missing"},
};

INSTANTIATE_TEST_SUITE_P(Each, BadDescription, ::testing::ValuesIn(kFaults),
                         [](const auto& param) { return std::string(param.param.name); });

TEST(DescriptionText, TheModulesOfALevelAreBoundedTogether) {
    const auto read = [](int64_t second) {
        return parse_description(fmt::format(R"(name = "switch"
[[level]]
name = "chip"
count = 1
[[level.module]]
count = 4095
bytes_per_second = 1
latency_seconds = 0
[[level.module]]
count = {}
bytes_per_second = 1
latency_seconds = 0
[[level]]
name = "core"
count = 2
[[unit]]
name = "vector"
kind = "vector"
operations_per_second = 1
)",
                                             second),
                                 "s.toml");
    };
    EXPECT_EQ(read(1).levels.front().modules.size(), 2u);
    EXPECT_THAT([&] { (void)read(2); },
                ::testing::ThrowsMessage<Error>(
                    HasSubstr("s.toml:10: `count`: makes 4097 modules in all, expected at most 4096")));
}

TEST(DescriptionText, SaysWhatACompilationLacks) {
    for (const char* file : {"machines/clusters/nodes.toml", "machines/chips/small-16.toml"}) {
        try {
            (void)read_machine(fs::path(TESSERA_SOURCE_DIR) / file);
            FAIL() << file;
        } catch (const Error& error) {
            EXPECT_THAT(error.what(), HasSubstr(std::string(file) +
                                                ": `isa`: is missing, so this is no machine that code can be "
                                                "compiled for"));
        }
    }
}

/// Random machines, every part of which may be there.
class RandomDescription {
public:
    explicit RandomDescription(uint64_t seed) : random_(seed) {}

    Description any() {
        Description made{.name = fmt::format("machine {}", below(1000))};
        if (coin()) {
            made.clock_hz = real();
            made.tile_overhead_cycles = coin() ? real() : 0;
        }
        has_clock_ = made.clock_hz.has_value();
        const int64_t levels = 1 + below(4);
        for (int64_t i = 0; i < levels; ++i) made.levels.push_back(level(i));
        for (size_t i = 0; i + 1 < made.levels.size(); ++i)
            if (coin()) made.levels[i].modules.push_back(modules(made.levels[i + 1]));
        const int64_t units = 1 + below(3);
        for (int64_t i = 0; i < units; ++i) made.units.push_back(unit(i));
        if (coin()) made.energy = Energy{real(), real(), real(), real(), real(), 0};
        return made;
    }

    /// Levels that a process sees in part: nothing need divide anything.
    Machine cpu() {
        Machine made = read_machine(fs::path(TESSERA_SOURCE_DIR) / "machines/amx.toml");
        made.cores = 1 + below(12);
        made.memory.clear();
        const int64_t levels = 1 + below(4);
        for (int64_t i = 0; i < levels; ++i)
            made.memory.push_back({.name = fmt::format("L{}", i),
                                   .capacity_bytes = 1 + below(1 << 20),
                                   .shared_by_cores = 1 + below(12)});
        if (coin()) made.memory.back().latency_seconds = 1 / real();
        if (coin()) made.memory.front().read_bandwidth = {{.threads = 2, .bytes_per_second = real()}};
        return made;
    }

private:
    int64_t below(int64_t end) { return std::uniform_int_distribution<int64_t>(0, end - 1)(random_); }
    bool coin() { return below(2) == 0; }
    double real() { return std::exp2(std::uniform_real_distribution<double>(1, 29)(random_)); }
    Clocked clocked() { return has_clock_ && coin() ? Clocked::kCycles : Clocked::kSeconds; }
    Rate rate() { return {real(), clocked()}; }
    Latency latency() {
        const Clocked in = clocked();
        return {in == Clocked::kCycles ? real() : 1 / real(), in};
    }

    Links links(int64_t count) {
        Links made{.topology = static_cast<LinkTopology>(below(5)), .bytes = rate()};
        if (coin()) made.latency = latency();
        if (is_grid(made.topology))
            made.shape = count % 2 == 0 ? std::vector{count / 2, int64_t{2}} : std::vector{count};
        return made;
    }

    Level level(int64_t i) {
        Level made{.name = fmt::format("level {}", i), .count = 1 + below(12)};
        if (coin()) {
            made.capacity_bytes = 1 + below(int64_t{1} << 40);
            made.reserved_bytes = below(*made.capacity_bytes);
        }
        if (coin()) made.bytes = rate();
        if (coin()) made.links = links(made.count);
        return made;
    }

    Modules modules(const Level& inside) {
        Modules made{.bytes = rate(), .latency = latency()};
        made.port_bytes = made.bytes;
        if (!inside.links || !is_grid(inside.links->topology)) {
            made.count = 1 + below(4);
        } else if (inside.links->shape.size() == 2 && coin()) {
            made.edge = std::array{"left", "right", "top", "bottom"}.at(static_cast<size_t>(below(4)));
        } else {
            made.at.resize(static_cast<size_t>(inside.count));
            std::iota(made.at.begin(), made.at.end(), 0);
            std::shuffle(made.at.begin(), made.at.end(), random_);
            made.count = inside.count;
        }
        return made;
    }

    Unit unit(int64_t i) {
        Unit made;
        made.name = fmt::format("unit {}", i);
        made.kind = static_cast<UnitKind>(below(3));
        made.operations = rate();
        if (coin()) made.block = {1 + below(9), 1 + below(9), 1 + below(9)};
        if (coin()) made.special_operations = real();
        return made;
    }

    std::mt19937_64 random_;
    bool has_clock_ = false;
};

TEST(DescriptionText, RandomMachinesSurviveTheRoundTrip) {
    for (uint64_t seed = 0; seed < 500; ++seed) {
        const Description made = RandomDescription(seed).any();
        const std::string text = print_description(made);
        ASSERT_EQ(parse_description(text, "printed"), made) << text;
        ASSERT_EQ(print_description(parse_description(text, "printed")), text);
    }
}

TEST(DescriptionText, RandomCpusSurviveTheRoundTrip) {
    for (uint64_t seed = 0; seed < 500; ++seed) {
        const Machine made = RandomDescription(seed).cpu();
        const std::string text = print_machine(made);
        ASSERT_EQ(parse_machine(text, "printed"), made) << text;
    }
}

}  // namespace
}  // namespace tessera::machine
