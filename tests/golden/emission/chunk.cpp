// state_space: a function for each kernel of the plan, and one that calls them for each specialisation.
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

// scan[chunk lanes=8 steps=4 x=p]
[[gnu::noinline]] void kernel_all_main_scan([[maybe_unused]] const TesseraStep& step, const float* const v_a, const float* const v_k, float* const __restrict v_s, const float* const v_v, float* const __restrict v_y) {
    [[maybe_unused]] const int64_t s_T = step.symbols[0];
    for (int64_t i_h = 0; i_h < 2; ++i_h) {
        const int64_t i_i_chunks = ((s_T) / 4) * 4;
        for (int64_t i_i_first = 0; i_i_first < i_i_chunks; i_i_first += 4) {
            alignas(64) float decays_of_scan[20];
            decays_of_scan[0] = ntt::exp((-ntt::abs(v_a[i_h + i_i_first * 2])));
            decays_of_scan[6] = ntt::exp((-ntt::abs(v_a[i_h + i_i_first * 2 + 2])));
            decays_of_scan[5] = (decays_of_scan[0] * decays_of_scan[6]);
            decays_of_scan[12] = ntt::exp((-ntt::abs(v_a[i_h + i_i_first * 2 + 4])));
            decays_of_scan[10] = (decays_of_scan[5] * decays_of_scan[12]);
            decays_of_scan[11] = (decays_of_scan[6] * decays_of_scan[12]);
            decays_of_scan[18] = ntt::exp((-ntt::abs(v_a[i_h + i_i_first * 2 + 6])));
            decays_of_scan[15] = (decays_of_scan[10] * decays_of_scan[18]);
            decays_of_scan[16] = (decays_of_scan[11] * decays_of_scan[18]);
            decays_of_scan[17] = (decays_of_scan[12] * decays_of_scan[18]);
            alignas(64) float keys_of_scan[64];
            alignas(64) float queries_of_scan[64];
            {
                const auto group = [&]([[maybe_unused]] const int64_t i_n, const auto lanes_of_i_n) {
                    ntt::store_group(keys_of_scan + i_n, ((v_a[i_h + i_i_first * 2] * ntt::load_group<ntt::Vector<float, 8>>(v_k + i_i_first * 12 + i_n, lanes_of_i_n)) * decays_of_scan[16]), lanes_of_i_n);
                    ntt::store_group(queries_of_scan + i_n, (ntt::load_group<ntt::Vector<float, 8>>(v_k + i_i_first * 12 + i_n, lanes_of_i_n) * decays_of_scan[0]), lanes_of_i_n);
                    ntt::store_group(keys_of_scan + i_n + 16, ((v_a[i_h + i_i_first * 2 + 2] * ntt::load_group<ntt::Vector<float, 8>>(v_k + i_i_first * 12 + i_n + 12, lanes_of_i_n)) * decays_of_scan[17]), lanes_of_i_n);
                    ntt::store_group(queries_of_scan + i_n + 16, (ntt::load_group<ntt::Vector<float, 8>>(v_k + i_i_first * 12 + i_n + 12, lanes_of_i_n) * decays_of_scan[5]), lanes_of_i_n);
                    ntt::store_group(keys_of_scan + i_n + 32, ((v_a[i_h + i_i_first * 2 + 4] * ntt::load_group<ntt::Vector<float, 8>>(v_k + i_i_first * 12 + i_n + 24, lanes_of_i_n)) * decays_of_scan[18]), lanes_of_i_n);
                    ntt::store_group(queries_of_scan + i_n + 32, (ntt::load_group<ntt::Vector<float, 8>>(v_k + i_i_first * 12 + i_n + 24, lanes_of_i_n) * decays_of_scan[10]), lanes_of_i_n);
                    ntt::store_group(keys_of_scan + i_n + 48, (v_a[i_h + i_i_first * 2 + 6] * ntt::load_group<ntt::Vector<float, 8>>(v_k + i_i_first * 12 + i_n + 36, lanes_of_i_n)), lanes_of_i_n);
                    ntt::store_group(queries_of_scan + i_n + 48, (ntt::load_group<ntt::Vector<float, 8>>(v_k + i_i_first * 12 + i_n + 36, lanes_of_i_n) * decays_of_scan[15]), lanes_of_i_n);
                };
                int64_t i_n = 0;
                for (; i_n + 8 <= 12; i_n += 8) group(i_n, ntt::Int<8>{});
                if (i_n < 12) group(i_n, 12 - i_n);
            }
            alignas(64) float products_of_scan[20];
            ntt::Vector<float, 8> sum = ntt::broadcast<ntt::Vector<float, 8>>(0.0f);
            ntt::Vector<float, 8> sum_2 = ntt::broadcast<ntt::Vector<float, 8>>(0.0f);
            ntt::Vector<float, 8> sum_3 = ntt::broadcast<ntt::Vector<float, 8>>(0.0f);
            ntt::Vector<float, 8> sum_4 = ntt::broadcast<ntt::Vector<float, 8>>(0.0f);
            ntt::Vector<float, 8> sum_5 = ntt::broadcast<ntt::Vector<float, 8>>(0.0f);
            ntt::Vector<float, 8> sum_6 = ntt::broadcast<ntt::Vector<float, 8>>(0.0f);
            ntt::Vector<float, 8> sum_7 = ntt::broadcast<ntt::Vector<float, 8>>(0.0f);
            ntt::Vector<float, 8> sum_8 = ntt::broadcast<ntt::Vector<float, 8>>(0.0f);
            ntt::Vector<float, 8> sum_9 = ntt::broadcast<ntt::Vector<float, 8>>(0.0f);
            ntt::Vector<float, 8> sum_10 = ntt::broadcast<ntt::Vector<float, 8>>(0.0f);
            {
                const auto group = [&]([[maybe_unused]] const int64_t i_n_2, const auto lanes_of_i_n_2) {
                    sum = ntt::fold_group(lanes_of_i_n_2, ntt::fma(ntt::load_group<ntt::Vector<float, 8>>(v_k + i_i_first * 12 + i_n_2, lanes_of_i_n_2), (v_a[i_h + i_i_first * 2] * ntt::load_group<ntt::Vector<float, 8>>(v_k + i_i_first * 12 + i_n_2, lanes_of_i_n_2)), sum), sum);
                    sum_2 = ntt::fold_group(lanes_of_i_n_2, ntt::fma(ntt::load_group<ntt::Vector<float, 8>>(v_k + i_i_first * 12 + i_n_2 + 12, lanes_of_i_n_2), (v_a[i_h + i_i_first * 2] * ntt::load_group<ntt::Vector<float, 8>>(v_k + i_i_first * 12 + i_n_2, lanes_of_i_n_2)), sum_2), sum_2);
                    sum_3 = ntt::fold_group(lanes_of_i_n_2, ntt::fma(ntt::load_group<ntt::Vector<float, 8>>(v_k + i_i_first * 12 + i_n_2 + 12, lanes_of_i_n_2), (v_a[i_h + i_i_first * 2 + 2] * ntt::load_group<ntt::Vector<float, 8>>(v_k + i_i_first * 12 + i_n_2 + 12, lanes_of_i_n_2)), sum_3), sum_3);
                    sum_4 = ntt::fold_group(lanes_of_i_n_2, ntt::fma(ntt::load_group<ntt::Vector<float, 8>>(v_k + i_i_first * 12 + i_n_2 + 24, lanes_of_i_n_2), (v_a[i_h + i_i_first * 2] * ntt::load_group<ntt::Vector<float, 8>>(v_k + i_i_first * 12 + i_n_2, lanes_of_i_n_2)), sum_4), sum_4);
                    sum_5 = ntt::fold_group(lanes_of_i_n_2, ntt::fma(ntt::load_group<ntt::Vector<float, 8>>(v_k + i_i_first * 12 + i_n_2 + 24, lanes_of_i_n_2), (v_a[i_h + i_i_first * 2 + 2] * ntt::load_group<ntt::Vector<float, 8>>(v_k + i_i_first * 12 + i_n_2 + 12, lanes_of_i_n_2)), sum_5), sum_5);
                    sum_6 = ntt::fold_group(lanes_of_i_n_2, ntt::fma(ntt::load_group<ntt::Vector<float, 8>>(v_k + i_i_first * 12 + i_n_2 + 24, lanes_of_i_n_2), (v_a[i_h + i_i_first * 2 + 4] * ntt::load_group<ntt::Vector<float, 8>>(v_k + i_i_first * 12 + i_n_2 + 24, lanes_of_i_n_2)), sum_6), sum_6);
                    sum_7 = ntt::fold_group(lanes_of_i_n_2, ntt::fma(ntt::load_group<ntt::Vector<float, 8>>(v_k + i_i_first * 12 + i_n_2 + 36, lanes_of_i_n_2), (v_a[i_h + i_i_first * 2] * ntt::load_group<ntt::Vector<float, 8>>(v_k + i_i_first * 12 + i_n_2, lanes_of_i_n_2)), sum_7), sum_7);
                    sum_8 = ntt::fold_group(lanes_of_i_n_2, ntt::fma(ntt::load_group<ntt::Vector<float, 8>>(v_k + i_i_first * 12 + i_n_2 + 36, lanes_of_i_n_2), (v_a[i_h + i_i_first * 2 + 2] * ntt::load_group<ntt::Vector<float, 8>>(v_k + i_i_first * 12 + i_n_2 + 12, lanes_of_i_n_2)), sum_8), sum_8);
                    sum_9 = ntt::fold_group(lanes_of_i_n_2, ntt::fma(ntt::load_group<ntt::Vector<float, 8>>(v_k + i_i_first * 12 + i_n_2 + 36, lanes_of_i_n_2), (v_a[i_h + i_i_first * 2 + 4] * ntt::load_group<ntt::Vector<float, 8>>(v_k + i_i_first * 12 + i_n_2 + 24, lanes_of_i_n_2)), sum_9), sum_9);
                    sum_10 = ntt::fold_group(lanes_of_i_n_2, ntt::fma(ntt::load_group<ntt::Vector<float, 8>>(v_k + i_i_first * 12 + i_n_2 + 36, lanes_of_i_n_2), (v_a[i_h + i_i_first * 2 + 6] * ntt::load_group<ntt::Vector<float, 8>>(v_k + i_i_first * 12 + i_n_2 + 36, lanes_of_i_n_2)), sum_10), sum_10);
                };
                int64_t i_n_2 = 0;
                for (; i_n_2 + 8 <= 12; i_n_2 += 8) group(i_n_2, ntt::Int<8>{});
                if (i_n_2 < 12) group(i_n_2, 12 - i_n_2);
            }
            products_of_scan[1] = ntt::fold_sum(sum);
            products_of_scan[6] = (ntt::fold_sum(sum_2) * decays_of_scan[6]);
            products_of_scan[7] = ntt::fold_sum(sum_3);
            products_of_scan[11] = (ntt::fold_sum(sum_4) * decays_of_scan[11]);
            products_of_scan[12] = (ntt::fold_sum(sum_5) * decays_of_scan[12]);
            products_of_scan[13] = ntt::fold_sum(sum_6);
            products_of_scan[16] = (ntt::fold_sum(sum_7) * decays_of_scan[16]);
            products_of_scan[17] = (ntt::fold_sum(sum_8) * decays_of_scan[17]);
            products_of_scan[18] = (ntt::fold_sum(sum_9) * decays_of_scan[18]);
            products_of_scan[19] = ntt::fold_sum(sum_10);
            for (int64_t i_p = 0; i_p < 16; i_p += 8) {
                ntt::Vector<float, 8> sum_11 = ntt::broadcast<ntt::Vector<float, 8>>(0.0f);
                ntt::Vector<float, 8> sum_12 = ntt::broadcast<ntt::Vector<float, 8>>(0.0f);
                ntt::Vector<float, 8> sum_13 = ntt::broadcast<ntt::Vector<float, 8>>(0.0f);
                ntt::Vector<float, 8> sum_14 = ntt::broadcast<ntt::Vector<float, 8>>(0.0f);
                for (int64_t i_n_3 = 0; i_n_3 < 12; ++i_n_3) {
                    ntt::Vector<float, 8> state = ntt::broadcast<ntt::Vector<float, 8>>(0.0f);
                    state = state + ntt::load_group<ntt::Vector<float, 8>>(v_s + i_h * 192 + i_n_3 * 16 + i_p, ntt::Int<8>{});
                    sum_11 = ntt::fma(state, ntt::broadcast<ntt::Vector<float, 8>>(queries_of_scan[i_n_3]), sum_11);
                    sum_12 = ntt::fma(state, ntt::broadcast<ntt::Vector<float, 8>>(queries_of_scan[i_n_3 + 16]), sum_12);
                    sum_13 = ntt::fma(state, ntt::broadcast<ntt::Vector<float, 8>>(queries_of_scan[i_n_3 + 32]), sum_13);
                    sum_14 = ntt::fma(state, ntt::broadcast<ntt::Vector<float, 8>>(queries_of_scan[i_n_3 + 48]), sum_14);
                    ntt::Vector<float, 8> next = ntt::broadcast<ntt::Vector<float, 8>>(0.0f);
                    next = ntt::fma(state, ntt::broadcast<ntt::Vector<float, 8>>(decays_of_scan[15]), next);
                    next = ntt::fma(ntt::load_group<ntt::Vector<float, 8>>(v_v + i_h * 16 + i_i_first * 32 + i_p, ntt::Int<8>{}), ntt::broadcast<ntt::Vector<float, 8>>(keys_of_scan[i_n_3]), next);
                    next = ntt::fma(ntt::load_group<ntt::Vector<float, 8>>(v_v + i_h * 16 + i_i_first * 32 + i_p + 32, ntt::Int<8>{}), ntt::broadcast<ntt::Vector<float, 8>>(keys_of_scan[i_n_3 + 16]), next);
                    next = ntt::fma(ntt::load_group<ntt::Vector<float, 8>>(v_v + i_h * 16 + i_i_first * 32 + i_p + 64, ntt::Int<8>{}), ntt::broadcast<ntt::Vector<float, 8>>(keys_of_scan[i_n_3 + 32]), next);
                    next = ntt::fma(ntt::load_group<ntt::Vector<float, 8>>(v_v + i_h * 16 + i_i_first * 32 + i_p + 96, ntt::Int<8>{}), ntt::broadcast<ntt::Vector<float, 8>>(keys_of_scan[i_n_3 + 48]), next);
                    ntt::store_group(v_s + i_h * 192 + i_n_3 * 16 + i_p, next, ntt::Int<8>{});
                }
                sum_11 = ntt::fma(ntt::load_group<ntt::Vector<float, 8>>(v_v + i_h * 16 + i_i_first * 32 + i_p, ntt::Int<8>{}), ntt::broadcast<ntt::Vector<float, 8>>(products_of_scan[1]), sum_11);
                ntt::store_group(v_y + i_h * 16 + i_i_first * 32 + i_p, (sum_11 + ntt::load_group<ntt::Vector<float, 8>>(v_v + i_h * 16 + i_i_first * 32 + i_p, ntt::Int<8>{})), ntt::Int<8>{});
                sum_12 = ntt::fma(ntt::load_group<ntt::Vector<float, 8>>(v_v + i_h * 16 + i_i_first * 32 + i_p, ntt::Int<8>{}), ntt::broadcast<ntt::Vector<float, 8>>(products_of_scan[6]), sum_12);
                sum_12 = ntt::fma(ntt::load_group<ntt::Vector<float, 8>>(v_v + i_h * 16 + i_i_first * 32 + i_p + 32, ntt::Int<8>{}), ntt::broadcast<ntt::Vector<float, 8>>(products_of_scan[7]), sum_12);
                ntt::store_group(v_y + i_h * 16 + i_i_first * 32 + i_p + 32, (sum_12 + ntt::load_group<ntt::Vector<float, 8>>(v_v + i_h * 16 + i_i_first * 32 + i_p + 32, ntt::Int<8>{})), ntt::Int<8>{});
                sum_13 = ntt::fma(ntt::load_group<ntt::Vector<float, 8>>(v_v + i_h * 16 + i_i_first * 32 + i_p, ntt::Int<8>{}), ntt::broadcast<ntt::Vector<float, 8>>(products_of_scan[11]), sum_13);
                sum_13 = ntt::fma(ntt::load_group<ntt::Vector<float, 8>>(v_v + i_h * 16 + i_i_first * 32 + i_p + 32, ntt::Int<8>{}), ntt::broadcast<ntt::Vector<float, 8>>(products_of_scan[12]), sum_13);
                sum_13 = ntt::fma(ntt::load_group<ntt::Vector<float, 8>>(v_v + i_h * 16 + i_i_first * 32 + i_p + 64, ntt::Int<8>{}), ntt::broadcast<ntt::Vector<float, 8>>(products_of_scan[13]), sum_13);
                ntt::store_group(v_y + i_h * 16 + i_i_first * 32 + i_p + 64, (sum_13 + ntt::load_group<ntt::Vector<float, 8>>(v_v + i_h * 16 + i_i_first * 32 + i_p + 64, ntt::Int<8>{})), ntt::Int<8>{});
                sum_14 = ntt::fma(ntt::load_group<ntt::Vector<float, 8>>(v_v + i_h * 16 + i_i_first * 32 + i_p, ntt::Int<8>{}), ntt::broadcast<ntt::Vector<float, 8>>(products_of_scan[16]), sum_14);
                sum_14 = ntt::fma(ntt::load_group<ntt::Vector<float, 8>>(v_v + i_h * 16 + i_i_first * 32 + i_p + 32, ntt::Int<8>{}), ntt::broadcast<ntt::Vector<float, 8>>(products_of_scan[17]), sum_14);
                sum_14 = ntt::fma(ntt::load_group<ntt::Vector<float, 8>>(v_v + i_h * 16 + i_i_first * 32 + i_p + 64, ntt::Int<8>{}), ntt::broadcast<ntt::Vector<float, 8>>(products_of_scan[18]), sum_14);
                sum_14 = ntt::fma(ntt::load_group<ntt::Vector<float, 8>>(v_v + i_h * 16 + i_i_first * 32 + i_p + 96, ntt::Int<8>{}), ntt::broadcast<ntt::Vector<float, 8>>(products_of_scan[19]), sum_14);
                ntt::store_group(v_y + i_h * 16 + i_i_first * 32 + i_p + 96, (sum_14 + ntt::load_group<ntt::Vector<float, 8>>(v_v + i_h * 16 + i_i_first * 32 + i_p + 96, ntt::Int<8>{})), ntt::Int<8>{});
            }
        }
        for (int64_t i_p_2 = 0; i_p_2 < 16; i_p_2 += 8) {
            for (int64_t i_i = i_i_chunks; i_i < s_T; ++i_i) {
                ntt::Vector<float, 8> sum_15 = ntt::broadcast<ntt::Vector<float, 8>>(0.0f);
                for (int64_t i_n_4 = 0; i_n_4 < 12; ++i_n_4) {
                    ntt::store_group(v_s + i_h * 192 + i_n_4 * 16 + i_p_2, ((ntt::load_group<ntt::Vector<float, 8>>(v_s + i_h * 192 + i_n_4 * 16 + i_p_2, ntt::Int<8>{}) * ntt::exp((-ntt::abs(v_a[i_h + i_i * 2])))) + ((v_a[i_h + i_i * 2] * v_k[i_i * 12 + i_n_4]) * ntt::load_group<ntt::Vector<float, 8>>(v_v + i_h * 16 + i_i * 32 + i_p_2, ntt::Int<8>{}))), ntt::Int<8>{});
                    sum_15 = ntt::fma(ntt::load_group<ntt::Vector<float, 8>>(v_s + i_h * 192 + i_n_4 * 16 + i_p_2, ntt::Int<8>{}), ntt::broadcast<ntt::Vector<float, 8>>(v_k[i_i * 12 + i_n_4]), sum_15);
                }
                ntt::store_group(v_y + i_h * 16 + i_i * 32 + i_p_2, (sum_15 + ntt::load_group<ntt::Vector<float, 8>>(v_v + i_h * 16 + i_i * 32 + i_p_2, ntt::Int<8>{})), ntt::Int<8>{});
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
    kernel_all_main_scan(*step, elements<const float>(step->inputs[2]), elements<const float>(step->inputs[0]), elements<float>(step->states[0] + repetition * (1536)), elements<const float>(step->inputs[1]), elements<float>(step->outputs[0]));
    mark(1, kTesseraEnds);
}

extern "C" void tessera_step_all(const TesseraStep* step) {
    run_all(step, nullptr);
}

extern "C" void tessera_step_all_marked(const TesseraMarkedStep* marked) {
    run_all(&marked->step, marked);
}
