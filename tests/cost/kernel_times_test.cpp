// The table of micro-kernels as a function of sizes: listed times come back, others follow by hand.

#include "cost/kernel_times.h"

#include <functional>

#include <gtest/gtest.h>

#include "cost/measured_machine.h"

namespace tessera::cost {
namespace {

ProductCall call(int64_t rows, int64_t groups, int64_t m, int64_t n, int64_t k) {
    return {.micro_kernel = "contract",
            .types = {{"A", "f32"}, {"B", "f32"}, {"C", "f32"}},
            .parameters = {{"rows", rows}, {"groups", groups}, {"lanes", 16}},
            .m = m,
            .n = n,
            .k = k};
}

const KernelTimes kTimes(testing::measured_machine());

TEST(KernelTimes, GiveBackWhatIsListed) {
    EXPECT_NEAR(kTimes.of(call(1, 1, 1, 16, 1000))->near_seconds, 1e-6, 1e-12);
    EXPECT_NEAR(kTimes.of(call(12, 2, 12, 16, 1000))->near_seconds, 6e-6, 1e-12);
    // 64,000 bytes take 10 us longer from the main memory.
    EXPECT_NEAR(kTimes.of(call(1, 1, 1, 16, 1000))->stall_per_byte, 10e-6 / 64e3, 1e-15);
}

TEST(KernelTimes, GrowWithColumnsInWholeLanesAndWithDepth) {
    EXPECT_NEAR(kTimes.of(call(1, 1, 1, 160, 1000))->near_seconds, 10e-6, 1e-11);
    EXPECT_NEAR(kTimes.of(call(1, 1, 1, 17, 1000))->near_seconds, 2e-6, 1e-12);
    EXPECT_NEAR(kTimes.of(call(1, 1, 1, 16, 3000))->near_seconds, 3e-6, 1e-12);
}

TEST(KernelTimes, OneColumnTakesTheTimeOfABlockOfColumns) {
    machine::Machine machine = testing::measured_machine();
    machine.micro_kernels = {testing::kernel_time("dot", "f32", "f32",
                                                  {{"rows", 4}, {"columns", 4}, {"lanes", 16}},
                                                  {{"m", 4}, {"n", 64}, {"k", 1024}}, "L2", 16e-6)};
    const KernelTimes times(machine);
    ProductCall product{.micro_kernel = "dot",
                        .types = {{"A", "f32"}, {"B", "f32"}, {"C", "f32"}},
                        .parameters = {{"rows", 4}, {"columns", 4}, {"lanes", 16}},
                        .m = 4,
                        .n = 64,
                        .k = 1024};
    EXPECT_NEAR(times.of(product)->near_seconds, 16e-6, 1e-12);
    product.n = 4;
    EXPECT_NEAR(times.of(product)->near_seconds, 1e-6, 1e-12);
    product.n = 1;
    EXPECT_NEAR(times.of(product)->near_seconds, 1e-6, 1e-12);
}

TEST(KernelTimes, CutRowsIntoBlocksAsTheKernelDoes) {
    EXPECT_NEAR(kTimes.of(call(12, 2, 24, 16, 1000))->near_seconds, 12e-6, 1e-11);
    // 13 rows are a block of 12 and one of 1.
    EXPECT_NEAR(kTimes.of(call(12, 2, 13, 16, 1000))->near_seconds, 7e-6, 1e-11);
    // 16 rows are one of 12 and one of 4, 4 rows one block: not 3 and 1.
    const double four = kTimes.of(call(4, 2, 4, 16, 1000))->near_seconds;
    EXPECT_NEAR(kTimes.of(call(12, 2, 4, 16, 1000))->near_seconds, four, 1e-11);
    EXPECT_NEAR(kTimes.of(call(12, 2, 16, 16, 1000))->near_seconds, 6e-6 + four, 1e-11);
}

TEST(KernelTimes, TheLargestBlockTakesWhatTheOthersLeave) {
    machine::Machine machine = testing::measured_machine();
    const auto entry = [](int64_t rows, int64_t m, double seconds) {
        return testing::kernel_time("dot", "f32", "f32", {{"rows", rows}, {"columns", 4}, {"lanes", 16}},
                                    {{"m", m}, {"n", 64}, {"k", 1024}}, "L2", seconds);
    };
    const auto seconds = [&](int64_t m) {
        return KernelTimes(machine)
            .of({.micro_kernel = "dot",
                 .types = {{"A", "f32"}, {"B", "f32"}, {"C", "f32"}},
                 .parameters = {{"rows", 3}, {"columns", 4}, {"lanes", 16}},
                 .m = m,
                 .n = 64,
                 .k = 1024})
            ->near_seconds;
    };
    // Four rows are a block of three and one of one, whichever is listed first.
    machine.micro_kernels = {entry(3, 4, 10e-6), entry(1, 1, 4e-6)};
    EXPECT_NEAR(seconds(3), 6e-6, 1e-12);
    EXPECT_NEAR(seconds(6), 12e-6, 1e-12);
    // If three rows are known by themselves, that time counts.
    machine.micro_kernels.push_back(entry(3, 3, 5e-6));
    EXPECT_NEAR(seconds(3), 5e-6, 1e-12);
    // With a time of one row alone, three take no less than three times as long.
    machine.micro_kernels = {entry(1, 1, 4e-6)};
    EXPECT_NEAR(seconds(3), 12e-6, 1e-12);
}

TEST(KernelTimes, PanelsCountWhereThereAreBlocksEnoughForThem) {
    machine::Machine machine = testing::measured_machine();
    const std::map<std::string, int64_t> panels = {
        {"rows", 12}, {"groups", 2}, {"lanes", 16}, {"panel_blocks", 4}};
    machine.micro_kernels.push_back(testing::kernel_time("contract", "f32", "f32", panels,
                                                         {{"m", 96}, {"n", 16}, {"k", 1000}}, "L2", 24e-6));
    const KernelTimes times(machine);
    for (const auto& [rows, seconds] : {std::pair{48, 12e-6}, {96, 24e-6}, {36, 18e-6}}) {
        ProductCall product = call(12, 2, rows, 16, 1000);
        product.parameters = panels;
        EXPECT_NEAR(times.of(product)->near_seconds, seconds, 1e-11) << rows;
    }
}

TEST(KernelTimes, CallsOfAboutAsManyRowsTellWhatABlockTakes) {
    machine::Machine machine = testing::measured_machine();
    const std::map<std::string, int64_t> panels = {
        {"rows", 4}, {"groups", 2}, {"lanes", 16}, {"panel_blocks", 4}};
    for (const auto& [rows, seconds] : {std::pair{16, 12e-6}, {160, 80e-6}})
        machine.micro_kernels.push_back(testing::kernel_time(
            "contract", "f32", "f32", panels, {{"m", rows}, {"n", 16}, {"k", 1000}}, "L2", seconds));
    const KernelTimes times(machine);
    for (const auto& [rows, seconds] : {std::pair{16, 12e-6}, {20, 15e-6}, {160, 80e-6}, {480, 240e-6}}) {
        ProductCall product = call(4, 2, rows, 16, 1000);
        product.parameters = panels;
        EXPECT_NEAR(times.of(product)->near_seconds, seconds, 1e-11) << rows;
    }
}

TEST(KernelTimes, FetchingAheadCountsWherePanelsDoNot) {
    machine::Machine machine = testing::measured_machine();
    std::map<std::string, int64_t> parameters = {{"rows", 12}, {"groups", 2}, {"lanes", 16}};
    const auto add = [&](const char* mode, int64_t value, double seconds) {
        std::map<std::string, int64_t> with_mode = parameters;
        with_mode[mode] = value;
        machine.micro_kernels.push_back(testing::kernel_time(
            "contract", "f32", "f32", with_mode, {{"m", 96}, {"n", 16}, {"k", 1000}}, "L2", seconds));
    };
    add("panel_blocks", 4, 24e-6);
    add("prefetch", 2048, 40e-6);
    const KernelTimes times(machine);
    ProductCall product = call(12, 2, 48, 16, 1000);
    product.parameters["panel_blocks"] = 4;
    product.parameters["prefetch"] = 2048;
    EXPECT_NEAR(times.of(product)->near_seconds, 12e-6, 1e-11);
    product.m = 36;
    EXPECT_NEAR(times.of(product)->near_seconds, 15e-6, 1e-11);
}

TEST(KernelTimes, StallsAreThoseOfTheMostSimilarBlocks) {
    machine::Machine machine = testing::measured_machine();
    machine.micro_kernels.clear();
    for (const auto& [rows, far] : {std::pair{2, 3e-6}, {1, 7e-6}})
        for (const auto& [level, seconds] : {std::pair{"L2", 1e-6}, {"memory", far}})
            machine.micro_kernels.push_back(
                testing::kernel_time("contract", "f32", "f32", {{"rows", rows}, {"groups", 2}, {"lanes", 16}},
                                     {{"m", 2}, {"n", 16}, {"k", 1000}}, level, seconds));
    const KernelTimes times(machine);
    EXPECT_NEAR(times.of(call(2, 2, 2, 16, 1000))->stall_per_byte, 2e-6 / 64e3, 1e-15);
    EXPECT_NEAR(times.of(call(1, 2, 2, 16, 1000))->stall_per_byte, 6e-6 / 64e3, 1e-15);
}

TEST(KernelTimes, AStallThatTheDigitsDoNotShowIsNotNothing) {
    machine::Machine machine = testing::measured_machine();
    machine.micro_kernels.clear();
    for (const char* level : {"L2", "memory"})
        machine.micro_kernels.push_back(
            testing::kernel_time("contract", "f32", "f32", {{"rows", 12}, {"groups", 2}, {"lanes", 16}},
                                 {{"m", 144}, {"n", 16}, {"k", 1000}}, level, 1e-3));
    EXPECT_NEAR(KernelTimes(machine).of(call(12, 2, 144, 16, 1000))->stall_per_byte, 5e-6 / 64e3, 1e-15);
}

TEST(KernelTimes, InterpolateBlocksInTheLogarithms) {
    // A block of 1 takes 1 us, one of 12 takes 6: one of sqrt(12) rows would take sqrt(6) us, and one of 3
    // rows 6 to the power of log 3 / log 12.
    EXPECT_NEAR(kTimes.of(call(3, 2, 3, 16, 1000))->near_seconds, 2.208e-6, 1e-9);
}

TEST(KernelTimes, FewerLanesAreAsMuchSlower) {
    ProductCall narrow = call(1, 1, 1, 16, 1000);
    narrow.parameters["lanes"] = 4;
    EXPECT_NEAR(kTimes.of(narrow)->near_seconds, 4e-6, 1e-12);
}

TEST(KernelTimes, NothingStandsInForAnotherMicroKernel) {
    ProductCall other = call(1, 1, 1, 16, 1000);
    other.micro_kernel = "dot";
    EXPECT_FALSE(kTimes.of(other));
}

// On a matrix unit rows are cut into blocks of two tiles, of which the last one may be lower.
class TileTimes : public ::testing::Test {
protected:
    double of(int64_t m, int64_t n = 16, int64_t k = 1024, int64_t rows = 2) const {
        return times_
            .of({.micro_kernel = "contract_tiles",
                 .types = {{"A", "bf16"}, {"B", "bf16"}, {"C", "f32"}},
                 .parameters = {{"rows", rows},
                                {"groups", rows == 1 ? 3 : 2},
                                {"lanes", 16},
                                {"tile_rows", 16},
                                {"depth", 32}},
                 .m = m,
                 .n = n,
                 .k = k})
            ->near_seconds;
    }
    void keep(const std::function<bool(const machine::MicroKernelTime&)>& is_kept) {
        machine::Machine machine = testing::machine_with_tiles();
        std::erase_if(machine.micro_kernels, [&](const auto& time) { return !is_kept(time); });
        times_ = KernelTimes(machine);
    }

private:
    KernelTimes times_{testing::machine_with_tiles()};
};

TEST_F(TileTimes, GiveBackWhatIsListed) {
    EXPECT_NEAR(of(4, 16, 1024, 1), 3e-6, 1e-12);
    EXPECT_NEAR(of(16, 16, 1024, 1), 5e-6, 1e-12);
    EXPECT_NEAR(of(32), 8e-6, 1e-12);
}

TEST_F(TileTimes, ABlockTakesTheTimeOfItsTiles) {
    EXPECT_NEAR(of(288), 9 * 8e-6, 1e-11);
    EXPECT_NEAR(of(48), 8e-6 + 5e-6, 1e-11) << "a block of two and one of one";
    // Two tiles of 4 us in a block, of which one has 4 rows of 16: three fifths of its time.
    EXPECT_NEAR(of(20), 4e-6 + 0.6 * 4e-6, 1e-11);
    EXPECT_NEAR(of(52), 8e-6 + 4e-6 + 0.6 * 4e-6, 1e-11);
}

TEST_F(TileTimes, FewRowsTakeAsLongAsALowTileDoesAndNotByTheirNumber) {
    EXPECT_NEAR(of(5, 16, 1024, 1), 3.2571e-6, 1e-10) << "between 4 and 16 rows, in the logarithms";
    EXPECT_NEAR(of(1, 16, 1024, 1), 3e-6, 1e-12);
    EXPECT_NEAR(of(33), 8e-6 + 3e-6, 1e-11);
}

TEST_F(TileTimes, ColumnsAndDepthCountInWholeTiles) {
    EXPECT_NEAR(of(32, 17), 16e-6, 1e-11);
    EXPECT_NEAR(of(32, 16, 1025), 8e-6 * 1056 / 1024, 1e-12);
}

TEST_F(TileTimes, WhatALowerTileSavesIsNotGuessed) {
    keep([](const machine::MicroKernelTime& time) {
        return time.name == "contract_tiles" && time.sizes.at("m") == 32;
    });
    EXPECT_NEAR(of(5), 4e-6, 1e-12);
    EXPECT_NEAR(of(20), 8e-6, 1e-12);
    keep([](const machine::MicroKernelTime& time) {
        return time.name == "contract_tiles" && time.sizes.at("m") == 4;
    });
    EXPECT_NEAR(of(32), 6e-6, 1e-12);
}

TEST(KernelTimes, BitsOfFormats) {
    EXPECT_EQ(bits_of_type("bf16"), 16);
    EXPECT_EQ(bits_of_type("q8_0"), 8.5);
    EXPECT_EQ(bits_of_type("q4_k"), 4.625);
}

}  // namespace
}  // namespace tessera::cost
