// rms_norm: one function for each kernel of the plan, one entry for each specialisation.
#include "tessera/ntt/group.h"
#include "tessera/ntt/ntt.h"
#include "tessera/step.h"

namespace ntt = tessera::ntt;

namespace {

[[gnu::noinline]] void all_main_y_body([[maybe_unused]] const TesseraStep& step, const float* const x, float* const __restrict norm, float* const __restrict y, const float* const w) {
    [[maybe_unused]] const int64_t T = step.symbols[0];
    for (int64_t t_tile = 0; t_tile < T; ++t_tile) {
        ntt::Vector<float, 8> sum = ntt::broadcast<ntt::Vector<float, 8>>(0.0f);
        {
            const auto group = [&]([[maybe_unused]] const int64_t d, const auto d_lanes) {
                sum = ntt::fold_group(d_lanes, ntt::fma(ntt::load_group<ntt::Vector<float, 8>>(x + d + t_tile * 50, d_lanes), ntt::load_group<ntt::Vector<float, 8>>(x + d + t_tile * 50, d_lanes), sum), sum);
            };
            int64_t d = 0;
            for (; d + 8 <= 50; d += 8) group(d, ntt::Int<8>{});
            if (d < 50) group(d, 50 - d);
        }
        norm[0] = ntt::rsqrt(((ntt::fold_sum(sum) / 50.0f) + 1e-06f));
        {
            const auto group = [&]([[maybe_unused]] const int64_t d_2, const auto d_2_lanes) {
                ntt::store_group(y + d_2 + t_tile * 50, ((ntt::load_group<ntt::Vector<float, 8>>(x + d_2 + t_tile * 50, d_2_lanes) * norm[0]) * ntt::load_group<ntt::Vector<float, 8>>(w + d_2, d_2_lanes)), d_2_lanes);
            };
            int64_t d_2 = 0;
            for (; d_2 + 8 <= 50; d_2 += 8) group(d_2, ntt::Int<8>{});
            if (d_2 < 50) group(d_2, 50 - d_2);
        }
    }
}

// t:1 { norm[loops lanes=8 x=d]; y[loops lanes=8 x=d] }
void all_main_y(const TesseraStep& step, [[maybe_unused]] const int64_t repetition) {
    [[maybe_unused]] const int64_t T = step.symbols[0];
    [[maybe_unused]] float* const norm = reinterpret_cast<float*>(step.arena + 0);
    [[maybe_unused]] const float* const w = reinterpret_cast<const float*>(step.constants + 0);
    [[maybe_unused]] const float* const x = static_cast<const float*>(step.inputs[0]);
    [[maybe_unused]] float* const y = static_cast<float*>(step.outputs[0]);
    all_main_y_body(step, x, norm, y, w);
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
