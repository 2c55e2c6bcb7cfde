// `tessera opt` as a user runs it: layouts on a machine that does not exist (paper 000, figure 3).
#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/subprocess.h"
#include "support/temporary_folder.h"

namespace tessera {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kFigure = R"(graph "figure"
input Q: f32[256, 256]
constant K: f32[256, 256] from "K"
constant V: f32[256, 256] from "V"
value S: f32[256, 256]
value E: f32[256, 256]
value Y: f32[256, 256]

block main
  node scores(Q, K) -> S
    op matmul(m: 256, n: 256, k*: 256)
    in A f32[m, k]
    in B f32[n, k]
    out C f32[m, n] = sum(A * B)
  node exponential(S) -> E
    op exponential(m: 256, n: 256)
    in A f32[m, n]
    out B f32[m, n] = exp(A)
  node weighted(E, V) -> Y
    op matmul(m: 256, n: 256, k*: 256)
    in A f32[m, k]
    in B f32[n, k]
    out C f32[m, n] = sum(A * B)
output Y
)";

constexpr const char* kMemory = R"(name = "accelerator"
isa = "x86-64"
cores = 1
cache_line_bytes = 64

[compiler]
flags = []

[[memory]]
name = "L1"
capacity_bytes = 4194304
shared_by_cores = 1
RATE

[[memory]]
name = "memory"
capacity_bytes = 68719476736
shared_by_cores = 1
read_bandwidth = [{ threads = 1, bytes_per_second = 1e11, prefetch_bytes = 0 }]

[[unit]]
name = "vector"
kind = "vector"
registers = 32
strided_rows = false
operands = [
    { name = "A", type = "f32", lanes = "i16" },
    { name = "B", type = "f32", lanes = "i16" },
    { name = "C", type = "f32", lanes = "i16" },
]
peaks = [{ level = "L1", operations_per_second = 1e11 }]
)";

constexpr const char* kTiles = R"(
[[unit]]
name = "tiles"
kind = "matrix"
registers = 8
strided_rows = false
operands = [
    { name = "A", type = "f32", lanes = "m16,k16" },
    { name = "B", type = "f32", lanes = "n16,k16" },
    { name = "C", type = "f32", lanes = "m16,n16" },
]
peaks = [{ level = "L1", operations_per_second = 2e12 }]
)";

class Opt : public ::testing::Test {
protected:
    ProcessResult layouts(const std::string& rate, const std::string& more) const {
        std::string machine = kMemory + more;
        machine.replace(machine.find("RATE"), 4, rate);
        std::ofstream(folder_.path() / "machine.toml") << machine;
        std::ofstream(folder_.path() / "figure.ir") << kFigure;
        return run_process({.program = TESSERA_PROGRAM,
                            .arguments = {"opt", "--pass", "layouts", (folder_.path() / "figure.ir").string(),
                                          "--machine", (folder_.path() / "machine.toml").string()}});
    }
    const std::string rate_ =
        "read_bandwidth = [{ threads = 1, bytes_per_second = 1e12, prefetch_bytes = 0 }]";

private:
    TemporaryFolder folder_;
};

TEST_F(Opt, LayoutsPassThroughAChainOnAMachineOfTiles) {
    const ProcessResult result = layouts(rate_, kTiles);
    ASSERT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_THAT(result.output, HasSubstr("'S' = 'arena, lanes <0:16, 1:16>'"));
    EXPECT_THAT(result.output, HasSubstr("'E' = 'arena, lanes <0:16, 1:16>'"));
    EXPECT_THAT(result.output, HasSubstr("saturated"));
    EXPECT_THAT(result.output, HasSubstr(": optimal"));
    EXPECT_EQ(layouts(rate_, kTiles).output, result.output);
}

TEST_F(Opt, LayoutsOfVectorsAreOneAxisOfTheWeights) {
    const ProcessResult result = layouts(rate_, "");
    ASSERT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_THAT(result.output, HasSubstr("'K' = 'lanes <0:16>'"));
    EXPECT_THAT(result.output, Not(HasSubstr("[copies]")));
}

TEST_F(Opt, LayoutsNeedRates) {
    const ProcessResult result = layouts("", kTiles);
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.errors, HasSubstr("`L1`: has no read_bandwidth"));
}

}  // namespace
}  // namespace tessera
