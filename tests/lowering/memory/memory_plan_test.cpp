#include "lowering/memory/memory_plan.h"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera::memory {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<LiveBuffer> random_buffers(std::mt19937_64& random) {
    std::vector<LiveBuffer> buffers;
    const auto count = random() % 40;
    const bool is_large = random() % 4 == 0;
    for (uint64_t i = 0; i < count; ++i) {
        const auto first = static_cast<int64_t>(random() % 30);
        const auto length = static_cast<int64_t>(1 + random() % (random() % 5 == 0 ? 20 : 4));
        const auto bytes = static_cast<int64_t>(1 + random() % (is_large ? uint64_t{1} << 33 : 5000));
        buffers.push_back({"b" + std::to_string(i), bytes, first, first + length});
    }
    return buffers;
}

int64_t lines(int64_t bytes) {
    return (bytes + 63) / 64 * 64;
}

/// Kernel by kernel, in the slow and obvious way.
int64_t most_alive(const std::vector<LiveBuffer>& buffers) {
    int64_t most = 0;
    for (int64_t kernel = 0; kernel < 64; ++kernel) {
        int64_t alive = 0;
        for (const LiveBuffer& b : buffers)
            alive += b.first <= kernel && kernel < b.last ? lines(b.bytes) : 0;
        most = std::max(most, alive);
    }
    return most;
}

TEST(MemoryPlan, EveryPlanIsValidAndReportsTheLowerBound) {
    std::mt19937_64 random(1);
    int optimal = 0;
    constexpr int kPlans = 1500;
    for (int i = 0; i < kPlans; ++i) {
        const std::vector<LiveBuffer> buffers = random_buffers(random);
        const MemoryPlan plan = plan_memory(buffers);
        EXPECT_THAT(check(buffers, plan.offsets, plan.peak), IsEmpty());
        EXPECT_EQ(plan.max_live, most_alive(buffers));
        EXPECT_GE(plan.peak, plan.max_live);
        EXPECT_LE(plan.peak, 2 * plan.max_live);  // best fit is far below this on such buffers
        EXPECT_EQ(plan.offsets.size(), buffers.size());
        optimal += plan.peak == plan.max_live;
    }
    EXPECT_GT(optimal, kPlans / 2);
}

TEST(MemoryPlan, TheResultDependsOnTheBuffersAlone) {
    std::mt19937_64 random(2);
    const std::vector<LiveBuffer> buffers = random_buffers(random);
    EXPECT_EQ(plan_memory(buffers).offsets, plan_memory(buffers).offsets);
}

TEST(MemoryPlan, BuffersOfOtherTimesShareTheirPlace) {
    const std::vector<LiveBuffer> chain = {
        {"a", 100, 0, 2}, {"b", 100, 1, 3}, {"c", 100, 2, 4}, {"d", 100, 3, 5}};
    const MemoryPlan plan = plan_memory(chain);
    EXPECT_EQ(plan.peak, 256);
    EXPECT_EQ(plan.max_live, 256);
    EXPECT_EQ(plan.offsets.at("a"), plan.offsets.at("c"));
    EXPECT_EQ(plan.offsets.at("b"), plan.offsets.at("d"));
}

TEST(MemoryPlan, NothingNeedsNothing) {
    const MemoryPlan plan = plan_memory({});
    EXPECT_EQ(plan.peak, 0);
    EXPECT_EQ(plan.max_live, 0);
}

TEST(MemoryPlan, AMistakeInAPlanIsFound) {
    std::mt19937_64 random(3);
    int planted = 0;
    for (int i = 0; i < 400; ++i) {
        const std::vector<LiveBuffer> buffers = random_buffers(random);
        if (buffers.size() < 2) continue;
        const MemoryPlan plan = plan_memory(buffers);
        const LiveBuffer& moved = buffers[random() % buffers.size()];
        for (const LiveBuffer& other : buffers) {
            if (&other == &moved || other.first >= moved.last || moved.first >= other.last) continue;
            // Its first line overlaps the last one of the other.
            std::map<std::string, int64_t> offsets = plan.offsets;
            offsets[moved.value] = offsets.at(other.value) + lines(other.bytes) - 64;
            EXPECT_FALSE(check(buffers, offsets, plan.peak + moved.bytes).empty());
            ++planted;
        }
    }
    EXPECT_GT(planted, 500);
}

TEST(MemoryPlan, WhatIsWrongIsSaidInASentence) {
    const std::vector<LiveBuffer> buffers = {{"a", 100, 0, 2}, {"b", 60, 1, 3}};
    EXPECT_THAT(check(buffers, {{"a", 0}, {"b", 128}}, 188), IsEmpty());
    EXPECT_THAT(check(buffers, {{"a", 0}, {"b", 64}}, 256),
                ElementsAre("a and b overlap while both are alive"));
    EXPECT_THAT(check(buffers, {{"a", 0}}, 256), ElementsAre("b has no offset"));
    EXPECT_THAT(check(buffers, {{"a", 0}, {"b", 128}}, 187),
                ElementsAre("b at 128 with 60 bytes does not lie on a line inside the arena of 187 bytes"));
    EXPECT_THAT(check(buffers, {{"a", 0}, {"b", 100}}, 256),
                ElementsAre("b at 100 with 60 bytes does not lie on a line inside the arena of 256 bytes"));
    EXPECT_THAT(check(buffers, {{"a", -64}, {"b", 128}}, 256),
                ElementsAre("a at -64 with 100 bytes does not lie on a line inside the arena of 256 bytes"));
    EXPECT_EQ(check(buffers, {{"a", INT64_MAX - 63}, {"b", INT64_MAX - 63}}, 256).size(),
              3U);  // no sum overflows
}

}  // namespace
}  // namespace tessera::memory
