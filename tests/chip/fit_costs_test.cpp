#include "chip/fit_costs.h"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "machine/description_text.h"
#include "support/error.h"

namespace tessera::chip {
namespace {

using ::testing::HasSubstr;

std::vector<CostSample> transfers(size_t count, double latency, double rate) {
    std::mt19937 random(1);
    std::vector<CostSample> samples;
    for (size_t s = 0; s < count; ++s) {
        const auto bytes = static_cast<double>(64 + random() % 100'000);
        const double noise = 1 + (static_cast<double>(random() % 2001) - 1000) * 1e-5;
        samples.push_back({{bytes}, (latency + bytes / rate) * noise});
    }
    return samples;
}

std::string fault_of(const MeasuredCosts& measured) {
    try {
        fit_costs(measured, "t.csv");
        return {};
    } catch (const Error& error) {
        return error.what();
    }
}

TEST(FitCosts, FindsTheRateAndTheLatencyOfALink) {
    const FittedCosts costs = fit_costs({.tiles = {},
                                         .links = {{MeasuredLink::kCore, transfers(100, 61, 4.15)},
                                                   {MeasuredLink::kHbm, transfers(100, 400, 750)}}},
                                        "t.csv");
    ASSERT_EQ(costs.links.size(), 2u);
    EXPECT_NEAR(costs.links[0].latency, 61, 0.02 * 61);
    EXPECT_NEAR(costs.links[0].bytes_per_cycle, 4.15, 0.02 * 4.15);
    EXPECT_NEAR(costs.links[1].latency, 400, 0.02 * 400);
    EXPECT_NEAR(costs.links[1].bytes_per_cycle, 750, 0.02 * 750);
    EXPECT_LT(costs.links[0].errors.median, 0.01);
}

TEST(FitCosts, SaysWhereATableIsTooSmall) {
    EXPECT_THAT(fault_of({.tiles = {{machine::TileKind::kElementwise,
                                     std::vector<CostSample>(11, CostSample{{1, 2, 3}, 4})}},
                          .links = {}}),
                HasSubstr("t.csv: `operator elementwise`: has 11 measurements, too few for a model of 3 "
                          "inputs: expected at least 12"));
    EXPECT_THAT(fault_of({.tiles = {{machine::TileKind::kElementwise,
                                     std::vector<CostSample>(30, CostSample{{1, 2, 3}, 4})}},
                          .links = {}}),
                HasSubstr("has measurements of one shape only"));
    EXPECT_THAT(
        fault_of({.tiles = {}, .links = {{MeasuredLink::kHbm, transfers(5, 1, 1)}}}),
        HasSubstr("`link hbm`: has 5 measurements, too few for a model of 1 input: expected at least 6"));
    std::vector<CostSample> two_sizes;
    for (int s = 0; s < 20; ++s) two_sizes.push_back({{s % 2 == 0 ? 64.0 : 128.0}, 10});
    EXPECT_THAT(fault_of({.tiles = {}, .links = {{MeasuredLink::kHbm, two_sizes}}}),
                HasSubstr("has measurements of 2 sizes, too few for a rate and a latency"));
    std::vector<CostSample> falling;
    for (int s = 1; s <= 20; ++s) falling.push_back({{100.0 * s}, 100.0 - s});
    EXPECT_THAT(fault_of({.tiles = {}, .links = {{MeasuredLink::kHbm, falling}}}),
                HasSubstr("has times that do not grow with the bytes"));
}

TEST(FitCosts, GoIntoTheChip) {
    machine::Description chip = machine::read_description(TESSERA_SOURCE_DIR "/machines/chips/ipu-hbm.toml");
    FittedCosts costs{
        .tiles = {{.costs = {.kind = machine::TileKind::kProduct,
                             .nodes = {{.input = std::nullopt, .constant = 9, .slopes = {1, 2, 3, 4, 5}}}}}},
        .links = {{.link = MeasuredLink::kCore, .latency = 7, .bytes_per_cycle = 3},
                  {.link = MeasuredLink::kHbm, .latency = 8, .bytes_per_cycle = 500}}};
    const machine::Description fitted = with_costs(chip, costs, "chip.toml");
    ASSERT_EQ(fitted.tile_costs.size(), 1u);
    EXPECT_EQ(fitted.levels.back().links->bytes.per_cycle(*chip.clock_hz), 3);
    EXPECT_EQ(fitted.levels.back().links->latency->cycles(*chip.clock_hz), 7);
    EXPECT_EQ(fitted.levels.front().modules[0].bytes.per_cycle(*chip.clock_hz), 500);
    EXPECT_EQ(fitted.levels.front().modules[0].count, chip.levels.front().modules[0].count);
    EXPECT_EQ(machine::parse_description(machine::print_description(fitted), "again"), fitted);
    // A second fit takes the place of the first.
    costs.tiles[0].costs.nodes[0].constant = 11;
    EXPECT_EQ(with_costs(fitted, costs, "chip.toml").tile_costs, (std::vector{costs.tiles[0].costs}));
    costs.links = {{.link = MeasuredLink::kChip, .latency = 7, .bytes_per_cycle = 3}};
    EXPECT_THROW(with_costs(chip, costs, "chip.toml"), Error);
}

}  // namespace
}  // namespace tessera::chip
