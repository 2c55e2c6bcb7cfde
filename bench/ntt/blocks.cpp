// Contractions of int8 in blocks of 32 k: weights of 4 bits (with zero -8) or 8 bits with an F16 scale for
// each block, activations of int8 with an F32 scale for each block; beside them the dot products of BF16
// pairs. One row reads the weights from memory, many rows are bound by arithmetic. Needs the flags of the
// machine, in particular of its dot products.

#include <benchmark/benchmark.h>

#include "page_buffer.h"
#include "tessera/ntt/ntt.h"

namespace {

using namespace tessera::ntt;

constexpr int L = kRegisterLanes;
constexpr int64_t kBlock = 32;

void count(benchmark::State& state, int64_t products, int64_t bytes) {
    using benchmark::Counter;
    state.counters["MAC/s"] = Counter(static_cast<double>(products), Counter::kIsIterationInvariantRate);
    state.counters["B/s"] = Counter(static_cast<double>(bytes), Counter::kIsIterationInvariantRate);
}

template <class T, class P, int kBits, int kRows, int kGroups, int64_t kM, int64_t kN = 1024,
          int64_t kK = 1024>
void blocks(benchmark::State& state) {
    using V = Vector<float, L>;
    const auto a = page_buffer<int8_t>(kM * kK);
    const auto a_scale = page_buffer<float>(kM * kK / kBlock);
    const auto weights = page_buffer<T>(kN * kK * kBits / 8);
    const auto scales = page_buffer<f16>(kN * kK / kBlock);
    const auto c = page_buffer<float>(kM * kN);
    const f16* scale = scales.get();
    for (auto _ : state) {
        contract_blocks<ContractBlocksTile{.lanes = L,
                                           .rows = kRows,
                                           .groups = kGroups,
                                           .block = kBlock,
                                           .a_block = kBlock,
                                           .zero = kBits == 4 ? -8 : 0}>(
            int64_t{kM}, Int<kN>{}, Int<kK>{}, rows(a.get(), Int<kK>{}, Int<1>{}),
            rows(a_scale.get(), Int<kK / kBlock>{}, Int<1>{}),
            lane_quads(P(weights.get()), Int<kK * L>{}, Int<4 * L>{}),
            decoded([=](int64_t group, int64_t k, auto count) {
                return load_group<V>(scale + (group * (kK / kBlock) + k / kBlock) * L, count);
            }),
            no_offset, result(c.get(), Int<kN>{}, Int<L>{}));
        benchmark::ClobberMemory();
    }
    count(state, kM * kN * kK, kN * kK * kBits / 8 + kN * kK / kBlock * 2);
}

template <int kRows, int kGroups, int64_t kM, int64_t kN = 1024, int64_t kK = 1024>
void four_bits(benchmark::State& state) {
    blocks<uint8_t, Bits<4>, 4, kRows, kGroups, kM, kN, kK>(state);
}
template <int kRows, int kGroups, int64_t kM, int64_t kN = 1024, int64_t kK = 1024>
void eight_bits(benchmark::State& state) {
    blocks<int8_t, const int8_t*, 8, kRows, kGroups, kM, kN, kK>(state);
}

// Weights as those of Q4_K: an integer for each 32 k, an F16 scale for each 256, and an offset. Numbers of A
// with two bytes.
template <int kRows, int kGroups, int64_t kM, bool kFolded, int64_t kN = 1024, int64_t kK = 1024>
void super_blocks(benchmark::State& state) {
    using V = Vector<float, L>;
    constexpr int64_t kWhole = 256;
    const auto a = page_buffer<int8_t>(kM * kK), a_low = page_buffer<int8_t>(kM * kK);
    const auto a_scale = page_buffer<float>(kM * kK / kWhole);
    const auto weights = page_buffer<uint8_t>(kN * kK / 2);
    const auto integers = page_buffer<uint8_t>(kN * kK / kBlock),
               minima = page_buffer<uint8_t>(kN * kK / kBlock);
    const auto scales = page_buffer<f16>(kN * kK / kWhole);
    const auto c = page_buffer<float>(kM * kN);
    const auto of_block = [=](const auto* p, int64_t block) {
        return decoded([=](int64_t group, int64_t k, auto count) {
            return load_group<V>(p + (group * (kK / block) + k / block) * L, count);
        });
    };
    const auto integer = of_block(integers.get(), kBlock), minimum = of_block(minima.get(), kBlock);
    const auto rest = of_block(scales.get(), kWhole);
    const auto coefficient = decoded([=](int64_t group, int64_t k, auto count) {
        return integer.template load<V>(group, k, count) * rest.template load<V>(group, k, count);
    });
    const auto of_a = row_terms<32>(a.get(), a_low.get(), Int<kK>{});
    for (auto _ : state) {
        contract_blocks<ContractBlocksTile{.lanes = L,
                                           .rows = kRows,
                                           .groups = kGroups,
                                           .block = kBlock,
                                           .a_block = kWhole,
                                           .panel_blocks = 4}>(
            int64_t{kM}, Int<kN>{}, Int<kK>{}, of_a, rows(a_scale.get(), Int<kK / kWhole>{}, Int<1>{}),
            lane_quads(Bits<4>(weights.get()), Int<kK * L>{}, Int<4 * L>{}),
            [&] {
                if constexpr (kFolded) {
                    return foldable(coefficient, integer, rest, Int<kWhole>{});
                } else {
                    return coefficient;
                }
            }(),
            minimum, result(c.get(), Int<kN>{}, Int<L>{}));
        benchmark::ClobberMemory();
    }
    count(state, kM * kN * kK, kN * kK / 2);
}

template <int kRows, int kGroups, int64_t kM, int64_t kN = 1024, int64_t kK = 1024>
void bf16_pairs(benchmark::State& state) {
    const auto a = page_buffer<bf16>(kM * kK), weights = page_buffer<bf16>(kN * kK);
    const auto c = page_buffer<float>(kM * kN);
    for (auto _ : state) {
        contract<ContractTile{.lanes = L, .rows = kRows, .groups = kGroups, .dot = true}>(
            int64_t{kM}, Int<kN>{}, Int<kK>{}, rows(a.get(), Int<kK>{}, Int<1>{}),
            lane_pairs(weights.get(), Int<kK * L>{}, Int<2 * L>{}), result(c.get(), Int<kN>{}, Int<L>{}));
        benchmark::ClobberMemory();
    }
    count(state, kM * kN * kK, kN * kK * 2);
}

// One row, weights from memory.
BENCHMARK(four_bits<1, 1, 1, 16384, 8192>);
BENCHMARK(four_bits<1, 2, 1, 16384, 8192>);
BENCHMARK(four_bits<1, 4, 1, 16384, 8192>);
BENCHMARK(eight_bits<1, 1, 1, 16384, 8192>);
BENCHMARK(eight_bits<1, 2, 1, 16384, 8192>);
BENCHMARK(eight_bits<1, 4, 1, 16384, 8192>);
BENCHMARK(bf16_pairs<1, 4, 1, 16384, 8192>);

// Many rows.
BENCHMARK(four_bits<4, 2, 64>);
BENCHMARK(four_bits<6, 2, 64>);
BENCHMARK(four_bits<4, 4, 64>);
BENCHMARK(four_bits<8, 2, 64>);
BENCHMARK(eight_bits<4, 2, 64>);
BENCHMARK(eight_bits<6, 2, 64>);
BENCHMARK(eight_bits<4, 4, 64>);
BENCHMARK(eight_bits<8, 2, 64>);
BENCHMARK(bf16_pairs<12, 2, 64>);
BENCHMARK(super_blocks<4, 2, 144, false>);
BENCHMARK(super_blocks<4, 2, 144, true>);
BENCHMARK(super_blocks<6, 2, 144, true>);
BENCHMARK(super_blocks<8, 2, 144, true>);
BENCHMARK(super_blocks<4, 4, 144, true>);
BENCHMARK(super_blocks<6, 3, 144, true>);

}  // namespace

BENCHMARK_MAIN();
