// The table of micro-kernels as a function of sizes: listed times come back, others follow by hand.

#include "cost/kernel_times.h"

#include <gtest/gtest.h>

#include "cost/measured_machine.h"

namespace tessera {
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

TEST(KernelTimes, CutRowsIntoBlocksAsTheKernelDoes) {
    EXPECT_NEAR(kTimes.of(call(12, 2, 24, 16, 1000))->near_seconds, 12e-6, 1e-11);
    // 13 rows are a block of 12 and one of 1.
    EXPECT_NEAR(kTimes.of(call(12, 2, 13, 16, 1000))->near_seconds, 7e-6, 1e-11);
    // 16 rows are one of 12 and one of 4, 4 rows one block: not 3 and 1.
    const double four = kTimes.of(call(4, 2, 4, 16, 1000))->near_seconds;
    EXPECT_NEAR(kTimes.of(call(12, 2, 4, 16, 1000))->near_seconds, four, 1e-11);
    EXPECT_NEAR(kTimes.of(call(12, 2, 16, 16, 1000))->near_seconds, 6e-6 + four, 1e-11);
}

TEST(KernelTimes, InterpolateBlocksInTheLogarithms) {
    // A block of 1 takes 1 us, one of 12 takes 6: one of sqrt(12) rows would take sqrt(6) us. Of 3 rows, 6 to
    // the power of log 3 / log 12.
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

TEST(KernelTimes, BitsOfFormats) {
    EXPECT_EQ(bits_of_type("bf16"), 16);
    EXPECT_EQ(bits_of_type("q8_0"), 8.5);
    EXPECT_EQ(bits_of_type("q4_k"), 4.5);
}

}  // namespace
}  // namespace tessera
