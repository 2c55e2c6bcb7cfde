#include "machine/doubtful_levels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera::machine {
namespace {

Machine with_latencies(double l2, double l3, double memory) {
    Machine machine;
    machine.memory = {{.name = "L2", .capacity_bytes = 1 << 20, .latency_seconds = l2},
                      {.name = "L3", .capacity_bytes = 32 << 20, .latency_seconds = l3},
                      {.name = "memory", .capacity_bytes = int64_t{1} << 34, .latency_seconds = memory}};
    return machine;
}

TEST(DoubtfulLevels, AreThoseThatTheNextOneIsNotSlowerThan) {
    EXPECT_TRUE(doubtful_levels(with_latencies(5e-9, 20e-9, 100e-9)).empty());
    EXPECT_THAT(doubtful_levels(with_latencies(5e-9, 90e-9, 100e-9)),
                ::testing::ElementsAre(
                    ::testing::StartsWith("L3: the system says 33554432 bytes, but loads from "
                                          "half of it take 90.0 ns, and those of memory 100.0 ns")));
}

TEST(DoubtfulLevels, NothingIsSaidOfWhatWasNotMeasured) {
    Machine machine = with_latencies(5e-9, 90e-9, 100e-9);
    machine.memory[1].latency_seconds.reset();
    EXPECT_TRUE(doubtful_levels(machine).empty());
}

}  // namespace
}  // namespace tessera::machine
