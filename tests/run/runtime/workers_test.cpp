// The team and its barrier. Also meant for the thread sanitizer:
//
//   c++ -std=c++20 -g -O1 -fsanitize=thread -Isrc tests/run/runtime/workers_test.cpp
//   src/run/runtime/{barrier,workers}.cpp
//       src/machine/{processors,topology,cgroup}.cpp src/support/error.cpp -lgtest -lgtest_main -lfmt -lhwloc
#include "run/runtime/workers.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "machine/processors.h"

namespace tessera::runtime {
namespace {

struct Case {
    int64_t workers;
    int64_t spins;
};

class Team : public ::testing::TestWithParam<Case> {
protected:
    WorkerTeam team{GetParam().workers, {.processors = {}, .spins = GetParam().spins}};
    const size_t workers = static_cast<size_t>(GetParam().workers);
};

TEST_P(Team, RunsATaskOnceOnEveryWorkerAndWaitsForAll) {
    std::vector<int64_t> calls(workers);  // not atomic: a worker that is still at it is a race
    for (int64_t run = 1; run <= 500; ++run) {
        team.run([](void* context,
                    int64_t worker) noexcept { ++(*static_cast<std::vector<int64_t>*>(context))[worker]; },
                 &calls);
        ASSERT_EQ(calls, std::vector<int64_t>(workers, run));
    }
    EXPECT_EQ(team.barriers(), 0);
}

/// Each worker adds up the numbers that all have written before the barrier, so every round depends on every
/// other one.
struct Rounds {
    WorkerTeam& team;
    int64_t count;
    std::vector<uint64_t> values;
    std::vector<uint64_t> sums;
};

void add_up(void* context, int64_t worker) noexcept {
    Rounds& rounds = *static_cast<Rounds*>(context);
    const auto own = static_cast<size_t>(worker);
    for (int64_t round = 0; round < rounds.count; ++round) {
        rounds.values[own] = rounds.sums[own] * 3 + own + 1;
        rounds.team.meet();
        rounds.sums[own] = std::accumulate(rounds.values.begin(), rounds.values.end(), uint64_t{0});
        rounds.team.meet();
    }
}

TEST_P(Team, SeesWhatAllHaveWrittenBeforeTheyMet) {
    Rounds rounds{team, 200, std::vector<uint64_t>(workers), std::vector<uint64_t>(workers)};
    uint64_t expected = 0;
    for (int run = 0; run < 5; ++run) {
        team.run(add_up, &rounds);
        for (int64_t round = 0; round < rounds.count; ++round) {
            uint64_t sum = 0;
            for (size_t w = 0; w < workers; ++w) sum += expected * 3 + w + 1;
            expected = sum;
        }
        ASSERT_EQ(rounds.sums, std::vector<uint64_t>(workers, expected));
    }
    EXPECT_EQ(team.barriers(), 5 * 2 * rounds.count);
}

INSTANTIATE_TEST_SUITE_P(Cases, Team,
                         ::testing::Values(Case{1, 0}, Case{2, 0}, Case{2, 4000}, Case{3, 0}, Case{3, 200},
                                           Case{8, 0}, Case{8, 50}),
                         [](const auto& c) {
                             return std::to_string(c.param.workers) + "_workers_" +
                                    std::to_string(c.param.spins) + "_spins";
                         });

double processor_seconds() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

TEST(WorkerTeamTest, SleepsBetweenRuns) {
    WorkerTeam team(4, {});
    team.run([](void*, int64_t) noexcept {}, nullptr);
    // Processor time, not time: a busy machine makes it less, never more. Three that spin would use 0.9 s.
    const double before = processor_seconds();
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    EXPECT_LT(processor_seconds() - before, 0.1);
}

std::vector<int> mask_of_this_thread() {
    cpu_set_t set;
    CPU_ZERO(&set);
    EXPECT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
    std::vector<int> processors;
    for (int p = 0; p < CPU_SETSIZE; ++p) {
        if (CPU_ISSET(static_cast<size_t>(p), &set)) processors.push_back(p);
    }
    return processors;
}

TEST(WorkerTeamTest, KeepsEveryWorkerOnItsProcessorAndLetsTheCallerGo) {
    const std::vector<int> before = mask_of_this_thread();
    const std::vector<int> processors = machine::worker_processors();
    {
        WorkerTeam team(static_cast<int64_t>(processors.size()), {.processors = processors});
        EXPECT_EQ(mask_of_this_thread(), before) << "only who runs is pinned";
        std::vector<std::vector<int>> masks(processors.size());
        team.run(
            [](void* context, int64_t worker) noexcept {
                (*static_cast<std::vector<std::vector<int>>*>(context))[static_cast<size_t>(worker)] =
                    mask_of_this_thread();
            },
            &masks);
        for (size_t w = 0; w < processors.size(); ++w)
            EXPECT_EQ(masks[w], std::vector<int>{processors[w]}) << "worker " << w;
        EXPECT_EQ(mask_of_this_thread(), before);
    }
}

TEST(WorkerTeamTest, ATeamOfOneLeavesTheNextAllProcessors) {
    const std::vector<int> processors = machine::worker_processors();
    WorkerTeam one(1, {.processors = processors});
    one.run([](void*, int64_t) noexcept {}, nullptr);
    EXPECT_EQ(machine::worker_processors(), processors);
}

TEST(WorkerTeamTest, ProcessorsAreThoseOfTheAffinityMaskEachOnce) {
    const std::vector<int> allowed = mask_of_this_thread();
    std::vector<int> processors = machine::worker_processors();
    ASSERT_FALSE(processors.empty());
    std::sort(processors.begin(), processors.end());
    EXPECT_TRUE(std::includes(allowed.begin(), allowed.end(), processors.begin(), processors.end()));
    EXPECT_EQ(std::adjacent_find(processors.begin(), processors.end()), processors.end());
}

}  // namespace
}  // namespace tessera::runtime
