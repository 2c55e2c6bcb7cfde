#include "compiler/bench/step_work.h"

#include <vector>

#include <gtest/gtest.h>

#include "support/error.h"

namespace tessera::benchmark {
namespace {

// Three layers over rows of an embedding that is the head too, and a cache that each layer appends to and
// sums.
constexpr const char* kGraph = R"(graph "toy"
symbol T in 1..8
symbol S in 16..64 multiple of 16
symbol P in 1..8
point one weight 1: P = 4, S = 16, T = 1

input tokens: i32[T]
input slot: i32[T]
input start: i32[1]
input page: i32[4]
constant table: f16[10, 4] from "table"
value embedded: f32[T, 4]
constant weight: bf16[4, 4] from "w.*" for 0..2
constant shared: f32[4] from "shared"
state cache: f32[P, 16, 4]
value scaled: f32[T, 4]
value cache_new: f32[P, 16, 4]
value summed: f32[T, 4]
value product: f32[T, 4]
value logits: f32[T, 10]

block embed
  node embedded(tokens, table) -> embedded
    op embedding(t: T, k: 4)
    dim T in 1..8
    index id i32[t]
    in E f16[id[t], k] of [10, 4]
    out Y f32[t, k] = E

block layer repeat 3 carry embedded -> product
  update cache -> cache_new
  node scaled(embedded, shared) -> scaled
    op scale(t: T, k: 4)
    dim T in 1..8
    in X f32[t, k]
    in W f32[k]
    out Y f32[t, k] = X * W
  node update(slot, scaled) over cache -> cache_new
    op cache_update(t: T, k: 4)
    dim T in 1..8, P in 1..8
    index slot i32[t]
    in X f32[t, k]
    update C f32[slot[t] div 16, slot[t] mod 16, k] of [P, 16, 4] = X
  node summed(start, page, cache_new) -> summed
    op sum_cache(t: T, k: 4, s*: S)
    dim T in 1..8, S in 16..64 multiple of 16, P in 1..8
    index start i32[0]
    index page i32[s div 16] of [4]
    in C f32[page[s div 16], s mod 16, k] of [P, 16, 4]
    out Y f32[t, k] = sum(C)
    where s <= start[0] + t
  node product(summed, weight) -> product
    op matmul(t: T, n: 4, k*: 4)
    dim T in 1..8
    in X f32[t, k]
    in W bf16[n, k]
    out Y f32[t, n] = sum(X * W)

block head
  node logits(product, table) -> logits
    op head(t: T, n: 10, k*: 4)
    dim T in 1..8
    in X f32[t, k]
    in W f16[n, k]
    out Y f32[t, n] = sum(X * W)

output logits
)";

StepWork work(int64_t tokens, int64_t start, std::vector<int32_t> pages = {0, 1, 2, 3}) {
    std::vector<int32_t> ids(static_cast<size_t>(tokens), 3), slots;
    for (int64_t i = 0; i < tokens; ++i)
        slots.push_back(pages[static_cast<size_t>((start + i) / 16)] * 16 +
                        static_cast<int32_t>((start + i) % 16));
    const std::vector<int32_t> starts = {static_cast<int32_t>(start)};
    const int64_t cached = (start + tokens + 15) / 16 * 16;
    return step_work(parse_graph(kGraph, "toy"), {{"T", tokens}, {"S", cached}, {"P", 8}},
                     {{"tokens", ids}, {"slot", slots}, {"start", starts}, {"page", pages}});
}

TEST(StepWork, CountsWeightsOnceWhateverReadsThem) {
    // The head reads every row of the table, so the embedding adds none; each layer has a weight of its own,
    // and all share one.
    constexpr int64_t kWeights = 10 * 4 * 2 + 3 * 4 * 4 * 2 + 4 * 4;
    EXPECT_EQ(work(1, 0).weight_bytes, kWeights);
    EXPECT_EQ(work(8, 40).weight_bytes, kWeights);
}

TEST(StepWork, CacheCountsAsFarAsItIsFilled) {
    for (const int64_t start : {0, 1, 15, 16, 40})
        for (const int64_t tokens : {1, 2, 8}) {
            const StepWork found = work(tokens, start);
            EXPECT_EQ(found.cache_bytes_written, 3 * tokens * 4 * 4) << start << " + " << tokens;
            EXPECT_EQ(found.cache_bytes_read, 3 * (start + tokens) * 4 * 4) << start << " + " << tokens;
            EXPECT_EQ(found.bytes(), found.weight_bytes + found.cache_bytes_read + found.cache_bytes_written);
        }
    EXPECT_EQ(work(2, 20, {7, 2, 0, 1}), work(2, 20)) << "which pages they are does not matter";
}

TEST(StepWork, MultiplyAddsAreThoseOfSums) {
    const int64_t start = 5, tokens = 3;
    const int64_t causal = (start + 1) + (start + 2) + (start + 3);
    const int64_t sums = 3 * (causal * 4 + tokens * 4 * 4) + tokens * 10 * 4;
    const StepWork found = work(tokens, start);
    EXPECT_EQ(found.multiply_adds, 2 * sums);
    // Products of the matrices, additions of all sums, the scaling of the rows.
    EXPECT_EQ(found.flops, 3 * (causal * 4 + 2 * tokens * 4 * 4 + tokens * 4) + 2 * tokens * 10 * 4);
    EXPECT_EQ(found.special, 0);
}

TEST(StepWork, UnknownIndicesMayBeAny) {
    const StepWork bound = step_work(parse_graph(kGraph, "toy"), {{"T", 1}, {"S", 16}, {"P", 8}}, {});
    EXPECT_GE(bound.cache_bytes_read, work(1, 0).cache_bytes_read);
    EXPECT_LE(bound.cache_bytes_read, 3 * 8 * 16 * 4 * 4);
}

TEST(StepWork, Adds) {
    StepWork sum = work(1, 0);
    sum += work(1, 1);
    EXPECT_EQ(sum.flops, work(1, 0).flops + work(1, 1).flops);
    EXPECT_EQ(sum.bytes(), work(1, 0).bytes() + work(1, 1).bytes());
    EXPECT_EQ(sum.multiply_adds, work(1, 0).multiply_adds + work(1, 1).multiply_adds);
}

}  // namespace
}  // namespace tessera::benchmark
