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

// t:1 { s:32 { scores[contract groups=4 k=e lanes=8 n=s rows=1]; attend[stream d=d groups=4 lanes=8 rows=1] }; y[loops lanes=8 x=d] }
[[gnu::noinline]] void kernel_all_main_y([[maybe_unused]] const TesseraStep& step, float* const __restrict v_largest, float* const __restrict v_weights, float* const __restrict v_weighted, const int32_t* const v_position, const float* const v_q, const float* const v_k, float* const __restrict v_scores, const float* const v_v, float* const __restrict v_y) {
    [[maybe_unused]] const int64_t s_T = step.symbols[0];
    for (int64_t i_t_tile = 0; i_t_tile < s_T; ++i_t_tile) {
        v_largest[0] = -__builtin_inff();
        v_weights[0] = 0.0f;
        for (int64_t i_d = 0; i_d < 32; ++i_d) {
            v_weighted[i_d] = 0.0f;
        }
        const int64_t i_s_stop = ntt::min<int64_t>(128, int64_t{v_position[i_t_tile]} + 1);
        for (int64_t i_s_tile = 0; i_s_tile < i_s_stop; i_s_tile += 32) {
            const int64_t i_s_end = ntt::min<int64_t>(i_s_tile + 32, i_s_stop);
            ntt::contract<ntt::ContractTile{.lanes = 8, .rows = 1, .groups = 4, .accumulate = false, .b_padded = false}>(
                ntt::Int<1>{}, i_s_end - i_s_tile, 32,
                ntt::rows(v_q + i_t_tile * 32, 0, ntt::Int<1>{}),
                ntt::lanes(v_k + i_s_tile, 8, ntt::Int<128>{}),
                ntt::result(v_scores, 0, ntt::Int<8>{}));
            {
                const auto group = [&]([[maybe_unused]] const int64_t i_s, const auto lanes_of_i_s) {
                    ntt::store_group(v_scores + i_s - i_s_tile, (ntt::load_group<ntt::Vector<float, 8>>(v_scores + i_s - i_s_tile, lanes_of_i_s) * 0.1767767f), lanes_of_i_s);
                };
                int64_t i_s = i_s_tile;
                for (; i_s + 8 <= i_s_end; i_s += 8) group(i_s, ntt::Int<8>{});
                if (i_s < i_s_end) group(i_s, i_s_end - i_s);
            }
            alignas(64) float scores_of_attend[32];
            {
                const auto group = [&]([[maybe_unused]] const int64_t i_s_2, const auto lanes_of_i_s_2) {
                    ntt::store_group(scores_of_attend + i_s_2 - i_s_tile, ntt::select(((ntt::iota<ntt::Vector<int32_t, 8>>() + static_cast<int32_t>(i_s_2)) <= static_cast<int32_t>(int64_t{v_position[i_t_tile]})), ntt::load_group<ntt::Vector<float, 8>>(v_scores + i_s_2 - i_s_tile, lanes_of_i_s_2), ntt::broadcast<ntt::Vector<float, 8>>((-__builtin_inff()))), lanes_of_i_s_2);
                };
                int64_t i_s_2 = i_s_tile;
                for (; i_s_2 + 8 <= i_s_end; i_s_2 += 8) group(i_s_2, ntt::Int<8>{});
                if (i_s_2 < i_s_end) group(i_s_2, i_s_end - i_s_2);
            }
            ntt::softmax_step<ntt::ContractTile{.lanes = 8, .rows = 1, .groups = 4}>(
                ntt::Int<1>{}, i_s_end - i_s_tile, 32, scores_of_attend, ntt::Int<32>{},
                ntt::lanes(v_v + i_s_tile * 32, 8, ntt::Int<32>{}),
                ntt::softmax_state(v_largest, v_weights, v_weighted, ntt::Int<0>{}, ntt::Int<8>{}));
        }
        for (int64_t i_d_2 = 0; i_d_2 < 32; i_d_2 += 8) {
            ntt::store_group(v_y + i_d_2 + i_t_tile * 32, (ntt::load_group<ntt::Vector<float, 8>>(v_weighted + i_d_2, ntt::Int<8>{}) / v_weights[0]), ntt::Int<8>{});
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
    kernel_all_main_y(*step, elements<float>(step->arena + 256), elements<float>(step->arena + 320), elements<float>(step->arena + 128), elements<const int32_t>(step->inputs[0]), elements<const float>(step->inputs[1]), elements<const float>(step->constants + 0), elements<float>(step->arena + 0), elements<const float>(step->constants + 16384), elements<float>(step->outputs[0]));
    mark(1, kTesseraEnds);
}

extern "C" void tessera_step_all(const TesseraStep* step) {
    run_all(step, nullptr);
}

extern "C" void tessera_step_all_marked(const TesseraMarkedStep* marked) {
    run_all(&marked->step, marked);
}
