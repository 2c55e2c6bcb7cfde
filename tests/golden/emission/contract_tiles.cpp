// tiles: a function for each kernel of the plan, and one that calls them for each specialisation.
#include "tessera/ntt/group.h"
#include "tessera/ntt/ntt.h"
#include "tessera/step.h"

namespace ntt = tessera::ntt;

namespace {

// The elements that begin at some byte.
template <typename Element, typename Byte>
[[maybe_unused]] inline Element* elements(Byte* begin) {
    return reinterpret_cast<Element*>(begin);
}

}  // namespace

namespace {

// x[loops lanes=8 x=k]
[[gnu::noinline]] void kernel_all_main_x([[maybe_unused]] const TesseraStep& step, ntt::bf16* const __restrict v_x, const ntt::bf16* const v_table) {
    [[maybe_unused]] const int64_t s_T = step.symbols[0];
    for (int64_t i_t = 0; i_t < s_T; ++i_t) {
        for (int64_t i_k = 0; i_k < 48; i_k += 8) {
            ntt::store_group(v_x + i_k + i_t * 48, ntt::load_group<ntt::Vector<float, 8>>(v_table + i_k + i_t * 48, ntt::Int<8>{}), ntt::Int<8>{});
        }
    }
}

// n:16 { y[contract_tiles depth=32 groups=2 k=k lanes=8 m=t n=n rows=2 tile_rows=16] }
[[gnu::noinline]] void kernel_all_main_y([[maybe_unused]] const TesseraStep& step, const ntt::bf16* const v_x, const ntt::bf16* const v_w, float* const __restrict v_y) {
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

}  // namespace

static void run_all([[maybe_unused]] const TesseraStep* const step, [[maybe_unused]] const TesseraMarkedStep* const marked) {
    [[maybe_unused]] const int64_t s_T = step->symbols[0];
    const auto mark = [&](const int64_t kernel, const TesseraMark what) {
        if (marked) marked->mark(marked->marks, step->worker, kernel, what);
    };
    [[maybe_unused]] constexpr int64_t repetition = 0;
    mark(0, kTesseraComputes);
    kernel_all_main_x(*step, elements<ntt::bf16>(step->arena + 0), elements<const ntt::bf16>(step->constants + 0));
    mark(1, kTesseraComputes);
    kernel_all_main_y(*step, elements<const ntt::bf16>(step->arena + 0), elements<const ntt::bf16>(step->constants + 6144), elements<float>(step->outputs[0]));
    mark(2, kTesseraEnds);
}

extern "C" void tessera_step_all(const TesseraStep* step) {
    run_all(step, nullptr);
}

extern "C" void tessera_step_all_marked(const TesseraMarkedStep* marked) {
    run_all(&marked->step, marked);
}
