#include "machine/tile_costs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "machine/description_text.h"
#include "support/error.h"

namespace tessera::machine {
namespace {

using ::testing::HasSubstr;

constexpr const char* kChip = R"(name = "two"
clock_hz = 1e9
[[level]]
name = "chip"
count = 1
[[level.module]]
count = 1
bytes_per_second = 1e9
latency_cycles = 1
[[level]]
name = "core"
count = 2
capacity_bytes = 1000
bytes_per_cycle = 16
links = { topology = "all-to-all", bytes_per_second = 1e9, latency_cycles = 1 }
[[unit]]
name = "vector"
kind = "vector"
operations_per_cycle = 4
special_operations = 8
)";

constexpr const char* kTree = R"(
[[tile_cost]]
operator = "elementwise"
[[tile_cost.node]]
input = "iterations"
below = 100
[[tile_cost.node]]
constant = 5
operations = 0.5
[[tile_cost.node]]
input = "special"
below = 10
[[tile_cost.node]]
constant = 7
[[tile_cost.node]]
constant = -9
iterations = 0.125
special = 2
)";

TEST(TileCosts, DecideByInputs) {
    const Description chip = parse_description(std::string(kChip) + kTree, "f");
    ASSERT_EQ(chip.tile_costs.size(), 1u);
    const TileCosts& costs = chip.tile_costs[0];
    EXPECT_EQ(costs.kind, TileKind::kElementwise);
    EXPECT_EQ(costs.cycles(std::vector<double>{99, 10, 50}), 10);
    EXPECT_EQ(costs.cycles(std::vector<double>{100, 10, 9}), 7);
    EXPECT_EQ(costs.cycles(std::vector<double>{100, 10, 10}), -9 + 12.5 + 20);
    // Never less than a cycle.
    EXPECT_EQ(costs.cycles(std::vector<double>{0, -100, 0}), 1);
}

TEST(TileCosts, ArePrintedAsTheyAreRead) {
    const Description chip = parse_description(std::string(kChip) + kTree, "f");
    EXPECT_EQ(parse_description(print_description(chip), "again"), chip);
    EXPECT_THAT(description_json(chip), HasSubstr("\"tile_cost\""));
}

TEST(TileCosts, WrongTreesAreRefused) {
    struct Wrong {
        const char* from;
        const char* to;
        const char* message;
    };
    const Wrong wrong[] = {
        {"operator = \"elementwise\"", "operator = \"matmul\"",
         "`operator`: is matmul, expected product, attention, reduction or elementwise"},
        {"operator = \"elementwise\"", "", "`operator`: is missing"},
        {"input = \"special\"", "input = \"m\"",
         "`input`: is m, expected one of iterations, operations, special"},
        {"below = 100", "", "`below`: is missing"},
        {"below = 100", "below = inf", "`below`: is inf"},
        {"below = 100", "below = 100\nconstant = 1", "`constant`: is not a known field"},
        {"constant = 5", "constant = \"five\"", "`constant`: is string, expected a number"},
        {"constant = 5", "", "`constant`: is missing"},
        {"operations = 0.5", "volume = 0.5", "`volume`: is not a known field"},
        {"operations = 0.5", "operations = nan", "`operations`: is nan"},
        {"[[tile_cost.node]]\nconstant = 7\n", "", "`node`: ends before every decision has two nodes"},
        {"special = 2", "special = 2\n[[tile_cost.node]]\nconstant = 1", "`node`: is one too many"},
        {"special = 2",
         "special = 2\n[[tile_cost]]\noperator = \"elementwise\"\n[[tile_cost.node]]\nconstant = 1",
         "`operator`: is elementwise a second time"},
        {"special = 2", "special = 2\n[[tile_cost]]\noperator = \"product\"", "`node`: is missing"},
    };
    for (const Wrong& each : wrong) {
        std::string text = std::string(kChip) + kTree;
        const size_t at = text.find(each.from);
        ASSERT_NE(at, std::string::npos) << each.from;
        text.replace(at, std::string(each.from).size(), each.to);
        try {
            parse_description(text, "f.toml");
            ADD_FAILURE() << each.to;
        } catch (const Error& error) {
            EXPECT_THAT(error.what(), HasSubstr("f.toml:"));
            EXPECT_THAT(error.what(), HasSubstr(each.message));
        }
    }
}

}  // namespace
}  // namespace tessera::machine
