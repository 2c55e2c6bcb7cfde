#include "cost/evaluate.h"

#include <gtest/gtest.h>

#include "cost/evaluated.h"

namespace tessera::cost {
namespace {

const std::string kChain = R"(graph "chain"
input A: f32[4096, 16]
input B: f32[16, 4096]
input D: f32[4096, 16]
value C: f32[4096, 4096]
value E: f32[4096, 16]

block main
  node first(A, B) -> C
    op matmul(m: 4096, n: 4096, k*: 16)
    in A f32[m, k]
    in B f32[k, n]
    out C f32[m, n] = sum(A * B)
  node second(C, D) -> E
    op matmul(m: 4096, h: 16, n*: 4096)
    in C f32[m, n]
    in D f32[n, h]
    out E f32[m, h] = sum(C * D)

output E
)";

constexpr double kBytesOfC = 4.0 * 4096 * 4096;
const std::string kFirst = "first[contract groups=2 k=k lanes=16 m=m n=n rows=12]",
                  kSecond = "second[contract groups=1 k=n lanes=16 m=m n=h rows=12]";

/// The line is read first, and the store waits for it; reads are hidden behind computing.
TEST(Evaluator, StoresToMemoryTakeTwiceTheirBytesAndAreWaitedFor) {
    Evaluated kernel(kChain);
    const Evaluation written = kernel(kFirst, {false, false}), read = kernel(kSecond, {false, false});
    EXPECT_GE(written.levels[3], 2 * kBytesOfC / 10e9);
    EXPECT_GE(written.stalls, 2 * kBytesOfC / 10e9);
    EXPECT_GE(written.seconds, written.compute + written.stalls);
    EXPECT_GE(read.levels[3], kBytesOfC / 10e9);
    EXPECT_LT(read.levels[3], 1.2 * kBytesOfC / 10e9);
    EXPECT_LT(read.stalls, 0.2 * kBytesOfC / 10e9);
}

TEST(Evaluator, AProductInPartsLoadsAndStoresItsSums) {
    Evaluated kernel(kChain);
    const auto fused = [&](int rows, int columns) {
        return kernel("m:" + std::to_string(rows) + " n:" + std::to_string(columns) + " { " + kFirst + "; " +
                          kSecond + " }",
                      {true, false});
    };
    const Evaluation few = fused(24, 1024), many = fused(24, 32);
    // Each further trip loads and stores E, from L1 at 100 GB/s at best; less is read of D again.
    const double more = 4096.0 / 32 - 4096.0 / 1024;
    EXPECT_GE(many.stalls - few.stalls, 0.95 * more * 2 * 4 * 4096 * 16 / 100e9);
    EXPECT_LT(few.seconds, kernel(kFirst, {false, false}).seconds + kernel(kSecond, {false, false}).seconds);
    EXPECT_EQ(few.buffer_bytes, 4 * 24 * 1024);
}

}  // namespace
}  // namespace tessera::cost
