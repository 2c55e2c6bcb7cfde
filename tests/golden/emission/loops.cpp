// rms_norm: one function for each kernel of the plan, one entry for each specialisation.
#include "tessera/ntt/group.h"
#include "tessera/ntt/ntt.h"
#include "tessera/step.h"

namespace ntt = tessera::ntt;

namespace {

[[gnu::noinline]] static void body_all_main_y([[maybe_unused]] const TesseraStep& step, const float* const v_x, float* const __restrict v_norm, float* const __restrict v_y, const float* const v_w) {
    [[maybe_unused]] const int64_t s_T = step.symbols[0];
    for (int64_t i_t_tile = 0; i_t_tile < s_T; ++i_t_tile) {
        ntt::Vector<float, 8> sum = ntt::broadcast<ntt::Vector<float, 8>>(0.0f);
        {
            const auto group = [&]([[maybe_unused]] const int64_t i_d, const auto lanes_of_i_d) {
                sum = ntt::fold_group(lanes_of_i_d, ntt::fma(ntt::load_group<ntt::Vector<float, 8>>(v_x + i_d + i_t_tile * 50, lanes_of_i_d), ntt::load_group<ntt::Vector<float, 8>>(v_x + i_d + i_t_tile * 50, lanes_of_i_d), sum), sum);
            };
            int64_t i_d = 0;
            for (; i_d + 8 <= 50; i_d += 8) group(i_d, ntt::Int<8>{});
            if (i_d < 50) group(i_d, 50 - i_d);
        }
        v_norm[0] = ntt::rsqrt(((ntt::fold_sum(sum) / 50.0f) + 1e-06f));
        {
            const auto group = [&]([[maybe_unused]] const int64_t i_d_2, const auto lanes_of_i_d_2) {
                ntt::store_group(v_y + i_d_2 + i_t_tile * 50, ((ntt::load_group<ntt::Vector<float, 8>>(v_x + i_d_2 + i_t_tile * 50, lanes_of_i_d_2) * v_norm[0]) * ntt::load_group<ntt::Vector<float, 8>>(v_w + i_d_2, lanes_of_i_d_2)), lanes_of_i_d_2);
            };
            int64_t i_d_2 = 0;
            for (; i_d_2 + 8 <= 50; i_d_2 += 8) group(i_d_2, ntt::Int<8>{});
            if (i_d_2 < 50) group(i_d_2, 50 - i_d_2);
        }
    }
}

// t:1 { norm[loops lanes=8 x=d]; y[loops lanes=8 x=d] }
void kernel_all_main_y(const TesseraStep& step, [[maybe_unused]] const int64_t repetition) {
    [[maybe_unused]] const int64_t s_T = step.symbols[0];
    [[maybe_unused]] float* const v_norm = reinterpret_cast<float*>(step.arena + 0);
    [[maybe_unused]] const float* const v_w = reinterpret_cast<const float*>(step.constants + 0);
    [[maybe_unused]] const float* const v_x = static_cast<const float*>(step.inputs[0]);
    [[maybe_unused]] float* const v_y = static_cast<float*>(step.outputs[0]);
    body_all_main_y(step, v_x, v_norm, v_y, v_w);
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
