#include "machine/probe.h"

#include <gtest/gtest.h>
#include <sched.h>

#include "machine/cpu_features.h"
#include "machine/machine_text.h"
#include "machine/tile_permission.h"

namespace tessera::machine {
namespace {

TEST(Probe, HostIsAMachineLikeAnyOther) {
    const Machine machine = probe_host();
    EXPECT_EQ(parse_machine(print_machine(machine), "printed"), machine);
    EXPECT_EQ(machine.memory.back().name, "memory");
    EXPECT_EQ(content_hash(probe_host()), content_hash(machine));
}

TEST(Probe, CodeForTheHostMayRunHere) {
    const Machine machine = probe_host();
    EXPECT_TRUE(missing_features(machine.isa, machine.compiler.flags, host_features()).empty());
}

// On a CPU with AMX in a system that withholds it, no part of AMX may be left.
TEST(Probe, TilesAreThereOnlyIfTheSystemGivesThem) {
    const std::set<std::string> features = host_features();
    if (request_tiles()) {
        EXPECT_TRUE(features.contains("amx_tile"));
        EXPECT_TRUE(request_tiles());
    } else {
        for (const std::string& feature : features) EXPECT_FALSE(feature.starts_with("amx")) << feature;
    }
}

TEST(Probe, FollowsTheAffinityMask) {
    cpu_set_t before;
    ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    int processor = 0;
    while (!CPU_ISSET(processor, &before)) ++processor;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    const int64_t cores = probe_host().cores;
    ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
    EXPECT_EQ(cores, 1);
    EXPECT_GE(probe_host().cores, 1);
}

}  // namespace
}  // namespace tessera::machine
