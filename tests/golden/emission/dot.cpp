// products: one function for each kernel of the plan, one entry for each specialisation.
#include "tessera/ntt/group.h"
#include "tessera/ntt/ntt.h"
#include "tessera/step.h"

namespace ntt = tessera::ntt;

namespace {

[[gnu::noinline]] void all_main_y_body([[maybe_unused]] const TesseraStep& step, const float* const x, const float* const w, float* const __restrict y, const float* const bias) {
    [[maybe_unused]] const int64_t T = step.symbols[0];
    ntt::contract_k<ntt::ContractKTile{.lanes = 8, .rows = 2, .columns = 4, .accumulate = false}>(
        T, 40, 48,
        ntt::k_lanes(x, 48, ntt::Int<8>{}),
        ntt::k_lanes(w, 48, ntt::Int<8>{}),
        ntt::elements(y, 40, ntt::Int<1>{}));
    for (int64_t t = 0; t < T; ++t) {
        for (int64_t n = 0; n < 40; n += 8) {
            ntt::store_group(y + n + t * 40, (ntt::load_group<ntt::Vector<float, 8>>(y + n + t * 40, ntt::Int<8>{}) + ntt::load_group<ntt::Vector<float, 8>>(bias + n, ntt::Int<8>{})), ntt::Int<8>{});
        }
    }
}

// y[dot columns=4 k=k lanes=8 m=t n=n rows=2]
void all_main_y(const TesseraStep& step, [[maybe_unused]] const int64_t repetition) {
    [[maybe_unused]] const int64_t T = step.symbols[0];
    [[maybe_unused]] const float* const bias = reinterpret_cast<const float*>(step.constants + 7680);
    [[maybe_unused]] const float* const w = reinterpret_cast<const float*>(step.constants + 0);
    [[maybe_unused]] const float* const x = static_cast<const float*>(step.inputs[0]);
    [[maybe_unused]] float* const y = static_cast<float*>(step.outputs[0]);
    all_main_y_body(step, x, w, y, bias);
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
