// attention: one function for each kernel of the plan, one entry for each specialisation.
#include "tessera/ntt/group.h"
#include "tessera/ntt/ntt.h"
#include "tessera/step.h"

namespace ntt = tessera::ntt;

namespace {

[[gnu::noinline]] void all_main_y_body([[maybe_unused]] const TesseraStep& step, float* const __restrict largest, float* const __restrict weights, float* const __restrict weighted, const float* const q, const float* const k, float* const __restrict scores, const int32_t* const position, const ntt::bf16* const v, float* const __restrict y) {
    [[maybe_unused]] const int64_t T = step.symbols[0];
    for (int64_t t_tile = 0; t_tile < T; t_tile += 16) {
        const int64_t t_end = ntt::min<int64_t>(t_tile + 16, T);
        for (int64_t t = t_tile; t < t_end; ++t) {
            largest[t - t_tile] = -__builtin_inff();
        }
        for (int64_t t_2 = t_tile; t_2 < t_end; ++t_2) {
            weights[t_2 - t_tile] = 0.0f;
        }
        for (int64_t t_3 = t_tile; t_3 < t_end; ++t_3) {
            for (int64_t d = 0; d < 32; ++d) {
                weighted[d + t_3 * 32 - t_tile * 32] = 0.0f;
            }
        }
        for (int64_t s_tile = 0; s_tile < 128; s_tile += 32) {
            ntt::contract<ntt::ContractTile{.lanes = 8, .rows = 1, .groups = 4, .accumulate = false, .b_padded = false}>(
                t_end - t_tile, 32, 32,
                ntt::rows(q + t_tile * 32, 32, ntt::Int<1>{}),
                ntt::lanes(k + s_tile, 8, ntt::Int<128>{}),
                ntt::result(scores, 32, ntt::Int<8>{}));
            for (int64_t t_4 = t_tile; t_4 < t_end; ++t_4) {
                for (int64_t s = s_tile; s < s_tile + 32; s += 8) {
                    ntt::store_group(scores + s - s_tile + t_4 * 32 - t_tile * 32, (ntt::load_group<ntt::Vector<float, 8>>(scores + s - s_tile + t_4 * 32 - t_tile * 32, ntt::Int<8>{}) * 0.1767767f), ntt::Int<8>{});
                }
            }
            alignas(64) float attend_scores[512];
            for (int64_t t_5 = t_tile; t_5 < t_end; ++t_5) {
                for (int64_t s_2 = s_tile; s_2 < s_tile + 32; s_2 += 8) {
                    ntt::store_group(attend_scores + s_2 - s_tile + t_5 * 32 - t_tile * 32, ntt::select(((ntt::iota<ntt::Vector<int32_t, 8>>() + static_cast<int32_t>(s_2)) <= static_cast<int32_t>(int64_t{position[t_5]})), ntt::load_group<ntt::Vector<float, 8>>(scores + s_2 - s_tile + t_5 * 32 - t_tile * 32, ntt::Int<8>{}), ntt::broadcast<ntt::Vector<float, 8>>((-__builtin_inff()))), ntt::Int<8>{});
                }
            }
            ntt::softmax_step_tiles<ntt::ContractTilesTile{.tile_rows = 8, .lanes = 8, .depth = 32, .rows = 2, .groups = 2}>(
                t_end - t_tile, 32, 32, attend_scores, ntt::Int<32>{},
                ntt::lanes(v + s_tile * 32, 8, ntt::Int<32>{}),
                ntt::softmax_state(largest, weights, weighted, ntt::Int<32>{}, ntt::Int<8>{}));
        }
        for (int64_t t_6 = t_tile; t_6 < t_end; ++t_6) {
            for (int64_t d_2 = 0; d_2 < 32; d_2 += 8) {
                ntt::store_group(y + d_2 + t_6 * 32, (ntt::load_group<ntt::Vector<float, 8>>(weighted + d_2 + t_6 * 32 - t_tile * 32, ntt::Int<8>{}) / weights[t_6 - t_tile]), ntt::Int<8>{});
            }
        }
    }
}

// t:16 { s:32 { scores[contract groups=4 k=e lanes=8 m=t n=s rows=1]; attend[stream_tiles d=d depth=32 groups=2 lanes=8 m=t rows=2 tile_rows=8] }; y[loops lanes=8 x=d] }
void all_main_y(const TesseraStep& step, [[maybe_unused]] const int64_t repetition) {
    [[maybe_unused]] const int64_t T = step.symbols[0];
    [[maybe_unused]] const float* const k = reinterpret_cast<const float*>(step.constants + 0);
    [[maybe_unused]] float* const largest = reinterpret_cast<float*>(step.arena + 4096);
    [[maybe_unused]] const int32_t* const position = static_cast<const int32_t*>(step.inputs[0]);
    [[maybe_unused]] const float* const q = static_cast<const float*>(step.inputs[1]);
    [[maybe_unused]] float* const scores = reinterpret_cast<float*>(step.arena + 0);
    [[maybe_unused]] const ntt::bf16* const v = reinterpret_cast<const ntt::bf16*>(step.constants + 16384);
    [[maybe_unused]] float* const weighted = reinterpret_cast<float*>(step.arena + 2048);
    [[maybe_unused]] float* const weights = reinterpret_cast<float*>(step.arena + 4160);
    [[maybe_unused]] float* const y = static_cast<float*>(step.outputs[0]);
    all_main_y_body(step, largest, weights, weighted, q, k, scores, position, v, y);
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
