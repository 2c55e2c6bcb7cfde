// attention: one function for each kernel of the plan, one entry for each specialisation.
#include "tessera/ntt/group.h"
#include "tessera/ntt/ntt.h"
#include "tessera/step.h"

namespace ntt = tessera::ntt;

namespace {

[[gnu::noinline]] void all_main_y_body([[maybe_unused]] const TesseraStep& step, float* const __restrict largest, float* const __restrict weights, float* const __restrict weighted, const int32_t* const position, const float* const q, const float* const k, float* const __restrict scores, const float* const v, float* const __restrict y) {
    [[maybe_unused]] const int64_t T = step.symbols[0];
    for (int64_t t_tile = 0; t_tile < T; ++t_tile) {
        largest[0] = -__builtin_inff();
        weights[0] = 0.0f;
        for (int64_t d = 0; d < 32; ++d) {
            weighted[d] = 0.0f;
        }
        const int64_t s_stop = ntt::min<int64_t>(128, int64_t{position[t_tile]} + 1);
        for (int64_t s_tile = 0; s_tile < s_stop; s_tile += 32) {
            const int64_t s_end = ntt::min<int64_t>(s_tile + 32, s_stop);
            ntt::contract<ntt::ContractTile{.lanes = 8, .rows = 1, .groups = 4, .accumulate = false, .b_padded = false}>(
                ntt::Int<1>{}, s_end - s_tile, 32,
                ntt::rows(q + t_tile * 32, 0, ntt::Int<1>{}),
                ntt::lanes(k + s_tile, 8, ntt::Int<128>{}),
                ntt::result(scores, 0, ntt::Int<8>{}));
            {
                const auto group = [&]([[maybe_unused]] const int64_t s, const auto s_lanes) {
                    ntt::store_group(scores + s - s_tile, (ntt::load_group<ntt::Vector<float, 8>>(scores + s - s_tile, s_lanes) * 0.1767767f), s_lanes);
                };
                int64_t s = s_tile;
                for (; s + 8 <= s_end; s += 8) group(s, ntt::Int<8>{});
                if (s < s_end) group(s, s_end - s);
            }
            alignas(64) float attend_scores[32];
            {
                const auto group = [&]([[maybe_unused]] const int64_t s_2, const auto s_2_lanes) {
                    ntt::store_group(attend_scores + s_2 - s_tile, ntt::select(((ntt::iota<ntt::Vector<int32_t, 8>>() + static_cast<int32_t>(s_2)) <= static_cast<int32_t>(int64_t{position[t_tile]})), ntt::load_group<ntt::Vector<float, 8>>(scores + s_2 - s_tile, s_2_lanes), ntt::broadcast<ntt::Vector<float, 8>>((-__builtin_inff()))), s_2_lanes);
                };
                int64_t s_2 = s_tile;
                for (; s_2 + 8 <= s_end; s_2 += 8) group(s_2, ntt::Int<8>{});
                if (s_2 < s_end) group(s_2, s_end - s_2);
            }
            ntt::softmax_step<ntt::ContractTile{.lanes = 8, .rows = 1, .groups = 4}>(
                ntt::Int<1>{}, s_end - s_tile, 32, attend_scores, ntt::Int<32>{},
                ntt::lanes(v + s_tile * 32, 8, ntt::Int<32>{}),
                ntt::softmax_state(largest, weights, weighted, ntt::Int<0>{}, ntt::Int<8>{}));
        }
        for (int64_t d_2 = 0; d_2 < 32; d_2 += 8) {
            ntt::store_group(y + d_2 + t_tile * 32, (ntt::load_group<ntt::Vector<float, 8>>(weighted + d_2, ntt::Int<8>{}) / weights[0]), ntt::Int<8>{});
        }
    }
}

// t:1 { s:32 { scores[contract groups=4 k=e lanes=8 n=s rows=1]; attend[stream d=d groups=4 lanes=8 rows=1] }; y[loops lanes=8 x=d] }
void all_main_y(const TesseraStep& step, [[maybe_unused]] const int64_t repetition) {
    [[maybe_unused]] const int64_t T = step.symbols[0];
    [[maybe_unused]] const float* const k = reinterpret_cast<const float*>(step.constants + 0);
    [[maybe_unused]] float* const largest = reinterpret_cast<float*>(step.arena + 256);
    [[maybe_unused]] const int32_t* const position = static_cast<const int32_t*>(step.inputs[0]);
    [[maybe_unused]] const float* const q = static_cast<const float*>(step.inputs[1]);
    [[maybe_unused]] float* const scores = reinterpret_cast<float*>(step.arena + 0);
    [[maybe_unused]] const float* const v = reinterpret_cast<const float*>(step.constants + 16384);
    [[maybe_unused]] float* const weighted = reinterpret_cast<float*>(step.arena + 128);
    [[maybe_unused]] float* const weights = reinterpret_cast<float*>(step.arena + 320);
    [[maybe_unused]] float* const y = static_cast<float*>(step.outputs[0]);
    all_main_y_body(step, largest, weights, weighted, position, q, k, scores, v, y);
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
