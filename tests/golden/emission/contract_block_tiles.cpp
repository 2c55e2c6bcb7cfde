// blocks: one function for each kernel of the plan, one entry for each specialisation.
#include "tessera/ntt/group.h"
#include "tessera/ntt/ntt.h"
#include "tessera/step.h"

namespace ntt = tessera::ntt;

namespace {

struct Factor1 {
    const ntt::f16* p0;
    int64_t step0;
    template <class Valid>
    [[gnu::always_inline]] auto operator()([[maybe_unused]] int64_t outer, [[maybe_unused]] int64_t inner, [[maybe_unused]] Valid valid) const {
        return ntt::load_group<ntt::Vector<float, 8>>(p0 + ((inner) / 32) * 8 + (outer) * (step0), valid);
    }
};

[[gnu::noinline]] void all_main_y_body([[maybe_unused]] const TesseraStep& step, const int8_t* const x, const int8_t* const low, const float* const scales, const int8_t* const w_q, const ntt::f16* const w_d, float* const __restrict y) {
    [[maybe_unused]] const int64_t T = step.symbols[0];
    for (int64_t n_tile = 0; n_tile < 40; n_tile += 16) {
        const int64_t n_end = ntt::min<int64_t>(n_tile + 16, 40);
        ntt::contract_block_tiles<ntt::ContractBlockTilesTile{.tile_rows = 16, .lanes = 8, .depth = 32, .groups = 2, .block = 32, .a_block = 64, .zero = 0, .accumulate = false}>(
            T, n_end - n_tile, 64,
            ntt::row_terms<128>(x, low, 64),
            ntt::rows(scales, 1, ntt::Int<0>{}),
            ntt::lane_quads(w_q + ((n_tile) / 8) * 512, 512, ntt::Int<32>{}),
            ntt::foldable(
            ntt::decoded(Factor1{w_d + ((n_tile) / 8) * 16, 16}),
            ntt::Int<32>{}),
            ntt::no_offset,
            ntt::result(y + n_tile, 40, ntt::Int<8>{}));
    }
}

// n:16 { y[contract_block_tiles depth=32 groups=2 k=k lanes=8 m=t n=n tile_rows=16] }
void all_main_y(const TesseraStep& step, [[maybe_unused]] const int64_t repetition) {
    [[maybe_unused]] const int64_t T = step.symbols[0];
    [[maybe_unused]] const int8_t* const low = static_cast<const int8_t*>(step.inputs[1]);
    [[maybe_unused]] const float* const scales = static_cast<const float*>(step.inputs[2]);
    [[maybe_unused]] const ntt::f16* const w_d = reinterpret_cast<const ntt::f16*>(step.constants + 2560);
    [[maybe_unused]] const int8_t* const w_q = reinterpret_cast<const int8_t*>(step.constants + 0);
    [[maybe_unused]] const int8_t* const x = static_cast<const int8_t*>(step.inputs[0]);
    [[maybe_unused]] float* const y = static_cast<float*>(step.outputs[0]);
    all_main_y_body(step, x, low, scales, w_q, w_d, y);
}

}  // namespace

extern "C" void tessera_step_all(const TesseraStep* step) {
    all_main_y(*step, 0);
}

extern "C" void tessera_step_all_marked(const TesseraMarkedStep* marked) {
    const TesseraStep* const step = &marked->step;
    marked->mark(marked->marks, step->worker, 0, kTesseraComputes);
    all_main_y(*step, 0);
    marked->mark(marked->marks, step->worker, 1, kTesseraEnds);
}
