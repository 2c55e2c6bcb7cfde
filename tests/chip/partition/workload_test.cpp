#include "chip/partition/workload.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error.h"

namespace tessera::partition {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kGraph = R"(graph "two"
symbol T in 1..8
symbol P in 2..64 multiple of 2
input x: f32[T, 8]
constant w: f32[8, 8] from "layers.*.w" for 0..3
state cache: f32[P, 8]
value y: f32[T, 8]
value z: f32[T, 8]
value cache_new: f32[P, 8]
block layer repeat 3 carry x -> z
  update cache -> cache_new
  node y(x, w) -> y
    op matmul(t: T, n: 8, k*: 8)
    dim T in 1..8
    in X f32[t, k]
    in W f32[n, k]
    out Y f32[t, n] = sum(X * W)
  node store(y) over cache -> cache_new
    op store(t: T, k: 8)
    dim T in 1..8
    dim P in 2..64 multiple of 2
    in X f32[t, k]
    update C f32[0 * t, k] of [P, 8] = X
    where t < 1
  node z(y, x) -> z
    op add(t: T, k: 8)
    dim T in 1..8
    in A f32[t, k], B f32[t, k]
    out C f32[t, k] = A + B
output z
)";

TEST(GraphWorkload, TellsPlacesByWhatTheGraphSays) {
    const Workload workload = graph_workload(parse_graph(kGraph, "two.ir"), {{"T", 4}, {"P", 2}}, "two.ir");
    ASSERT_EQ(workload.operators.size(), 3u);
    EXPECT_THAT(workload.operators[0].places, ElementsAre(Place::kOnChip, Place::kHbm, Place::kOnChip));
    EXPECT_THAT(workload.operators[1].places, ElementsAre(Place::kOnChip, Place::kHbm));
    EXPECT_THAT(workload.operators[2].places, ElementsAre(Place::kOnChip, Place::kOnChip, Place::kOnChip));
    EXPECT_THAT(workload.sequence, ElementsAre(0, 1, 2, 0, 1, 2, 0, 1, 2));
    EXPECT_THAT(workload.repeats, ElementsAre(chip::Repeat{0, 3, 3}));
    // While `store` runs, x waits.
    EXPECT_EQ(workload.carried_bytes, 4 * 8 * 4);
}

std::string graph_error(std::map<std::string, int64_t> symbols) {
    try {
        (void)graph_workload(parse_graph(kGraph, "two.ir"), std::move(symbols), "two.ir");
        return "accepted";
    } catch (const Error& error) {
        return error.what();
    }
}

TEST(GraphWorkload, RefusesSymbolsByName) {
    EXPECT_THAT(graph_error({{"T", 4}}), HasSubstr("two.ir: `P`: is a symbol without a value"));
    EXPECT_THAT(graph_error({{"T", 9}, {"P", 2}}),
                HasSubstr("two.ir: `T`: is 9, expected a multiple of 1 from 1 to 8"));
    EXPECT_THAT(graph_error({{"T", 4}, {"P", 3}}),
                HasSubstr("two.ir: `P`: is 3, expected a multiple of 2 from 2 to 64"));
    EXPECT_THAT(graph_error({{"T", 4}, {"P", 2}, {"Q", 1}}),
                HasSubstr("two.ir: `Q`: is set to 1, and the graph has no such symbol"));
    EXPECT_THAT(graph_error({{"T", 4}, {"P", 2}}), "accepted");
}

TEST(GraphWorkload, RefusesAGraphWithoutOperators) {
    const Graph empty = parse_graph("graph \"none\"\ninput x: f32[4]\noutput x\n", "none.ir");
    EXPECT_THROW((void)graph_workload(empty, {}, "none.ir"), Error);
}

}  // namespace
}  // namespace tessera::partition
