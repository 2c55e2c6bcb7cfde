// Measuring with budgets so small that the figures mean nothing: the tests check that all of them exist.

#include "compiler/measure/measure_machine.h"

#include <gtest/gtest.h>

#include "compiler/measure/bandwidth.h"
#include "compiler/measure/pinned_threads.h"
#include "compiler/measure/samples.h"
#include "machine/machine_text.h"
#include "machine/probe.h"
#include "support/temporary_folder.h"

namespace tessera::measure {
namespace {

TEST(MeasureMachine, GivesAValidDescriptionOfTheSameMachine) {
    const TemporaryFolder cache;
    int stages = 0;
    const machine::Machine probed = machine::probe_host();
    const machine::Machine measured =
        measure_machine(probed, {.samples = 1,
                                 .seconds = 1e-6,
                                 .every_type = false,
                                 .memory_bytes = 1 << 20,
                                 .include_directory = TESSERA_SOURCE_DIR "/include",
                                 .cache_directory = cache.path(),
                                 .search_path = "/usr/local/bin:/usr/bin:/bin",
                                 .on_stage = [&](const std::string&) { ++stages; }});
    EXPECT_EQ(stages, 6);
    EXPECT_EQ(machine::parse_machine(machine::print_machine(measured), "printed"), measured);
    EXPECT_EQ(measured.compiler, probed.compiler);
    EXPECT_FALSE(measured.measured_with.empty());
    ASSERT_EQ(measured.memory.size(), probed.memory.size());
    const machine::MemoryLevel& memory = measured.memory.back();
    ASSERT_FALSE(memory.read_bandwidth.empty());
    EXPECT_EQ(memory.read_bandwidth.front().threads, 1);
    EXPECT_EQ(memory.read_bandwidth.back().threads, probed.cores);
    EXPECT_GT(memory.read_bandwidth.front().bytes_per_second, 0);
    EXPECT_GT(memory.latency_seconds, 0);
    EXPECT_EQ(measured.barriers.empty(), probed.cores == 1);
    const machine::ComputeUnit* unit = machine::find_unit(measured, machine::UnitKind::kVector, "f32");
    ASSERT_NE(unit, nullptr);
    for (const char* level : {"registers", "L1", "memory"}) {
        ASSERT_NE(machine::find_peak(*unit, level), nullptr) << level;
        EXPECT_GT(machine::find_peak(*unit, level)->operations_per_second, 0) << level;
    }
    EXPECT_FALSE(measured.micro_kernels.empty());
    for (const machine::MicroKernelTime& time : measured.micro_kernels) {
        EXPECT_GT(time.seconds, 0) << time.name;
        if (time.level != "memory" || time.name != "contract" || time.types.at("B") != "f32") continue;
        const auto bytes = static_cast<double>(4 * time.sizes.at("n") * time.sizes.at("k"));
        EXPECT_LE(bytes / time.seconds, 1.06 * memory.read_bandwidth.front().bytes_per_second);  // two digits
    }
}

TEST(WorkingSet, ComesFromItsLevelAndNoOther) {
    machine::Machine machine;
    machine.memory = {{.name = "L1", .capacity_bytes = 32 << 10},
                      {.name = "L2", .capacity_bytes = 1 << 20},
                      {.name = "L3", .capacity_bytes = 8 << 20, .shared_by_cores = 8},
                      {.name = "memory", .capacity_bytes = int64_t{64} << 30, .shared_by_cores = 8}};
    EXPECT_EQ(working_set(machine, 0, 1, {}), 16 << 10);
    EXPECT_EQ(working_set(machine, 1, 8, {}), 512 << 10);
    EXPECT_EQ(working_set(machine, 2, 1, {}), 4 << 20);
    EXPECT_EQ(working_set(machine, 2, 4, {}), 1 << 20);
    EXPECT_EQ(working_set(machine, 2, 8, {}), 0);  // its share is no more than L2
    EXPECT_EQ(working_set(machine, 3, 8, {}), 256 << 20);
    EXPECT_EQ(working_set(machine, 3, 1, {.memory_bytes = 4096}), 4096);
    machine.memory.back().capacity_bytes = 64 << 20;
    EXPECT_EQ(working_set(machine, 3, 2, {}), 8 << 20);  // memory is for others too
}

/// A server's caches: the last one would have to be read for many seconds.
machine::Machine machine_with_cache(int64_t last_cache_bytes, int64_t cores) {
    machine::Machine machine = machine::probe_host();
    machine.cores = cores;
    machine.memory = {{.name = "L1", .capacity_bytes = 48 << 10},
                      {.name = "L2", .capacity_bytes = 2 << 20},
                      {.name = "L3", .capacity_bytes = last_cache_bytes, .shared_by_cores = cores},
                      {.name = "memory", .capacity_bytes = int64_t{256} << 30, .shared_by_cores = cores}};
    return machine;
}

TEST(WorkingSet, OfAQuickMeasurementIsSmallWhateverTheCachesAre) {
    const MeasureOptions how = quick({});
    const machine::Machine machine = machine_with_cache(int64_t{260} << 20, 64);
    EXPECT_EQ(working_set(machine, 0, 1, how), 24 << 10);
    EXPECT_EQ(working_set(machine, 1, 1, how), 8 * (48 << 10));
    EXPECT_EQ(working_set(machine, 2, 1, how), 16 << 20);
    EXPECT_EQ(working_set(machine, 3, 1, how), 520 << 20);
    EXPECT_EQ(working_set(machine, 3, 4, how), 130 << 20);
    EXPECT_EQ(working_set(machine, 3, 64, how), 16 << 20);
    EXPECT_EQ(working_set(machine, 3, 128, how), 0);  // two gigabytes
    EXPECT_EQ(working_set(machine_with_cache(int64_t{1} << 30, 64), 3, 1, how), 0);
    EXPECT_EQ(working_set(machine_with_cache(8 << 20, 4), 3, 1, how), 256 << 20);
    EXPECT_EQ(bytes_of_call(520 << 20, how), 16 << 20);
    EXPECT_EQ(bytes_of_call(24 << 10, how), 24 << 10);
    EXPECT_EQ(bytes_of_call(520 << 20, {}), 520 << 20);
}

TEST(MeasureMachine, LeavesOutWhatThereIsNoTimeFor) {
    const TemporaryFolder cache;
    machine::Machine machine = machine_with_cache(int64_t{260} << 20, 2);
    machine.memory.back().read_bandwidth = {{.threads = 1, .bytes_per_second = 1e9}};
    MeasureOptions how = quick({.include_directory = TESSERA_SOURCE_DIR "/include",
                                .cache_directory = cache.path(),
                                .search_path = "/usr/local/bin:/usr/bin:/bin"});
    how.seconds_in_all = 1e-9;
    const machine::Machine measured = measure_machine(machine, how);
    EXPECT_FALSE(measured.measured_with.empty());
    EXPECT_TRUE(measured.barriers.empty());
    for (const machine::MemoryLevel& level : measured.memory) {
        EXPECT_TRUE(level.read_bandwidth.empty()) << level.name;
        EXPECT_FALSE(level.latency_seconds.has_value()) << level.name;
    }
    for (const machine::ComputeUnit& unit : measured.units) EXPECT_TRUE(unit.peaks.empty()) << unit.name;
    EXPECT_EQ(machine::parse_machine(machine::print_machine(measured), "printed"), measured);
}

TEST(Samples, EndWhenItIsOver) {
    int left = 0;
    const auto sampled = [&](int budget) {
        left = budget;
        double next = 0;
        const Sample sample = [&] { return --left, ++next; };
        return samples_in_turns({sample, sample}, {.samples = 5, .is_over = [&] { return left == 0; }});
    };
    using Samples = std::vector<std::vector<double>>;
    EXPECT_EQ(sampled(0), (Samples{{}, {}}));
    EXPECT_EQ(sampled(1), (Samples{{1}, {}}));  // the first one counts where there is no other
    EXPECT_EQ(sampled(3), (Samples{{3}, {2}}));
    EXPECT_EQ(sampled(7), (Samples{{3, 5, 7}, {4, 6}}));
    EXPECT_EQ(sampled(100), (Samples{{3, 5, 7, 9, 11}, {4, 6, 8, 10, 12}}));
}

TEST(Samples, LowerQuartileOfEachCase) {
    std::vector<double> first = {0, 5, 3, 1, 2, 4};  // the first one warms up
    std::vector<double> second = {0, 9, 7, 9, 8, 9};
    size_t turn[2] = {0, 0};
    const std::vector<double> quartiles = quartiles_in_turns(
        {[&] { return first[turn[0]++]; }, [&] { return second[turn[1]++]; }}, {.samples = 5});
    EXPECT_EQ(quartiles, (std::vector<double>{2, 8}));
}

TEST(Samples, CallsGrowUntilTheyTakeTheTimeAndStaySo) {
    std::vector<int64_t> counts;
    const Sample sample = repeated(
        [&](int64_t calls) {
            counts.push_back(calls);
            return static_cast<double>(calls) * 0.25;
        },
        10);
    EXPECT_EQ(sample(), 0.25);
    EXPECT_GE(counts.back(), 40);
    EXPECT_LE(counts.back(), 160);
    const std::vector<int64_t> before = counts;
    EXPECT_EQ(sample(), 0.25);
    ASSERT_EQ(counts.size(), before.size() + 1);
    EXPECT_EQ(counts.back(), before.back());
}

TEST(Samples, Digits) {
    EXPECT_EQ(three_digits(1.7449e-5), 1.74e-5);
    EXPECT_EQ(two_digits(3.349e10), 3.3e10);
    EXPECT_EQ(two_digits(1.96e-7), 2.0e-7);
    EXPECT_EQ(two_digits(99.6), 100);
}

TEST(PinnedThreads, CountsDouble) {
    EXPECT_EQ(thread_counts(1), (std::vector<int64_t>{1}));
    EXPECT_EQ(thread_counts(4), (std::vector<int64_t>{1, 2, 4}));
    EXPECT_EQ(thread_counts(6), (std::vector<int64_t>{1, 2, 4, 6}));
}

}  // namespace
}  // namespace tessera::measure
