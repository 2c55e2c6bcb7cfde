// attention: a function for each kernel of the plan, and one that calls them for each specialisation.
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

// t:16 { s:32 { scores[contract groups=4 k=e lanes=8 m=t n=s rows=1]; attend[stream_tiles d=d depth=32 groups=2 lanes=8 m=t rows=2 tile_rows=8] }; y[loops lanes=8 x=d] }
[[gnu::noinline]] void kernel_all_main_y([[maybe_unused]] const TesseraStep& step, float* const __restrict v_largest, float* const __restrict v_weights, float* const __restrict v_weighted, const float* const v_q, const float* const v_k, float* const __restrict v_scores, const int32_t* const v_position, const ntt::bf16* const v_v, float* const __restrict v_y) {
    [[maybe_unused]] const int64_t s_T = step.symbols[0];
    for (int64_t i_t_tile = 0; i_t_tile < s_T; i_t_tile += 16) {
        const int64_t i_t_end = ntt::min<int64_t>(i_t_tile + 16, s_T);
        for (int64_t i_t = i_t_tile; i_t < i_t_end; ++i_t) {
            v_largest[i_t - i_t_tile] = -__builtin_inff();
        }
        for (int64_t i_t_2 = i_t_tile; i_t_2 < i_t_end; ++i_t_2) {
            v_weights[i_t_2 - i_t_tile] = 0.0f;
        }
        for (int64_t i_t_3 = i_t_tile; i_t_3 < i_t_end; ++i_t_3) {
            for (int64_t i_d = 0; i_d < 32; ++i_d) {
                v_weighted[i_d + i_t_3 * 32 - i_t_tile * 32] = 0.0f;
            }
        }
        for (int64_t i_s_tile = 0; i_s_tile < 128; i_s_tile += 32) {
            ntt::contract<ntt::ContractTile{.lanes = 8, .rows = 1, .groups = 4, .accumulate = false, .b_padded = false}>(
                i_t_end - i_t_tile, 32, 32,
                ntt::rows(v_q + i_t_tile * 32, 32, ntt::Int<1>{}),
                ntt::lanes(v_k + i_s_tile, 8, ntt::Int<128>{}),
                ntt::result(v_scores, 32, ntt::Int<8>{}));
            for (int64_t i_t_4 = i_t_tile; i_t_4 < i_t_end; ++i_t_4) {
                for (int64_t i_s = i_s_tile; i_s < i_s_tile + 32; i_s += 8) {
                    ntt::store_group(v_scores + i_s - i_s_tile + i_t_4 * 32 - i_t_tile * 32, (ntt::load_group<ntt::Vector<float, 8>>(v_scores + i_s - i_s_tile + i_t_4 * 32 - i_t_tile * 32, ntt::Int<8>{}) * 0.1767767f), ntt::Int<8>{});
                }
            }
            alignas(64) float scores_of_attend[512];
            for (int64_t i_t_5 = i_t_tile; i_t_5 < i_t_end; ++i_t_5) {
                for (int64_t i_s_2 = i_s_tile; i_s_2 < i_s_tile + 32; i_s_2 += 8) {
                    ntt::store_group(scores_of_attend + i_s_2 - i_s_tile + i_t_5 * 32 - i_t_tile * 32, ntt::select(((ntt::iota<ntt::Vector<int32_t, 8>>() + static_cast<int32_t>(i_s_2)) <= static_cast<int32_t>(int64_t{v_position[i_t_5]})), ntt::load_group<ntt::Vector<float, 8>>(v_scores + i_s_2 - i_s_tile + i_t_5 * 32 - i_t_tile * 32, ntt::Int<8>{}), ntt::broadcast<ntt::Vector<float, 8>>((-__builtin_inff()))), ntt::Int<8>{});
                }
            }
            ntt::softmax_step_tiles<ntt::ContractTilesTile{.tile_rows = 8, .lanes = 8, .depth = 32, .rows = 2, .groups = 2}>(
                i_t_end - i_t_tile, 32, 32, scores_of_attend, ntt::Int<32>{},
                ntt::lanes(v_v + i_s_tile * 32, 8, ntt::Int<32>{}),
                ntt::softmax_state(v_largest, v_weights, v_weighted, ntt::Int<32>{}, ntt::Int<8>{}));
        }
        for (int64_t i_t_6 = i_t_tile; i_t_6 < i_t_end; ++i_t_6) {
            for (int64_t i_d_2 = 0; i_d_2 < 32; i_d_2 += 8) {
                ntt::store_group(v_y + i_d_2 + i_t_6 * 32, (ntt::load_group<ntt::Vector<float, 8>>(v_weighted + i_d_2 + i_t_6 * 32 - i_t_tile * 32, ntt::Int<8>{}) / v_weights[i_t_6 - i_t_tile]), ntt::Int<8>{});
            }
        }
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
    kernel_all_main_y(*step, elements<float>(step->arena + 4096), elements<float>(step->arena + 4160), elements<float>(step->arena + 2048), elements<const float>(step->inputs[1]), elements<const float>(step->constants + 0), elements<float>(step->arena + 0), elements<const int32_t>(step->inputs[0]), elements<const ntt::bf16>(step->constants + 16384), elements<float>(step->outputs[0]));
    mark(1, kTesseraEnds);
}

extern "C" void tessera_step_all(const TesseraStep* step) {
    run_all(step, nullptr);
}

extern "C" void tessera_step_all_marked(const TesseraMarkedStep* marked) {
    run_all(&marked->step, marked);
}
