// products: one function for each kernel of the plan, one entry for each specialisation.
#include "tessera/ntt/group.h"
#include "tessera/ntt/ntt.h"
#include "tessera/step.h"

namespace ntt = tessera::ntt;

namespace {

[[gnu::noinline]] static void body_all_main_y([[maybe_unused]] const TesseraStep& step, const float* const v_x, const float* const v_w, float* const __restrict v_y, const float* const v_bias) {
    [[maybe_unused]] const int64_t s_T = step.symbols[0];
    for (int64_t i_n_tile = 0; i_n_tile < 40; i_n_tile += 16) {
        const int64_t i_n_end = ntt::min<int64_t>(i_n_tile + 16, 40);
        ntt::contract<ntt::ContractTile{.lanes = 8, .rows = 4, .groups = 2, .accumulate = false, .b_padded = true, .partial_sums = 2}>(
            s_T, i_n_end - i_n_tile, 48,
            ntt::rows(v_x, 48, ntt::Int<1>{}),
            ntt::lanes(v_w + ((i_n_tile) / 8) * 384, 384, ntt::Int<8>{}),
            ntt::result(v_y + i_n_tile, 40, ntt::Int<8>{}));
        for (int64_t i_t = 0; i_t < s_T; ++i_t) {
            {
                const auto group = [&]([[maybe_unused]] const int64_t i_n, const auto lanes_of_i_n) {
                    ntt::store_group(v_y + i_n + i_t * 40, (ntt::load_group<ntt::Vector<float, 8>>(v_y + i_n + i_t * 40, lanes_of_i_n) + ntt::load_group<ntt::Vector<float, 8>>(v_bias + i_n, lanes_of_i_n)), lanes_of_i_n);
                };
                int64_t i_n = i_n_tile;
                for (; i_n + 8 <= i_n_end; i_n += 8) group(i_n, ntt::Int<8>{});
                if (i_n < i_n_end) group(i_n, i_n_end - i_n);
            }
        }
    }
}

// n:16 { y[contract groups=2 k=k lanes=8 m=t n=n partial_sums=2 rows=4] }
void kernel_all_main_y(const TesseraStep& step, [[maybe_unused]] const int64_t repetition) {
    [[maybe_unused]] const int64_t s_T = step.symbols[0];
    [[maybe_unused]] const float* const v_bias = reinterpret_cast<const float*>(step.constants + 7680);
    [[maybe_unused]] const float* const v_w = reinterpret_cast<const float*>(step.constants + 0);
    [[maybe_unused]] const float* const v_x = static_cast<const float*>(step.inputs[0]);
    [[maybe_unused]] float* const v_y = static_cast<float*>(step.outputs[0]);
    body_all_main_y(step, v_x, v_w, v_y, v_bias);
}

}  // namespace

extern "C" void tessera_step_all(const TesseraStep* step) {
    kernel_all_main_y(*step, 0);
}

extern "C" void tessera_step_all_marked(const TesseraMarkedStep* marked) {
    const TesseraStep* const step = &marked->step;
    marked->mark(marked->marks, step->worker, 0, kTesseraComputes);
    kernel_all_main_y(*step, 0);
    marked->mark(marked->marks, step->worker, 1, kTesseraEnds);
}
