#include "compiler/bench/host_probe.h"

#include <cmath>

#include <gtest/gtest.h>

#include "compiler/bench/peak_loop.h"

namespace tessera::benchmark {
namespace {

TEST(PeakLoop, SumsTendToOne) {
    const PeakLoop loop = peak_loop();
    EXPECT_GT(loop.multiply_adds_of_a_round, 0);
    const float few = loop.run(0), many = loop.run(20000);
    EXPECT_GT(few, many) << "they begin at 0, 1, 2, ...";
    // All sums have come to one: there are a whole number of them.
    EXPECT_NEAR(many, std::round(many), 1e-2);
    EXPECT_EQ(loop.run(20000), many);
}

TEST(HostProbe, MeasuresAgainAndAgain) {
    for (const int64_t workers : {1, 2}) {
        HostProbe probe(workers);
        EXPECT_EQ(probe.workers(), workers);
        for (int i = 0; i < 2; ++i) {
            const HostLimits limits = probe.measure();
            EXPECT_GT(limits.bytes_per_second, 0);
            EXPECT_GT(limits.multiply_adds_per_second, 0);
        }
    }
}

}  // namespace
}  // namespace tessera::benchmark
