#include "chip/read_chip_toml.h"

#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chip/read_chip.h"
#include "machine/description_text.h"
#include "support/error.h"

namespace tessera::chip {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kGrid = R"(name = "grid"
cores = 6
clock_hz = 2e9
tile_overhead_cycles = 5
[sram]
bytes = 1000
reserved_bytes = 100
port_bytes_per_cycle = 16
[matrix]
flops_per_cycle = 64
block = [2, 4, 8]
[vector]
flops_per_cycle = 8
special_flops = 3
[network]
topology = "mesh"
shape = [3, 2]
link_bytes_per_second = 4e9
latency_cycles = 7
[[hbm]]
modules = 3
edge = "right"
bytes_per_second = 4e9
latency_cycles = 30
[[hbm]]
at = [0, 2]
bytes_per_second = 6e9
port_bytes_per_second = 3e9
latency_cycles = 40
[pod]
chips = 2
bytes_per_second = 1e9
latency_cycles = 500
[energy]
matrix_flop = 1
vector_flop = 2
sram_byte = 3
link_byte = 4
hbm_byte = 5
chip_byte = 6
)";

constexpr const char* kSwitch = R"(name = "switch"
cores = 4
clock_hz = 1e9
[sram]
bytes = 1000
port_bytes_per_cycle = 16
[vector]
flops_per_cycle = 8
special_flops = 3
[network]
topology = "all-to-all"
link_bytes_per_second = 4e9
latency_cycles = 7
[[hbm]]
bytes_per_second = 4e9
latency_cycles = 30
)";

std::string error_of(const std::string& text) {
    try {
        (void)parse_chip_description(text, "c.toml");
        return "accepted";
    } catch (const Error& error) {
        return error.what();
    }
}

TEST(ReadChipToml, ReadsEveryPart) {
    const ChipDescription found = parse_chip_description(kGrid, "c.toml");
    EXPECT_EQ(found.chip.name, "grid");
    EXPECT_EQ(found.chip.cores, 6);
    EXPECT_EQ(found.chip.sram_bytes, 900);
    EXPECT_EQ(found.reserved_bytes, 100);
    EXPECT_EQ(found.port_bytes_per_cycle, 16);
    EXPECT_EQ(found.tile_overhead, 5);
    EXPECT_EQ(found.matrix, (MatrixUnit{64, {2, 4, 8}}));
    EXPECT_EQ(found.vector, (VectorUnit{8, 3}));
    EXPECT_EQ(found.chip.topology, Topology::kMesh);
    EXPECT_EQ(found.chip.rows, 3);
    EXPECT_EQ(found.chip.columns, 2);
    EXPECT_THAT(found.shape, ElementsAre(3, 2));
    EXPECT_EQ(found.chip.link_bytes_per_cycle, 2);
    EXPECT_EQ(found.chip.latency, 7);
    ASSERT_EQ(found.chip.hbm.size(), 4u);
    EXPECT_EQ(found.chip.hbm[0], (HbmController{2, 2, 30, {1}}));
    EXPECT_EQ(found.chip.hbm[2], (HbmController{2, 2, 30, {5}}));
    EXPECT_EQ(found.chip.hbm[3], (HbmController{3, 1.5, 40, {0, 2}}));
    EXPECT_EQ(found.hbm_bytes_per_cycle(), 9);
    EXPECT_EQ(found.hbm_port_bytes_per_cycle(), 9);
    EXPECT_EQ(found.pod, (Pod{2, 0.5, 500}));
    EXPECT_EQ(found.energy, (Energy{1, 2, 3, 4, 5, 6}));
    EXPECT_THAT(found.chip.units, ElementsAre(ComputeUnit{"matrix", 64}, ComputeUnit{"vector", 8}));
}

TEST(ReadChipToml, LeavesOutWhatAChipDoesNotHave) {
    const ChipDescription found = parse_chip_description(kSwitch, "c.toml");
    EXPECT_FALSE(found.matrix);
    EXPECT_FALSE(found.energy);
    EXPECT_EQ(found.pod, Pod{});
    EXPECT_EQ(found.reserved_bytes, 0);
    EXPECT_EQ(found.chip.hbm[0], (HbmController{4, 4, 30, {}}));
    EXPECT_THAT(found.chip.units, ElementsAre(ComputeUnit{"vector", 8}));
}

TEST(ReadChipToml, TheSimulatorReadsTheSameChip) {
    for (const char* text : {kGrid, kSwitch}) {
        const ChipDescription found = parse_chip_description(text, "c.toml");
        Chip chip = read_chip(chip_json(found.chip), "c.json");
        EXPECT_EQ(chip, found.chip);
    }
    std::string text = kSwitch;
    text.replace(text.find("\"all-to-all\""), 12, "\"torus\"\nshape = [2, 1, 2]");
    text.replace(text.find("[[hbm]]"), 7, "[[hbm]]\nat = [0]");
    const machine::Description cube = machine::parse_description(text, "c.toml");
    EXPECT_EQ(chip_description(cube, "c.toml").shape.size(), 3u);
    EXPECT_THROW((void)simulated_chip(cube, "c.toml"), Error);
}

struct Fault {
    const char* name;
    const char* from;
    const char* to;
    const char* message;  ///< with the line
};

class BadChip : public ::testing::TestWithParam<Fault> {};

TEST_P(BadChip, IsRefusedByName) {
    std::string text = kGrid;
    const size_t at = text.find(GetParam().from);
    ASSERT_NE(at, std::string::npos);
    text.replace(at, std::string(GetParam().from).size(), GetParam().to);
    EXPECT_THAT(error_of(text), HasSubstr(GetParam().message));
}

const Fault kFaults[] = {
    {"no_cores", "cores = 6\n", "", "`cores`: is missing"},
    {"zero_cores", "cores = 6", "cores = 0", "c.toml:2: `cores`: is 0, expected 1 to 65536"},
    {"half_a_core", "cores = 6", "cores = 1.5", "c.toml:2: `cores`: is floating-point, expected integer"},
    {"other_cores", "cores = 6", "cores = 7", "c.toml:17: `shape`: is 3 x 2, and the level has 7 instances"},
    {"no_name", "name = \"grid\"", "name = \"\"", "c.toml:1: `name`: is empty"},
    {"clock_stands", "clock_hz = 2e9", "clock_hz = 0", "c.toml:3: `clock_hz`: is 0, expected 1 to"},
    {"clock_is_no_number", "clock_hz = 2e9", "clock_hz = nan", "c.toml:3: `clock_hz`: is nan, expected 1 to"},
    {"overhead_gains", "tile_overhead_cycles = 5", "tile_overhead_cycles = -5",
     "c.toml:4: `tile_overhead_cycles`: is -5, expected 0 to"},
    {"no_sram", "bytes = 1000", "bytes = 0", "c.toml:6: `bytes`: is 0, expected 1 to"},
    {"all_reserved", "reserved_bytes = 100", "reserved_bytes = 1000",
     "c.toml:7: `reserved_bytes`: is 1000, expected less than the 1000 bytes that a core has"},
    {"port_is_missing", "port_bytes_per_cycle = 16\n", "",
     "`port_bytes_per_second`: is missing (or port_bytes_per_cycle)"},
    {"unknown_in_sram", "port_bytes_per_cycle = 16", "port_bytes_per_cycle = 16\nports = 2",
     "c.toml:9: `ports`: is not a known field"},
    {"sram_is_a_number", "[sram]", "sram = 5\n[other]", "c.toml:5: `sram`: is integer, expected table"},
    {"block_of_two", "block = [2, 4, 8]", "block = [2, 4]",
     "c.toml:11: `block`: has 2 numbers, expected three: rows, columns and summed elements"},
    {"block_of_nothing", "block = [2, 4, 8]", "block = [2, 0, 8]",
     "c.toml:11: `block`: holds 0, expected 1 to 65536"},
    {"block_of_texts", "block = [2, 4, 8]", "block = [\"2\", 4, 8]",
     "c.toml:11: `block`: holds string, expected integers"},
    {"slow_matrix", "flops_per_cycle = 64", "flops_per_cycle = 4",
     "`unit.matrix`: does 4 flops a cycle, fewer than the 8 of the vector unit"},
    {"no_vector", "[vector]\nflops_per_cycle = 8\nspecial_flops = 3\n", "", "`vector`: is missing"},
    {"free_specials", "special_flops = 3", "special_flops = 0.5",
     "c.toml:14: `special_flops`: is 0.5, expected 1 to"},
    {"unknown_topology", "\"mesh\"", "\"ring\"",
     "c.toml:16: `topology`: is ring, expected shared, all-to-all, mesh, torus or one-way torus"},
    {"switch_with_shape", "\"mesh\"", "\"all-to-all\"",
     "c.toml:17: `shape`: is set, and a network that is all-to-all has none"},
    {"no_shape", "shape = [3, 2]\n", "", "`shape`: is missing"},
    {"no_axes", "shape = [3, 2]", "shape = []", "c.toml:17: `shape`: has 0 axes, expected 1 to 8"},
    {"huge_shape", "shape = [3, 2]", "shape = [65536, 65536, 65536, 65536, 65536]",
     "and the level has 6 instances"},
    {"link_is_cut", "link_bytes_per_second = 4e9", "link_bytes_per_second = 0",
     "c.toml:18: `link_bytes_per_second`: is 0, expected 1 to"},
    {"link_is_infinite", "link_bytes_per_second = 4e9", "link_bytes_per_second = inf",
     "c.toml:18: `link_bytes_per_second`: is inf, expected 1 to"},
    {"early_link", "latency_cycles = 7", "latency_cycles = -1",
     "c.toml:19: `latency_cycles`: is -1, expected 0 to"},
    {"no_modules", "modules = 3", "modules = 0", "c.toml:21: `modules`: is 0, expected 1 to 4096"},
    {"uneven_modules", "modules = 3", "modules = 2",
     "c.toml:21: `modules`: is 2, and 3 cores cannot be divided among them"},
    {"unknown_edge", "edge = \"right\"", "edge = \"north\"",
     "c.toml:22: `edge`: is north, expected left, right, top or bottom"},
    {"edge_of_a_cube", "shape = [3, 2]", "shape = [3, 2, 1]",
     "`edge`: is set, and a grid of 3 axes has no such edge"},
    {"edge_and_cores", "edge = \"right\"", "edge = \"right\"\nat = [1]",
     "c.toml:23: `at`: is set, and so is `edge`"},
    {"core_beyond", "at = [0, 2]", "at = [0, 6]", "c.toml:26: `at`: holds 6, expected 0 to 5"},
    {"core_twice", "at = [0, 2]", "at = [2, 2]", "c.toml:26: `at`: names 2 twice"},
    {"nowhere", "at = [0, 2]", "at = []", "c.toml:26: `at`: is [], expected the instances"},
    {"narrow_ports", "port_bytes_per_second = 3e9", "port_bytes_per_second = 2e9",
     "c.toml:28: `port_bytes_per_second`: gives a module 6e+09 B/s through 2 ports that carry 4e+09 B/s "
     "together"},
    {"slow_links_at_ports", "link_bytes_per_second = 4e9", "link_bytes_per_second = 2e9",
     "c.toml:23: `bytes_per_second`: gives a module 4e+09 B/s through 1 ports that carry 2e+09 B/s together"},
    {"a_list_of_one_table", "[[hbm]]\nmodules", "[hbm]\nmodules", "c.toml:25"},
    {"one_chip_with_rate", "chips = 2", "chips = 1",
     "c.toml:32: `bytes_per_second`: is set, and one chip has no other to talk to"},
    {"silent_pod", "bytes_per_second = 1e9\n", "", "`bytes_per_second`: is missing"},
    {"half_an_energy", "hbm_byte = 5\n", "", "`hbm_byte`: is missing"},
    {"energy_is_gained", "hbm_byte = 5", "hbm_byte = -5", "c.toml:39: `hbm_byte`: is -5, expected 0 to"},
    {"unknown_table", "[energy]", "[cost]", "`cost`: is not a known field"},
    {"no_toml", "[energy]", "[energy", "c.toml:34"},
};

INSTANTIATE_TEST_SUITE_P(Each, BadChip, ::testing::ValuesIn(kFaults),
                         [](const auto& param) { return std::string(param.param.name); });

TEST(ReadChipToml, AnAllToAllNetworkHasNoPlaces) {
    std::string text = kSwitch;
    text.replace(text.find("[[hbm]]"), 7, "[[hbm]]\nat = [0]");
    EXPECT_THAT(error_of(text), HasSubstr("`at`: is set, and every core is as near where there is no grid"));
}

TEST(ReadChipToml, ReadsTheChipsThatShip) {
    const fs::path folder = fs::path(TESSERA_SOURCE_DIR) / "machines" / "chips";
    size_t count = 0;
    for (const auto& entry : fs::directory_iterator(folder)) {
        const ChipDescription found = read_chip_description(entry.path());
        EXPECT_EQ(found.chip.name, entry.path().stem().string());
        EXPECT_EQ(read_chip(chip_json(found.chip), "c.json"), found.chip);
        ++count;
    }
    EXPECT_GE(count, 3u);
    const ChipDescription pod = read_chip_description(folder / "ipu-pod4-hbm.toml");
    const double chips = static_cast<double>(pod.pod.chips), clock = pod.chip.clock_hz;
    // Paper 003, 6.1 and 6.3.
    EXPECT_NEAR(pod.hbm_bytes_per_cycle() * clock * chips, 16e12, 1);
    EXPECT_NEAR(pod.matrix->flops_per_cycle * clock * 1472 * chips, 1000e12, 2e12);
    EXPECT_NEAR(pod.vector.flops_per_cycle * clock * 1472 * chips, 31.2e12, 0.1e12);
    EXPECT_NEAR(pod.pod.bytes_per_cycle * clock * chips, 640e9, 1);
}

TEST(ReadChipToml, SaysWhatAnotherMachineLacks) {
    const fs::path machines = fs::path(TESSERA_SOURCE_DIR) / "machines";
    const auto refusal = [&](const char* file) {
        try {
            (void)read_chip_description(machines / file);
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string("accepted");
    };
    EXPECT_THAT(refusal("avx2.toml"), HasSubstr("avx2.toml: `clock_hz`: is missing, so this is no chip"));
    EXPECT_THAT(refusal("clusters/nodes.toml"), HasSubstr("`clock_hz`: is missing"));
    std::string text = kSwitch;
    text.replace(text.find("\"all-to-all\""), 12, "\"one-way torus\"\nshape = [2, 2]");
    text.replace(text.find("[[hbm]]"), 7, "[[hbm]]\nat = [0]");
    EXPECT_THAT(error_of(text), HasSubstr("is one-way torus, for which nothing is planned"));
    EXPECT_EQ(simulated_chip(machine::parse_description(text, "c.toml"), "c.toml").topology,
              Topology::kOneWayTorus);
}

// Device programs name units by their kinds, whatever the description calls them.
TEST(ReadChipToml, UnitsAreNamedByTheirKinds) {
    const fs::path file = fs::path(TESSERA_SOURCE_DIR) / "machines/chips/small-16.toml";
    machine::Description described = machine::read_description(file);
    const Chip named = simulated_chip(described, "c.toml");
    EXPECT_EQ(chip_description(described, "c.toml").chip, named);
    for (machine::Unit& unit : described.units) unit.name += " of another name";
    EXPECT_EQ(simulated_chip(described, "c.toml"), named);
    EXPECT_EQ(chip_description(described, "c.toml").chip, named);
}

TEST(ReadChipToml, NamesAFileThatCannotBeRead) {
    try {
        (void)read_chip_description("/nowhere/chip.toml");
        FAIL();
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("/nowhere/chip.toml: cannot read the chip file"));
    }
}

}  // namespace
}  // namespace tessera::chip
