#include "distribution/spmd/cluster.h"

#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "machine/description_text.h"
#include "support/error.h"

namespace tessera::spmd {
namespace {

using ::testing::HasSubstr;

constexpr const char* kTwo = R"(name = "pair"
memory_bytes = 1000
[device]
flops_per_second = 1e9
bytes_per_second = 2e9
[[level]]
name = "socket"
count = 2
latency_seconds = 1e-6
bytes_per_second = 4e9
[[level]]
name = "core"
count = 3
latency_seconds = 1e-7
bytes_per_second = 2e9
shares_memory = true
)";

std::string problem_of(const std::string& from, const std::string& to) {
    std::string text = kTwo;
    text.replace(text.find(from), from.size(), to);
    try {
        (void)parse_cluster(text, "c.toml");
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(ClusterFile, HasDevicesLevelsAndMemory) {
    const Cluster cluster = parse_cluster(kTwo, "c.toml");
    EXPECT_EQ(cluster.name, "pair");
    EXPECT_EQ(cluster.memory, 1000);
    EXPECT_EQ(cluster.flops_per_second, 1e9);
    EXPECT_EQ(cluster.placement.devices(), 6);
    EXPECT_EQ(cluster.placement.domains(), 2);
    EXPECT_EQ(cluster.placement.levels[0].seconds_per_byte, 1 / 4e9);
    EXPECT_FALSE(cluster.placement.levels[0].shares_memory);
    EXPECT_TRUE(cluster.placement.levels[1].shares_memory);
    EXPECT_EQ(shape_text(cluster), "2 socket x 3 core");
}

TEST(ClusterFile, IsRefusedWithTheField) {
    EXPECT_THAT(problem_of("count = 2", "count = 1"), HasSubstr("count"));
    EXPECT_THAT(problem_of("1e9\nb", "0\nb"), HasSubstr("flops_per_second"));
    EXPECT_THAT(problem_of("name = \"pair\"", "names = \"pair\""), HasSubstr("name"));
    EXPECT_THAT(problem_of("latency_seconds = 1e-6\n",
                           "latency_seconds = 1e-6\nshares_memory = true\nbytes_per_second = 1e9\n"
                           "[[level]]\nname = \"x\"\ncount = 2\nlatency_seconds = 0\n"),
                HasSubstr("innermost"));
    EXPECT_EQ(problem_of("memory_bytes = 1000\n", ""), "");
}

std::string refusal(const std::string& file) {
    const std::string path = std::string(TESSERA_SOURCE_DIR) + "/machines/" + file;
    try {
        (void)cluster_of(machine::read_description(path), "c.toml");
    } catch (const Error& error) {
        return error.what();
    }
    return "accepted";
}

TEST(ClusterFile, SaysWhatAnotherMachineLacks) {
    EXPECT_EQ(refusal("clusters/nodes.toml"), "accepted");
    EXPECT_EQ(
        refusal("avx512.toml"),
        "c.toml: `level.L2`: has 8 instances and no `links` with a rate and a latency (messages between "
        "devices need both (docs/distribution.md))");
    EXPECT_THAT(refusal("generic-x86-64.toml"), HasSubstr("has 0 levels of several devices"));
    EXPECT_THAT(refusal("chips/small-16.toml"), HasSubstr("`level.chip`: has modules with ports"));
}

TEST(ClusterFile, ReservedBytesHoldNoTensors) {
    machine::Description nodes =
        machine::read_description(std::string(TESSERA_SOURCE_DIR) + "/machines/clusters/nodes.toml");
    nodes.levels.back().reserved_bytes = 1000;
    EXPECT_EQ(cluster_of(nodes, "c.toml").memory, *nodes.levels.back().capacity_bytes - 1000);
}

// A level of devices may have the name that the memory around them all would get.
TEST(ClusterFile, OneMemoryMayLieAroundAllDevices) {
    std::string text = kTwo;
    text.replace(text.find("bytes_per_second = 4e9"), 22, "bytes_per_second = 4e9\nshares_memory = true");
    const Cluster cluster = parse_cluster(text, "c.toml");
    EXPECT_EQ(cluster.memory, 1000);
    EXPECT_EQ(cluster.placement.rank(), 2u);
    EXPECT_EQ(cluster.placement.domains(), 1);
    text.replace(text.find("\"core\""), 6, "\"memory\"");
    EXPECT_EQ(parse_cluster(text, "c.toml").memory, 1000);
}

}  // namespace
}  // namespace tessera::spmd
