// tiles: one function for each kernel of the plan, one entry for each specialisation.
#include "tessera/ntt/group.h"
#include "tessera/ntt/ntt.h"
#include "tessera/step.h"

namespace ntt = tessera::ntt;

namespace {

[[gnu::noinline]] void all_main_x_body([[maybe_unused]] const TesseraStep& step, ntt::bf16* const __restrict x, const ntt::bf16* const table) {
    [[maybe_unused]] const int64_t T = step.symbols[0];
    for (int64_t t = 0; t < T; ++t) {
        for (int64_t k = 0; k < 48; k += 8) {
            ntt::store_group(x + k + t * 48, ntt::load_group<ntt::Vector<float, 8>>(table + k + t * 48, ntt::Int<8>{}), ntt::Int<8>{});
        }
    }
}

// x[loops lanes=8 x=k]
void all_main_x(const TesseraStep& step, [[maybe_unused]] const int64_t repetition) {
    [[maybe_unused]] const int64_t T = step.symbols[0];
    [[maybe_unused]] const ntt::bf16* const table = reinterpret_cast<const ntt::bf16*>(step.constants + 0);
    [[maybe_unused]] ntt::bf16* const x = reinterpret_cast<ntt::bf16*>(step.arena + 0);
    all_main_x_body(step, x, table);
}

[[gnu::noinline]] void all_main_y_body([[maybe_unused]] const TesseraStep& step, const ntt::bf16* const x, const ntt::bf16* const w, float* const __restrict y) {
    [[maybe_unused]] const int64_t T = step.symbols[0];
    for (int64_t n_tile = 0; n_tile < 40; n_tile += 16) {
        const int64_t n_end = ntt::min<int64_t>(n_tile + 16, 40);
        ntt::contract_tiles<ntt::ContractTilesTile{.tile_rows = 16, .lanes = 8, .depth = 32, .rows = 2, .groups = 2, .accumulate = false}>(
            T, n_end - n_tile, 48,
            ntt::rows(x, 48, ntt::Int<1>{}),
            ntt::lane_pairs(w + ((n_tile) / 8) * 384, 384, ntt::Int<16>{}),
            ntt::result(y + n_tile, 40, ntt::Int<8>{}));
    }
}

// n:16 { y[contract_tiles depth=32 groups=2 k=k lanes=8 m=t n=n rows=2 tile_rows=16] }
void all_main_y(const TesseraStep& step, [[maybe_unused]] const int64_t repetition) {
    [[maybe_unused]] const int64_t T = step.symbols[0];
    [[maybe_unused]] const ntt::bf16* const w = reinterpret_cast<const ntt::bf16*>(step.constants + 6144);
    [[maybe_unused]] const ntt::bf16* const x = reinterpret_cast<const ntt::bf16*>(step.arena + 0);
    [[maybe_unused]] float* const y = static_cast<float*>(step.outputs[0]);
    all_main_y_body(step, x, w, y);
}

}  // namespace

extern "C" void tessera_step_all(const TesseraStep* step) {
    all_main_x(*step, 0);
    all_main_y(*step, 0);
}

extern "C" void tessera_step_all_marked(const TesseraMarkedStep* marked) {
    const TesseraStep* const step = &marked->step;
    marked->mark(marked->marks, step->worker, 0, kTesseraComputes);
    all_main_x(*step, 0);
    marked->mark(marked->marks, step->worker, 1, kTesseraComputes);
    all_main_y(*step, 0);
    marked->mark(marked->marks, step->worker, 2, kTesseraEnds);
}
