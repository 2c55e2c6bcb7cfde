// A step as generated code uses NTT: static and run-time extents mixed, one text for scalars and vectors.
// Compiled with warnings as errors by compile_alone.cmake; never run.

#include "tessera/ntt/ntt.h"

namespace ntt = tessera::ntt;

namespace {

constexpr int kLanes = 16;
constexpr ntt::ContractTile kPrefill{.lanes = kLanes, .rows = 6, .groups = 2, .b_padded = true};
constexpr ntt::ContractTile kDecode{.lanes = kLanes, .rows = 1, .groups = 4, .k_unroll = 2, .prefetch = 512};

template <class V>
void silu_times(const float* gate, const float* up, float* out) {
    const V x = ntt::load<V>(gate);
    ntt::store(out, x * ntt::sigmoid(x) * ntt::load<V>(up));
}

}  // namespace

void project(int64_t T, const float* x, const float* weight, float* y) {
    using namespace tessera::ntt;
    const auto in = tensor(x, shape(T, Int<64>{}));
    const auto out = tensor(y, shape(T, Int<100>{}));
    contract<kPrefill>(
        out.extent<0>(), out.extent<1>(), in.extent<1>(), rows(in.data(), in.stride<0>(), in.stride<1>()),
        lanes(weight, Int<64 * kLanes>{}, Int<kLanes>{}), result(out.data(), out.stride<0>(), Int<kLanes>{}));
}

void project_one(const float* x, const float* weight, float* y) {
    using namespace tessera::ntt;
    contract<kDecode>(Int<1>{}, Int<128>{}, Int<64>{}, rows(x, Int<64>{}, Int<1>{}),
                      lanes(weight, Int<64 * kLanes>{}, Int<kLanes>{}), result(y, Int<128>{}, Int<kLanes>{}));
}

void score(int64_t T, int64_t S, const float* q, const float* k, float* p) {
    using namespace tessera::ntt;
    contract_k<ContractKTile{.lanes = kLanes, .rows = 2, .columns = 4}>(
        T, S, Int<64>{}, k_lanes(q, 64, Int<kLanes>{}), k_lanes(k, Int<64>{}, Int<kLanes>{}),
        elements(p, S, Int<1>{}));
}

void attend(int64_t T, int64_t S, float* p, const float* v, float* m, float* l, float* a) {
    using namespace tessera::ntt;
    const auto state = softmax_state(m, l, a, Int<64>{}, Int<kLanes>{});
    softmax_init<kLanes>(T, Int<64>{}, state);
    softmax_step<kPrefill>(T, S, Int<64>{}, p, S, lanes(v, Int<kLanes>{}, Int<64>{}), state);
    softmax_merge<kLanes>(T, Int<64>{}, state, state);
}

void activate(int64_t n, const float* gate, const float* up, float* out) {
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) silu_times<ntt::Vector<float, kLanes>>(gate + i, up + i, out + i);
    for (; i < n; ++i) silu_times<float>(gate + i, up + i, out + i);
}

// Weights in types of their own: F16 as they are, 4 bits in blocks of 32 along k with F16 scales.
void project_f16(int64_t T, const float* x, const ntt::f16* weight, float* y) {
    using namespace tessera::ntt;
    contract<kPrefill>(T, Int<128>{}, Int<64>{}, rows(x, Int<64>{}, Int<1>{}),
                       lanes(weight, Int<64 * kLanes>{}, Int<kLanes>{}),
                       result(y, Int<128>{}, Int<kLanes>{}));
}

void project_4_bits(const float* x, const uint8_t* quants, const ntt::f16* scales, float* y) {
    using namespace tessera::ntt;
    using V = Vector<float, kLanes>;
    contract<kDecode>(Int<1>{}, Int<128>{}, Int<64>{}, rows(x, Int<64>{}, Int<1>{}),
                      decoded([=](int64_t group, int64_t k, auto count) {
                          const V scale = load_group<V>(scales + (group * 2 + k / 32) * kLanes, count);
                          const V q = load_group<V>(Bits<4>(quants) + (group * 64 + k) * kLanes, count);
                          return (q - 8.0f) * scale;
                      }),
                      result(y, Int<128>{}, Int<kLanes>{}));
}

void keep(int64_t n, const float* x, ntt::bf16* cache) {
    ntt::for_groups<kLanes>(n, [&](int64_t i, auto count) {
        ntt::store_group(cache + i, ntt::load_group<ntt::Vector<float, kLanes>>(x + i, count), count);
    });
}

// BF16 weights in pairs of k: with F32 activations, and with BF16 activations by dot products.
void project_pairs(int64_t T, const float* x, const ntt::bf16* weight, float* y) {
    using namespace tessera::ntt;
    contract<kPrefill>(T, Int<128>{}, Int<64>{}, rows(x, Int<64>{}, Int<1>{}),
                       lane_pairs(weight, Int<64 * kLanes>{}, Int<2 * kLanes>{}),
                       result(y, Int<128>{}, Int<kLanes>{}));
}

void project_dot(int64_t T, const ntt::bf16* x, const ntt::bf16* weight, float* y) {
    using namespace tessera::ntt;
    constexpr ContractTile kDot{.lanes = kLanes, .rows = 12, .groups = 2, .b_padded = true, .dot = true};
    contract<kDot>(T, Int<128>{}, Int<64>{}, rows(x, Int<64>{}, Int<1>{}),
                   lane_pairs(weight, Int<64 * kLanes>{}, Int<2 * kLanes>{}),
                   result(y, Int<128>{}, Int<kLanes>{}));
}

void project_tiles(int64_t T, const ntt::bf16* x, const ntt::bf16* weight, float* y) {
    using namespace tessera::ntt;
    constexpr ContractTilesTile kTileBlock{
        .tile_rows = 16, .lanes = kLanes, .depth = 32, .rows = 2, .groups = 2};
    contract_tiles<kTileBlock>(T, Int<100>{}, Int<72>{}, rows(x, Int<72>{}, Int<1>{}),
                               lane_pairs(weight, Int<72 * kLanes>{}, Int<2 * kLanes>{}),
                               result(y, Int<100>{}, Int<kLanes>{}));
}

// Attention on a matrix unit: keys and values of a cache by page.
void attend_tiles(int64_t T, int64_t S, const ntt::bf16* q, ntt::bf16* const* pages, float* p, float* m,
                  float* l, float* a) {
    using namespace tessera::ntt;
    constexpr ContractTilesTile kTileBlock{
        .tile_rows = 16, .lanes = kLanes, .depth = 32, .rows = 2, .groups = 2};
    const auto keys =
        lanes_at([=](int64_t group, int64_t k) -> const bf16* { return pages[group] + k * kLanes; });
    const auto values = lanes_at([=](int64_t group, int64_t s) -> const bf16* {
        return pages[s / kLanes] + (s % kLanes * 64 + group * kLanes);
    });
    contract_tiles<kTileBlock>(T, S, Int<64>{}, rows(q, Int<64>{}, Int<1>{}), keys,
                               result(p, S, Int<kLanes>{}));
    softmax_step_tiles<kTileBlock>(T, S, Int<64>{}, p, S, values,
                                   softmax_state(m, l, a, Int<64>{}, Int<kLanes>{}));
}

// Weights of 4 bits in quads of k, in blocks of 32 with F16 scales, with activations rounded to int8.
void project_blocks(int64_t T, const int8_t* x, const float* x_scales, const uint8_t* quants,
                    const ntt::f16* scales, const ntt::f16* offsets, float* y) {
    using namespace tessera::ntt;
    using V = Vector<float, kLanes>;
    constexpr ContractBlocksTile kBlocks{
        .lanes = kLanes, .rows = 4, .groups = 2, .block = 32, .a_block = 32, .zero = -8};
    const auto of_block = [](const f16* p) {
        return decoded([p](int64_t group, int64_t k, auto count) {
            return load_group<V>(p + (group * 2 + k / 32) * kLanes, count);
        });
    };
    const auto numbers = lane_quads(Bits<4>(quants), Int<64 * kLanes>{}, Int<4 * kLanes>{});
    const auto a = rows(x, Int<64>{}, Int<1>{});
    const auto a_scale = rows(x_scales, Int<2>{}, Int<1>{});
    const auto c = result(y, Int<128>{}, Int<kLanes>{});
    contract_blocks<kBlocks>(T, Int<128>{}, Int<64>{}, a, a_scale, numbers, of_block(scales), no_offset, c);
    contract_blocks<kBlocks>(T, Int<128>{}, Int<64>{}, a, a_scale, numbers, of_block(scales),
                             of_block(offsets), c);
    constexpr ContractBlockTilesTile kBlockTiles{
        .tile_rows = 16, .lanes = kLanes, .depth = 32, .groups = 2, .block = 32, .a_block = 64, .zero = -8};
    contract_block_tiles<kBlockTiles>(T, Int<128>{}, Int<64>{}, row_terms<128>(x, x, Int<64>{}),
                                      rows(x_scales, Int<1>{}, Int<1>{}), numbers,
                                      foldable(of_block(scales), Int<32>{}), of_block(offsets), c);
}
