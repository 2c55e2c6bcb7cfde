#include "cost/evaluate.h"

#include <fmt/format.h>
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

/// y: B lies along k.
std::string product(int m, int n, int k) {
    return fmt::format(R"(graph "product"
input A: f32[{0}, {2}]
input B: f32[{1}, {2}]
value Y: f32[{0}, {1}]

block main
  node y(A, B) -> Y
    op matmul(m: {0}, n: {1}, k*: {2})
    in A f32[m, k]
    in B f32[n, k]
    out Y f32[m, n] = sum(A * B)

output Y
)",
                       m, n, k);
}

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

/// By the units of a machine alone: B of several rows is read while the first block of rows computes, if its
/// lines were asked for early enough, and before it if they were not.
TEST(Evaluator, ProductsOfSeveralRowsWaitForWhatIsNotFetchedAhead) {
    machine::Machine machine = tessera::testing::measured_machine();
    machine.micro_kernels.clear();
    machine.memory.back().latency_seconds = 1e-7;
    Evaluated kernel(product(16, 2048, 2048), {}, machine);
    const auto stalls = [&](const std::string& parameters) {
        return kernel("y[contract k=k lanes=16 m=m n=n " + parameters + "]", {false}).stalls;
    };
    const double reading = 4.0 * 2048 * 2048 / 10e9, computing = 2.0 * 16 * 2048 * 2048 / 100e9;
    EXPECT_GE(stalls("groups=1 rows=16"), 0.99 * reading);
    EXPECT_LE(stalls("groups=1 rows=16 prefetch=16384"), reading - 0.9 * computing + 1e-6);
    EXPECT_GE(stalls("groups=1 rows=8 prefetch=16384"),
              stalls("groups=1 rows=16 prefetch=16384") + 0.4 * computing);
}

/// A loop over k cuts the rows of B, a loop over n leaves them side by side.
TEST(Evaluator, ProductsOfOneRowWaitForPiecesThatLieApart) {
    machine::Machine machine = tessera::testing::measured_machine();
    machine.memory.back().latency_seconds = 1e-7;
    Evaluated kernel(product(1, 4096, 1024), {}, machine);
    const auto seconds = [&](const std::string& loops) {
        return kernel(loops + " { y[contract groups=1 k=k lanes=16 m=m n=n rows=1] }", {false}).seconds;
    };
    const double reading = 4.0 * 4096 * 1024 / 10e9;
    EXPECT_GE(seconds("k:128"), seconds("n:512") + 1.5 * reading);
    EXPECT_GE(seconds("n:512 k:128"), seconds("n:512") + 1.5 * reading);
    EXPECT_LE(seconds("n:512"), 1.1 * seconds("n:4096"));
}

/// Rows of an image lie side by side along its width, and each on a line of its own along its height.
TEST(Evaluator, RowsOnLinesOfTheirOwnAreReadFromTheSecondCache) {
    Evaluated kernel(R"(graph "convolution"
input X: f32[64, 58, 58]
input W: f32[64, 3, 3, 64]
value Y: f32[56, 56, 64]

block main
  node y(X, W) -> Y
    op convolution(o: 56, p: 56, n: 64, c*: 64, r*: 3, s*: 3)
    in X f32[c, o + r, p + s] of [64, 58, 58]
    in W f32[c, r, s, n]
    out Y f32[o, p, n] = sum(X * W)

output Y
)");
    const auto along = [&](const std::string& m) {
        return kernel("y[contract groups=2 k=c lanes=16 m=" + m + " n=n rows=12]", {false}).compute;
    };
    // A line of each channel and row: 64 B for every number, in each step of the window and of two panels.
    EXPECT_GE(along("o") - along("p"), 0.8 * 2 * 9 * 56 * 56 * 64 * 64 / 50e9);
    EXPECT_LE(along("p"),
              1.1 * kernel("o:1 { y[contract groups=2 k=c lanes=16 m=p n=n rows=12] }", {false}).compute);
}

}  // namespace
}  // namespace tessera::cost
