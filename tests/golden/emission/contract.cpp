// products: a function for each kernel of the plan, and one that calls them for each specialisation.
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

// n:16 { y[contract groups=2 k=k lanes=8 m=t n=n partial_sums=2 rows=4] }
[[gnu::noinline]] void kernel_all_main_y([[maybe_unused]] const TesseraStep& step, const float* const v_x, const float* const v_w, float* const __restrict v_y, const float* const v_bias) {
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

}  // namespace

static void run_all([[maybe_unused]] const TesseraStep* const step, [[maybe_unused]] const TesseraMarkedStep* const marked) {
    [[maybe_unused]] const int64_t s_T = step->symbols[0];
    const auto mark = [&](const int64_t kernel, const TesseraMark what) {
        if (marked) marked->mark(marked->marks, step->worker, kernel, what);
    };
    [[maybe_unused]] constexpr int64_t repetition = 0;
    mark(0, kTesseraComputes);
    kernel_all_main_y(*step, elements<const float>(step->inputs[0]), elements<const float>(step->constants + 0), elements<float>(step->outputs[0]), elements<const float>(step->constants + 7680));
    mark(1, kTesseraEnds);
}

extern "C" void tessera_step_all(const TesseraStep* step) {
    run_all(step, nullptr);
}

extern "C" void tessera_step_all_marked(const TesseraMarkedStep* marked) {
    run_all(&marked->step, marked);
}
