// convolution: a function for each kernel of the plan, and one that calls them for each specialisation.
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

// t:1 o:3 { y[contract groups=1 k=c lanes=8 m=p n=n rows=4] }
[[gnu::noinline]] void kernel_all_main_y([[maybe_unused]] const TesseraStep& step, const float* const v_x, const float* const v_w, float* const __restrict v_y) {
    [[maybe_unused]] const int64_t s_T = step.symbols[0];
    for (int64_t i_t_tile = 0; i_t_tile < s_T; ++i_t_tile) {
        for (int64_t i_o_tile = 0; i_o_tile < 8; i_o_tile += 3) {
            const int64_t i_o_end = ntt::min<int64_t>(i_o_tile + 3, 8);
            for (int64_t i_o = i_o_tile; i_o < i_o_end; ++i_o) {
                ntt::contract<ntt::ContractTile{.lanes = 8, .rows = 4, .groups = 1, .accumulate = false, .b_padded = true}>(
                    10, 12, 6,
                    ntt::rows(v_x + i_o * 14 + i_t_tile * 840, 1, ntt::Int<140>{}),
                    ntt::lanes(v_w, 720, ntt::Int<120>{}),
                    ntt::result(v_y + i_o * 120 + i_t_tile * 960, 12, ntt::Int<8>{}), ntt::outer_sum(3, 14, 40), ntt::outer_sum(5, 1, 8));
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
    kernel_all_main_y(*step, elements<const float>(step->inputs[0]), elements<const float>(step->constants + 0), elements<float>(step->outputs[0]));
    mark(1, kTesseraEnds);
}

extern "C" void tessera_step_all(const TesseraStep* step) {
    run_all(step, nullptr);
}

extern "C" void tessera_step_all_marked(const TesseraMarkedStep* marked) {
    run_all(&marked->step, marked);
}
