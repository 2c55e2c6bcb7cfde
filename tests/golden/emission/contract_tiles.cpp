// tiles: one function for each kernel of the plan, one entry for each specialisation.
#include "tessera/ntt/group.h"
#include "tessera/ntt/ntt.h"
#include "tessera/step.h"

namespace ntt = tessera::ntt;

namespace {

[[gnu::noinline]] static void body_all_main_x([[maybe_unused]] const TesseraStep& step, ntt::bf16* const __restrict v_x, const ntt::bf16* const v_table) {
    [[maybe_unused]] const int64_t s_T = step.symbols[0];
    for (int64_t i_t = 0; i_t < s_T; ++i_t) {
        for (int64_t i_k = 0; i_k < 48; i_k += 8) {
            ntt::store_group(v_x + i_k + i_t * 48, ntt::load_group<ntt::Vector<float, 8>>(v_table + i_k + i_t * 48, ntt::Int<8>{}), ntt::Int<8>{});
        }
    }
}

// x[loops lanes=8 x=k]
void kernel_all_main_x(const TesseraStep& step, [[maybe_unused]] const int64_t repetition) {
    [[maybe_unused]] const int64_t s_T = step.symbols[0];
    [[maybe_unused]] const ntt::bf16* const v_table = reinterpret_cast<const ntt::bf16*>(step.constants + 0);
    [[maybe_unused]] ntt::bf16* const v_x = reinterpret_cast<ntt::bf16*>(step.arena + 0);
    body_all_main_x(step, v_x, v_table);
}

[[gnu::noinline]] static void body_all_main_y([[maybe_unused]] const TesseraStep& step, const ntt::bf16* const v_x, const ntt::bf16* const v_w, float* const __restrict v_y) {
    [[maybe_unused]] const int64_t s_T = step.symbols[0];
    for (int64_t i_n_tile = 0; i_n_tile < 40; i_n_tile += 16) {
        const int64_t i_n_end = ntt::min<int64_t>(i_n_tile + 16, 40);
        ntt::contract_tiles<ntt::ContractTilesTile{.tile_rows = 16, .lanes = 8, .depth = 32, .rows = 2, .groups = 2, .accumulate = false}>(
            s_T, i_n_end - i_n_tile, 48,
            ntt::rows(v_x, 48, ntt::Int<1>{}),
            ntt::lane_pairs(v_w + ((i_n_tile) / 8) * 384, 384, ntt::Int<16>{}),
            ntt::result(v_y + i_n_tile, 40, ntt::Int<8>{}));
    }
}

// n:16 { y[contract_tiles depth=32 groups=2 k=k lanes=8 m=t n=n rows=2 tile_rows=16] }
void kernel_all_main_y(const TesseraStep& step, [[maybe_unused]] const int64_t repetition) {
    [[maybe_unused]] const int64_t s_T = step.symbols[0];
    [[maybe_unused]] const ntt::bf16* const v_w = reinterpret_cast<const ntt::bf16*>(step.constants + 6144);
    [[maybe_unused]] const ntt::bf16* const v_x = reinterpret_cast<const ntt::bf16*>(step.arena + 0);
    [[maybe_unused]] float* const v_y = static_cast<float*>(step.outputs[0]);
    body_all_main_y(step, v_x, v_w, v_y);
}

}  // namespace

extern "C" void tessera_step_all(const TesseraStep* step) {
    kernel_all_main_x(*step, 0);
    kernel_all_main_y(*step, 0);
}

extern "C" void tessera_step_all_marked(const TesseraMarkedStep* marked) {
    const TesseraStep* const step = &marked->step;
    marked->mark(marked->marks, step->worker, 0, kTesseraComputes);
    kernel_all_main_x(*step, 0);
    marked->mark(marked->marks, step->worker, 1, kTesseraComputes);
    kernel_all_main_y(*step, 0);
    marked->mark(marked->marks, step->worker, 2, kTesseraEnds);
}
