#include "machine/host_memory.h"

#include <gtest/gtest.h>

#include "machine/probe.h"

namespace tessera::machine {
namespace {

TEST(HostMemory, DescriptionsLeaveOutWhatChangesFromStartToStart) {
    constexpr int64_t kGib = int64_t{1} << 30;
    EXPECT_EQ(rounded_memory(16 * kGib), 16 * kGib);
    EXPECT_EQ(rounded_memory(16 * kGib + 300'000'000), 16 * kGib);
    EXPECT_EQ(rounded_memory(31 * kGib + kGib / 2 + 5), 31 * kGib + kGib / 2);
    EXPECT_EQ(rounded_memory(7), 7);
    const int64_t described = probe_host().memory.back().capacity_bytes;
    EXPECT_EQ(rounded_memory(described), described);
    EXPECT_LE(described, host_memory_bytes());
}

}  // namespace
}  // namespace tessera::machine
