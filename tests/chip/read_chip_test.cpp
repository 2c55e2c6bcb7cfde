#include "chip/read_chip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error.h"

namespace tessera::chip {
namespace {

using ::testing::HasSubstr;

constexpr const char* kMesh = R"({"name": "four", "cores": 4, "sram_bytes": 1000, "clock_hz": 1000000000,
  "topology": {"kind": "mesh", "rows": 2, "columns": 2, "link_bytes_per_cycle": 8, "latency": 2},
  "hbm": [{"bytes_per_cycle": 12.5, "port_bytes_per_cycle": 8, "latency": 30, "at": [0, 2]}],
  "compute": {"matrix": 64, "vector": 4}})";

constexpr const char* kProgram = R"({"name": "one", "operators": [{"name": "op",
   "preload": [{"to": [0, 1], "bytes": 10}], "distribute": [{"from": 0, "to": [3], "bytes": 11}],
   "shift": [{"step": 1, "from": 1, "to": [2], "bytes": 12}],
   "compute": [{"step": 2, "core": 3, "unit": "vector", "flops": 13}],
   "reduce": [{"step": 3, "from": 2, "to": [0], "bytes": 14}], "store": [{"from": 0, "to": ["h0"], "bytes": 15}],
   "preload_bytes": [1, 2, 3, 4], "execute_bytes": [5, 6, 7, 8]}],
  "program": [["preload", 0], ["execute", 0]]})";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

std::string chip_error(const std::string& from, const std::string& to) {
    try {
        (void)read_chip(replaced(kMesh, from, to), "c.json");
        return "accepted";
    } catch (const Error& error) {
        return error.what();
    }
}

std::string program_error(const std::string& from, const std::string& to) {
    try {
        (void)read_device_program(replaced(kProgram, from, to), "p.json", read_chip(kMesh, "c.json"));
        return "accepted";
    } catch (const Error& error) {
        return error.what();
    }
}

TEST(ReadChip, ReadsEveryPart) {
    const Chip expected{.name = "four",
                        .cores = 4,
                        .sram_bytes = 1000,
                        .clock_hz = 1e9,
                        .topology = Topology::kMesh,
                        .rows = 2,
                        .columns = 2,
                        .link_bytes_per_cycle = 8,
                        .latency = 2,
                        .hbm = {{12.5, 8, 30, {0, 2}}},
                        .units = {{"matrix", 64}, {"vector", 4}}};
    EXPECT_EQ(read_chip(kMesh, "c.json"), expected);
    EXPECT_EQ(chip_error(R"("at": [0, 2])", R"("at": [3])"), "accepted");
}

TEST(ReadChip, NamesFieldValueAndReason) {
    const auto expect = [](const std::string& from, const std::string& to, const std::string& error) {
        EXPECT_THAT(chip_error(from, to), HasSubstr(error));
    };
    expect("\"cores\": 4", "\"cores\": 0", "`cores`: is 0");
    expect("\"cores\": 4", "\"cores\": 5", "`topology`: has 2 rows of 2 columns, which are not 5 cores");
    expect("\"cores\": 4", "\"cores\": 4.0", "`cores`: is 4.0");
    expect("\"cores\": 4, ", "", "`cores`: is missing");
    expect("\"sram_bytes\": 1000", "\"sram_bytes\": -1", "`sram_bytes`: is -1");
    expect("\"clock_hz\": 1000000000", "\"clock_hz\": 0", "`clock_hz`: is 0, expected a rate above 0");
    expect("\"mesh\"", "\"ring\"",
           "`topology.kind`: is \"ring\", expected \"all-to-all\", \"mesh\", \"torus\" or \"one-way torus\"");
    expect("\"link_bytes_per_cycle\": 8", "\"link_bytes_per_cycle\": 0",
           "`topology.link_bytes_per_cycle`: is 0");
    expect("\"latency\": 2", "\"latency\": -2", "`topology.latency`: is -2");
    expect("\"rows\": 2", "\"rows\": 0", "`topology.rows`: is 0");
    expect("\"bytes_per_cycle\": 12.5", "\"bytes_per_cycle\": \"12\"", "`hbm[0].bytes_per_cycle`: is \"12\"");
    expect("\"port_bytes_per_cycle\": 8", "\"port_bytes_per_cycle\": 0",
           "`hbm[0].port_bytes_per_cycle`: is 0");
    expect("[0, 2]", "[]", "`hbm[0].at`: is [], expected the cores");
    expect("[0, 2]", "[0, 4]", "`hbm[0].at[1]`: is 4, expected a core, 0 to 3");
    expect("[0, 2]", "[2, 2]", "`hbm[0].at[1]`: is 2, which is there twice");
    expect(", \"at\": [0, 2]", "", "`hbm[0].at`: is missing");
    expect("\"matrix\": 64", "\"matrix\": 0", "`compute.matrix`: is 0");
    expect(R"({"matrix": 64, "vector": 4})", "[]", "`compute`: is []");
}

TEST(ReadDeviceProgram, ReadsEveryPart) {
    const DeviceProgram program = read_device_program(kProgram, "p.json", read_chip(kMesh, "c.json"));
    ASSERT_EQ(program.operators.size(), 1u);
    const ProgramOperator& op = program.operators[0];
    EXPECT_EQ(op.of(TransferKind::kPreload), (std::vector<Transfer>{{0, {0, 1}, 10, 0}}));
    EXPECT_EQ(op.of(TransferKind::kDistribute), (std::vector<Transfer>{{0, {3}, 11, 0}}));
    EXPECT_EQ(op.of(TransferKind::kShift), (std::vector<Transfer>{{1, {2}, 12, 1}}));
    EXPECT_EQ(op.of(TransferKind::kReduce), (std::vector<Transfer>{{2, {0}, 14, 3}}));
    EXPECT_EQ(op.of(TransferKind::kStore), (std::vector<Transfer>{{0, {0}, 15, 0}}));
    EXPECT_EQ(op.tiles, (std::vector<Tile>{{2, 3, 1, 13}}));
    EXPECT_EQ(op.preload_bytes, (std::vector<int64_t>{1, 2, 3, 4}));
    EXPECT_EQ(op.execute_bytes, (std::vector<int64_t>{5, 6, 7, 8}));
    EXPECT_EQ(program.entries, (std::vector<ProgramEntry>{{false, 0}, {true, 0}}));
}

TEST(ReadDeviceProgram, NamesFieldValueAndReason) {
    const auto expect = [](const std::string& from, const std::string& to, const std::string& error) {
        EXPECT_THAT(program_error(from, to), HasSubstr(error));
    };
    expect("\"to\": [0, 1]", "\"to\": [0, 4]",
           "`operators[0].preload[0].to[1]`: is 4, expected a core, 0 to 3");
    expect("\"to\": [0, 1]", "\"to\": []", "`operators[0].preload[0].to`: is [], expected at least one core");
    expect("\"to\": [0, 1]", "\"to\": [1, 1]", "`operators[0].preload[0].to[1]`: is 1, which is there twice");
    expect("\"bytes\": 10", "\"bytes\": -1", "`operators[0].preload[0].bytes`: is -1");
    expect("\"to\": [3]", "\"to\": [0]", "`operators[0].distribute[0].to[0]`: is 0, the sender itself");
    expect("\"from\": 0, \"to\": [3]", "\"to\": [3]", "`operators[0].distribute[0].from`: is missing");
    expect("\"step\": 1, ", "", "`operators[0].shift[0].step`: is missing");
    expect("\"step\": 1, ", "\"step\": -1, ", "`operators[0].shift[0].step`: is -1");
    expect("\"vector\"", "\"vektor\"",
           "`operators[0].compute[0].unit`: is \"vektor\", which is no unit of the chip (did you mean "
           "`vector`?)");
    expect("\"core\": 3", "\"core\": 9", "`operators[0].compute[0].core`: is 9");
    expect("\"flops\": 13", "\"flops\": 1.5", "`operators[0].compute[0].flops`: is 1.5");
    expect("[\"h0\"]", "[\"h1\"]",
           "`operators[0].store[0].to[0]`: is \"h1\", expected a controller of the chip, which has 1");
    expect("[\"h0\"]", "[\"h0\", \"h0\"]",
           "`operators[0].store[0].to`: is [\"h0\",\"h0\"], expected one controller");
    expect("[1, 2, 3, 4]", "[1, 2, 3]",
           "`operators[0].preload_bytes`: has 3 sizes, expected one of each of the 4 cores");
    expect("[5, 6, 7, 8]", "[5, 6, 7, -8]", "`operators[0].execute_bytes[3]`: is -8");
    expect("[\"preload\", 0], ", "", "`program`: has no preload of operator 0");
    expect(", [\"execute\", 0]", "", "`program`: has no execute of operator 0");
    expect("[\"preload\", 0]", "[\"load\", 0]",
           "`program[0][0]`: is \"load\", expected \"preload\" or \"execute\"");
    expect("[\"preload\", 0]", "[\"preload\", 1]", "`program[0][1]`: is 1, expected an index");
    expect("[\"preload\", 0]", "[\"preload\"]", "`program[0]`: is [\"preload\"], expected");
    expect("[\"preload\", 0]", "[\"preload\", 0], [\"preload\", 0]",
           "`program[1]`: preloads operator 0 a second time");
    expect("[\"execute\", 0]", "[\"execute\", 0], [\"execute\", 0]",
           "`program[2]`: executes operator 0, expected 1");
}

}  // namespace
}  // namespace tessera::chip
