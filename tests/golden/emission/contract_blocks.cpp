// blocks: a function for each kernel of the plan, and one that calls them for each specialisation.
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

struct Factor1 {
    const ntt::f16* p0;
    int64_t step0;
    template <class Valid>
    [[gnu::always_inline]] auto operator()([[maybe_unused]] int64_t outer, [[maybe_unused]] int64_t inner, [[maybe_unused]] Valid valid) const {
        return ntt::load_group<ntt::Vector<float, 8>>(p0 + ((inner) / 32) * 8 + (outer) * (step0), valid);
    }
};

}  // namespace

namespace {

// n:16 { y[contract_blocks groups=2 k=k lanes=8 m=t n=n prefetch=512 rows=4 streams=2] }
[[gnu::noinline]] void kernel_all_main_y([[maybe_unused]] const TesseraStep& step, const int8_t* const v_x, const int8_t* const v_low, const float* const v_scales, ntt::Bits<4> const v_w_q, const ntt::f16* const v_w_d, const ntt::f16* const v_w_m, float* const __restrict v_y) {
    [[maybe_unused]] const int64_t s_T = step.symbols[0];
    for (int64_t i_n_tile = 0; i_n_tile < 40; i_n_tile += 16) {
        const int64_t i_n_end = ntt::min<int64_t>(i_n_tile + 16, 40);
        ntt::contract_blocks<ntt::ContractBlocksTile{.lanes = 8, .rows = 4, .groups = 2, .block = 32, .a_block = 32, .zero = 0, .accumulate = false, .prefetch = 512, .streams = 2}>(
            s_T, i_n_end - i_n_tile, 64,
            ntt::row_terms<256>(v_x, v_low, 64),
            ntt::rows(v_scales, 2, ntt::Int<1>{}),
            ntt::lane_quads(ntt::Bits<4>(v_w_q.bytes() + ((i_n_tile) / 8) * 256), 512, ntt::Int<32>{}),
            ntt::decoded(Factor1{v_w_d + ((i_n_tile) / 8) * 16, 16}),
            ntt::decoded(Factor1{v_w_m + ((i_n_tile) / 8) * 16, 16}),
            ntt::result(v_y + i_n_tile, 40, ntt::Int<8>{}));
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
    kernel_all_main_y(*step, elements<const int8_t>(step->inputs[0]), elements<const int8_t>(step->inputs[1]), elements<const float>(step->inputs[2]), ntt::Bits<4>(step->constants + 0), elements<const ntt::f16>(step->constants + 1280), elements<const ntt::f16>(step->constants + 1472), elements<float>(step->outputs[0]));
    mark(1, kTesseraEnds);
}

extern "C" void tessera_step_all(const TesseraStep* step) {
    run_all(step, nullptr);
}

extern "C" void tessera_step_all_marked(const TesseraMarkedStep* marked) {
    run_all(&marked->step, marked);
}
