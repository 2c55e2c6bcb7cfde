// rms_norm: a function for each kernel of the plan, and one that calls them for each specialisation.
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

// t:1 { norm[loops lanes=8 x=d]; y[loops lanes=8 x=d] }
[[gnu::noinline]] void kernel_all_main_y([[maybe_unused]] const TesseraStep& step, const float* const v_x, float* const __restrict v_norm, float* const __restrict v_y, const float* const v_w) {
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

}  // namespace

static void run_all([[maybe_unused]] const TesseraStep* const step, [[maybe_unused]] const TesseraMarkedStep* const marked) {
    [[maybe_unused]] const int64_t s_T = step->symbols[0];
    const auto mark = [&](const int64_t kernel, const TesseraMark what) {
        if (marked) marked->mark(marked->marks, step->worker, kernel, what);
    };
    [[maybe_unused]] constexpr int64_t repetition = 0;
    mark(0, kTesseraComputes);
    kernel_all_main_y(*step, elements<const float>(step->inputs[0]), elements<float>(step->arena + 0), elements<float>(step->outputs[0]), elements<const float>(step->constants + 0));
    mark(1, kTesseraEnds);
}

extern "C" void tessera_step_all(const TesseraStep* step) {
    run_all(step, nullptr);
}

extern "C" void tessera_step_all_marked(const TesseraMarkedStep* marked) {
    run_all(&marked->step, marked);
}
