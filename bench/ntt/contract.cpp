// Speed of the NTT contraction against the peak of fused multiply-adds, and of M = 1 against the rate at
// which the same bytes can be read: the speed of a register block on this machine. Build with optimisation
// and the flags of the machine:
//
//     g++ -std=c++20 -O2 -mavx512f -mavx512vl -mavx512bw -mavx512dq -mfma -Iinclude bench/ntt/contract.cpp
//     -lbenchmark
//
// Or the target ntt_bench_<form> where libbenchmark-dev is installed.

#include <benchmark/benchmark.h>

#include "page_buffer.h"
#include "tessera/ntt/ntt.h"

namespace {

using namespace tessera::ntt;

void count(benchmark::State& state, double flops, double bytes) {
    using benchmark::Counter;
    state.counters["flop/s"] = Counter(flops, Counter::kIsIterationInvariantRate);
    state.counters["B/s"] = Counter(bytes, Counter::kIsIterationInvariantRate);
}

// The most this core does: independent sums, two operands in registers.
template <int L>
void fma_peak(benchmark::State& state) {
    using V = Vector<float, L>;
    constexpr int kSums = 12;  // latency 4 x 2 ports is 8; some more, and none spills with 16 registers
    V sum[kSums];
    for (int i = 0; i < kSums; ++i) sum[i] = broadcast<V>(0.0f);
    V a = broadcast<V>(0.5f), b = broadcast<V>(0.25f);
    benchmark::DoNotOptimize(a);
    benchmark::DoNotOptimize(b);
    constexpr int kTurns = 1000;
    for (auto _ : state) {
        for (int turn = 0; turn < kTurns; ++turn) {
#pragma GCC unroll 16
            for (int i = 0; i < kSums; ++i) sum[i] = fma(a, b, sum[i]);
        }
    }
    V total = sum[0];
    for (int i = 1; i < kSums; ++i) total = total + sum[i];
    float folded = fold_sum(total);
    benchmark::DoNotOptimize(folded);
    count(state, 2.0 * kSums * L * kTurns, 0);
}

// Packed weights [N/L][K][L], row-major A and C; N and K static as in generated code, M not.
template <ContractTile Tile, int64_t N, int64_t K>
void contract_packed(benchmark::State& state, int64_t m) {
    constexpr int L = Tile.lanes;
    const auto a = page_buffer<float>(m * K), b = page_buffer<float>(N * K), c = page_buffer<float>(m * N);
    for (auto _ : state) {
        contract<Tile>(m, Int<N>{}, Int<K>{}, rows(a.get(), Int<K>{}, Int<1>{}),
                       lanes(b.get(), Int<K * L>{}, Int<L>{}), result(c.get(), Int<N>{}, Int<L>{}));
        benchmark::ClobberMemory();
    }
    count(state, 2.0 * static_cast<double>(m * N * K), 4.0 * static_cast<double>(N * K));
}

// Weights as a checkpoint has them, [N][K].
template <ContractKTile Tile, int64_t N, int64_t K>
void contract_rows_of_k(benchmark::State& state, int64_t m) {
    constexpr int L = Tile.lanes;
    const auto a = page_buffer<float>(m * K), b = page_buffer<float>(N * K), c = page_buffer<float>(m * N);
    for (auto _ : state) {
        contract_k<Tile>(m, Int<N>{}, Int<K>{}, k_lanes(a.get(), Int<K>{}, Int<L>{}),
                         k_lanes(b.get(), Int<K>{}, Int<L>{}), elements(c.get(), Int<N>{}, Int<1>{}));
        benchmark::ClobberMemory();
    }
    count(state, 2.0 * static_cast<double>(m * N * K), 4.0 * static_cast<double>(N * K));
}

// One tile of attention for one head: I rows, S positions, depth 128.
template <ContractTile Tile>
void attention_tile(benchmark::State& state, int64_t rows_i) {
    constexpr int L = Tile.lanes;
    constexpr int64_t kDepth = 128, kPositions = 64;
    const auto scores = page_buffer<float>(rows_i * kPositions),
               values = page_buffer<float>(kPositions * kDepth);
    const auto a = page_buffer<float>(rows_i * kDepth), m = page_buffer<float>(rows_i),
               l = page_buffer<float>(rows_i);
    const auto softmax = softmax_state(m.get(), l.get(), a.get(), Int<kDepth>{}, Int<L>{});
    softmax_init<L>(rows_i, Int<kDepth>{}, softmax);
    for (auto _ : state) {
        // The weights of the last turn, all in [0, 1], are the scores of the next.
        softmax_step<Tile>(rows_i, Int<kPositions>{}, Int<kDepth>{}, scores.get(), Int<kPositions>{},
                           lanes(values.get(), Int<L>{}, Int<kDepth>{}), softmax);
        benchmark::ClobberMemory();
    }
    count(state, 2.0 * static_cast<double>(rows_i * kPositions * kDepth), 0);
}

template <class F>
void over_array(benchmark::State& state, F f) {
    constexpr int L = kRegisterLanes;
    using V = Vector<float, L>;
    constexpr int64_t kCount = 4096;
    const auto x = page_buffer<float>(kCount), y = page_buffer<float>(kCount);
    for (auto _ : state) {
        for (int64_t i = 0; i < kCount; i += L) store(y.get() + i, f(load<V>(x.get() + i)));
        benchmark::ClobberMemory();
    }
    state.SetItemsProcessed(state.iterations() * kCount);
}

constexpr int kL = kRegisterLanes;

BENCHMARK(fma_peak<kL>);

// Prefill. 512 x 512 weights: 1 MiB, in the second-level cache.
template <int R, int G>
void prefill(benchmark::State& state) {
    contract_packed<ContractTile{.lanes = kL, .rows = R, .groups = G}, 512, 512>(state, 512);
}
BENCHMARK(prefill<12, 2>);
BENCHMARK(prefill<8, 3>);
BENCHMARK(prefill<8, 2>);
BENCHMARK(prefill<6, 4>);
BENCHMARK(prefill<6, 2>);
BENCHMARK(prefill<4, 3>);
BENCHMARK(prefill<4, 2>);
BENCHMARK(prefill<3, 4>);

// Decode, from the second-level cache (1 MiB) and from memory (64 MiB).
template <int G, int64_t N, int64_t K, int Prefetch = 0>
void decode(benchmark::State& state) {
    contract_packed<ContractTile{.lanes = kL, .rows = 1, .groups = G, .prefetch = Prefetch}, N, K>(state, 1);
}
BENCHMARK(decode<2, 512, 512>);
BENCHMARK(decode<4, 512, 512>);
BENCHMARK(decode<8, 512, 512>);
BENCHMARK(decode<2, 8192, 2048>);
BENCHMARK(decode<4, 8192, 2048>);
BENCHMARK(decode<4, 8192, 2048, 1024>);
BENCHMARK(decode<4, 8192, 2048, 4096>);
BENCHMARK(decode<8, 8192, 2048>);
BENCHMARK(decode<8, 8192, 2048, 1024>);

template <int R, int G, int64_t M>
void checkpoint_layout(benchmark::State& state) {
    contract_rows_of_k<ContractKTile{.lanes = kL, .rows = R, .columns = G}, 512, 512>(state, M);
}
BENCHMARK(checkpoint_layout<4, 4, 512>);
BENCHMARK(checkpoint_layout<6, 2, 512>);
BENCHMARK(checkpoint_layout<3, 4, 512>);
BENCHMARK(checkpoint_layout<1, 4, 1>);
BENCHMARK(checkpoint_layout<1, 8, 1>);

// One tile of scores of one head: 64 positions, 128 deep, for one query or for 64.
template <int R, int G, int64_t M>
void scores(benchmark::State& state) {
    contract_rows_of_k<ContractKTile{.lanes = kL, .rows = R, .columns = G}, 64, 128>(state, M);
}
BENCHMARK(scores<1, 4, 1>);
BENCHMARK(scores<1, 8, 1>);
BENCHMARK(scores<2, 4, 2>);
BENCHMARK(scores<4, 4, 64>);
BENCHMARK(scores<2, 8, 64>);

template <int R, int G, int64_t I>
void attention(benchmark::State& state) {
    attention_tile<ContractTile{.lanes = kL, .rows = R, .groups = G}>(state, I);
}
BENCHMARK(attention<2, 4, 2>);
BENCHMARK(attention<4, 2, 64>);
BENCHMARK(attention<6, 2, 64>);

BENCHMARK_CAPTURE(over_array, exp, [](auto x) { return exp(x); });
BENCHMARK_CAPTURE(over_array, sigmoid, [](auto x) { return sigmoid(x); });
BENCHMARK_CAPTURE(over_array, tanh, [](auto x) { return tanh(x); });
BENCHMARK_CAPTURE(over_array, erf, [](auto x) { return erf(x); });
BENCHMARK_CAPTURE(over_array, rsqrt, [](auto x) { return rsqrt(x * x + 1.0f); });

}  // namespace

BENCHMARK_MAIN();
