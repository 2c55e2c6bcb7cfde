// products: one function for each kernel of the plan, one entry for each specialisation.
#include "tessera/ntt/group.h"
#include "tessera/ntt/ntt.h"
#include "tessera/step.h"

namespace ntt = tessera::ntt;

namespace {

[[gnu::noinline]] void all_main_y_body([[maybe_unused]] const TesseraStep& step, const float* const x, const float* const w, float* const __restrict y, const float* const bias) {
    [[maybe_unused]] const int64_t T = step.symbols[0];
    for (int64_t n_tile = 0; n_tile < 40; n_tile += 16) {
        const int64_t n_end = ntt::min<int64_t>(n_tile + 16, 40);
        ntt::contract<ntt::ContractTile{.lanes = 8, .rows = 4, .groups = 2, .accumulate = false, .b_padded = true, .partial_sums = 2}>(
            T, n_end - n_tile, 48,
            ntt::rows(x, 48, ntt::Int<1>{}),
            ntt::lanes(w + ((n_tile) / 8) * 384, 384, ntt::Int<8>{}),
            ntt::result(y + n_tile, 40, ntt::Int<8>{}));
        for (int64_t t = 0; t < T; ++t) {
            {
                const auto group = [&]([[maybe_unused]] const int64_t n, const auto n_lanes) {
                    ntt::store_group(y + n + t * 40, (ntt::load_group<ntt::Vector<float, 8>>(y + n + t * 40, n_lanes) + ntt::load_group<ntt::Vector<float, 8>>(bias + n, n_lanes)), n_lanes);
                };
                int64_t n = n_tile;
                for (; n + 8 <= n_end; n += 8) group(n, ntt::Int<8>{});
                if (n < n_end) group(n, n_end - n);
            }
        }
    }
}

// n:16 { y[contract groups=2 k=k lanes=8 m=t n=n partial_sums=2 rows=4] }
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
