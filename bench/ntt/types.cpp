// A matrix-vector product, N = K = 4096, whose weights lie in memory as F32, F16, BF16, bytes with an F16
// scale for 32 of them along k, or numbers of few bits with such scales: bytes of weights and scales per
// second. The lanes are n: weights [N/L][K][L], scales [N/L][K/32][L].

#include <benchmark/benchmark.h>

#include "page_buffer.h"
#include "tessera/ntt/ntt.h"

namespace {

using namespace tessera::ntt;

constexpr int L = kRegisterLanes;
constexpr int64_t kN = 4096, kK = 4096, kBlock = 32;

template <int Unroll, class B>
void multiply(benchmark::State& state, B b, int64_t bytes) {
    const auto x = page_buffer<float>(kK), y = page_buffer<float>(kN);
    for (auto _ : state) {
        contract<ContractTile{.lanes = L, .rows = 1, .groups = 4, .k_unroll = Unroll}>(
            Int<1>{}, Int<kN>{}, Int<kK>{}, rows(x.get(), Int<kK>{}, Int<1>{}), b,
            result(y.get(), Int<kN>{}, Int<L>{}));
        benchmark::ClobberMemory();
    }
    state.SetBytesProcessed(state.iterations() * bytes);
}

template <class T>
void plain(benchmark::State& state) {
    const auto weights = page_buffer<T>(kN * kK);
    multiply<1>(state, lanes(weights.get(), Int<kK * L>{}, Int<L>{}),
                kN * kK * static_cast<int64_t>(sizeof(T)));
}

template <class T, class P, int kBits, int Unroll = 8>
void scaled(benchmark::State& state) {
    using V = Vector<float, L>;
    const auto weights = page_buffer<T>(kN * kK * kBits / 8);
    const auto scales = page_buffer<f16>(kN * kK / kBlock);
    const P numbers(weights.get());
    const f16* scale = scales.get();
    multiply<Unroll>(state, decoded([=](int64_t group, int64_t k, auto count) {
                         const auto s =
                             load_group<V>(scale + (group * (kK / kBlock) + k / kBlock) * L, count);
                         return load_group<V>(numbers + (group * kK + k) * L, count) * s;
                     }),
                     kN * kK * kBits / 8 + kN * kK / kBlock * 2);
}

BENCHMARK(plain<float>);
BENCHMARK(plain<f16>);
BENCHMARK(plain<bf16>);
BENCHMARK(plain<int8_t>);
BENCHMARK(scaled<int8_t, const int8_t*, 8, 1>);
BENCHMARK(scaled<int8_t, const int8_t*, 8>);
BENCHMARK(scaled<int8_t, const int8_t*, 8, 32>);
BENCHMARK(scaled<uint8_t, Bits<4>, 4, 1>);
BENCHMARK(scaled<uint8_t, Bits<4>, 4>);
BENCHMARK(scaled<uint8_t, Bits<4>, 4, 32>);
BENCHMARK(scaled<uint8_t, Bits<5>, 5>);
BENCHMARK(scaled<uint8_t, Bits<6>, 6>);

}  // namespace

BENCHMARK_MAIN();
