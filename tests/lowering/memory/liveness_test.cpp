#include "lowering/memory/liveness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera::memory {
namespace {

using ::testing::ElementsAre;

/// A graph of which only the names of the values matter here.
Graph graph_of(const std::vector<std::string>& values) {
    Graph graph;
    for (const std::string& name : values) graph.values.push_back({name, ValueKind::kIntermediate, {}, {}});
    return graph;
}

movement::Kernel touching(const std::vector<std::pair<std::string, int64_t>>& buffers) {
    movement::Kernel kernel;
    for (const auto& [name, bytes] : buffers) {
        kernel.buffers.push_back({.name = name,
                                  .value = name,
                                  .memory = movement::MemoryKind::kArena,
                                  .bytes = bytes,
                                  .repetition_stride = {}});
    }
    kernel.buffers.push_back({.name = "w",
                              .value = "w",
                              .memory = movement::MemoryKind::kConstant,
                              .bytes = 1 << 20,
                              .repetition_stride = {}});
    return kernel;
}

TEST(Liveness, FromTheFirstKernelThatTouchesItToTheLast) {
    const movement::Program program{.specialisation = "s",
                                    .blocks = {{"only",
                                                1,
                                                {touching({{"a", 64}}), touching({{"a", 64}, {"b", 32}}),
                                                 touching({{"b", 32}, {"c", 8}})}}}};
    EXPECT_THAT(liveness(graph_of({"a", "b", "c", "unused"}), program),
                ElementsAre(LiveBuffer{"a", 64, 0, 2}, LiveBuffer{"b", 32, 1, 3}, LiveBuffer{"c", 8, 2, 3}));
}

TEST(Liveness, ATileHasTheLargestSizeThatAKernelGivesIt) {
    const movement::Program program{.specialisation = "s",
                                    .blocks = {{"only", 1, {touching({{"a", 64}}), touching({{"a", 96}})}}}};
    EXPECT_THAT(liveness(graph_of({"a"}), program), ElementsAre(LiveBuffer{"a", 96, 0, 2}));
}

/// first: k0            makes carried, outside
/// layer: k1 k2 k3 x 4  k1 reads carried, makes own; k2 reads own and outside; k3 makes carried
/// last:  k4            reads carried
TEST(Liveness, WhatCrossesTheBorderOfARepeatedBlockLivesInAllOfIt) {
    const movement::Program program{
        .specialisation = "s",
        .blocks = {{"first", 1, {touching({{"carried", 64}, {"outside", 64}})}},
                   {"layer",
                    4,
                    {touching({{"carried", 64}, {"own", 64}}), touching({{"own", 64}, {"outside", 64}}),
                     touching({{"carried", 64}})}},
                   {"last", 1, {touching({{"carried", 64}})}}}};
    EXPECT_THAT(
        liveness(graph_of({"carried", "outside", "own"}), program),
        ElementsAre(LiveBuffer{"carried", 64, 0, 5},
                    LiveBuffer{"outside", 64, 0, 4},  // k3 of one repetition comes before k2 of the next
                    LiveBuffer{"own", 64, 1, 3}));
}

TEST(Liveness, ABlockThatRunsOnceIsNoLoop) {
    const movement::Program program{
        .specialisation = "s",
        .blocks = {{"first", 1, {touching({{"a", 64}})}},
                   {"second", 1, {touching({{"a", 64}}), touching({{"b", 64}})}}}};
    EXPECT_THAT(liveness(graph_of({"a", "b"}), program),
                ElementsAre(LiveBuffer{"a", 64, 0, 2}, LiveBuffer{"b", 64, 2, 3}));
}

TEST(Liveness, WhatARepeatedBlockLeavesBehindIsAliveThere) {
    const movement::Program program{.specialisation = "s",
                                    .blocks = {{"layer", 2, {touching({{"x", 64}}), touching({{"out", 64}})}},
                                               {"last", 1, {touching({{"out", 64}})}}}};
    EXPECT_THAT(liveness(graph_of({"x", "out"}), program),
                ElementsAre(LiveBuffer{"x", 64, 0, 1}, LiveBuffer{"out", 64, 0, 3}));
}

}  // namespace
}  // namespace tessera::memory
