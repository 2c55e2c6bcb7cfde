#pragma once

#include "tessera/ntt/contract.h"
#include "tessera/ntt/fold.h"
#include "tessera/ntt/mask.h"
#include "tessera/ntt/math/exp.h"

// The monoid softmax_sum (ir/definition.h): a triple (M, L, A) for each row i, with M the maximum
// of the scores seen so far, L = sum_s e^(P[s] - M) and A[d] = sum_s e^(P[s] - M) V[s, d]. Its identity is
// (-inf, 0, 0). Tiles of scores may arrive in any number and order, and partial triples can be combined, so
// attention needs no T x S matrix and the cache axis can be split.

namespace tessera::ntt {

/// The triples of some rows: maximum[i], sum[i], and the row i of `value`.
template <class StrideI, class StrideGroup>
struct SoftmaxState {
    float* maximum;
    float* sum;
    Result<StrideI, StrideGroup> value;
};

/// A[i, d] at value + i*stride_i + d/L*stride_group + d%L.
template <Extent SI, Extent SG>
constexpr SoftmaxState<StoredExtent<SI>, StoredExtent<SG>> softmax_state(float* maximum, float* sum,
                                                                         float* value, SI stride_i,
                                                                         SG stride_group) {
    return {maximum, sum, result(value, stride_i, stride_group)};
}

namespace detail {

/// The form of the weights in the product with the values.
enum class SoftmaxWeights { kF32, kRounded, kBF16 };

/// Stores the valid lanes as the nearest bf16; numbers below 2^-126 may become 0.
template <AnyVector V, Extent Count>
[[gnu::always_inline]] inline void store_weights(bf16* p, V v, Count count) {
    if constexpr (!kIsWhole<V, Count>) {
        bf16 all[lanes_v<V>];
        store_weights(all, v, Int<lanes_v<V>>{});
        copy_first<sizeof all>(p, all, count * 2);
    } else if constexpr (V::kIsPair) {
        constexpr int kHalf = lanes_v<V> / 2;
        store_weights(p, v.low, Int<kHalf>{});
        store_weights(p + kHalf, v.high, Int<kHalf>{});
    } else {
        const auto raw = native::narrow_bf16_or_flush(v.bits);
        __builtin_memcpy(p, &raw, sizeof raw);
    }
}

/// The number to subtract from scores of maximum m: 0 for a row in which everything is masked, since -inf -
/// -inf would be NaN.
inline float finite_maximum(float m) {
    return m == -__builtin_inff() ? 0.0f : m;
}

/// The value sums of a step: accumulation starts from A[i, d] * scale[i].
template <class Value>
struct Rescaled {
    Value value;
    const float* scale;

    template <AnyVector V, Extent Count>
    [[gnu::always_inline]] V start(int64_t i, int64_t group, Count count) const {
        return value.template start<V>(i, group, count) * scale[i];
    }
    template <AnyVector V, Extent Count>
    [[gnu::always_inline]] V resume(int64_t i, int64_t group, Count count) const {
        return value.template resume<V>(i, group, count);
    }
    template <AnyVector V, Extent Count>
    [[gnu::always_inline]] void finish(int64_t i, int64_t group, V v, Count count) const {
        value.finish(i, group, v, count);
    }
};

/// Updates M of `rows` rows by their scores. origin[i] is to be subtracted from the scores of row i. scale[i]
/// becomes e^(old M - origin), the factor for L and A. No row waits for another. Returns true if any score is
/// -inf.
template <int L, Extent R, Extent S>
inline bool softmax_maxima(R rows, S s_extent, const float* scores, int64_t stride, float* maximum,
                           float* scale, float* origin) {
    using V = Vector<float, L>;
    constexpr float kMasked = -__builtin_inff();
    const auto smaller = [](const V& a, const V& b) {
        return map<V>([](auto x, auto y) { return native::min_or_second(x, y); }, a, b);
    };
    V least = broadcast<V>(0.0f);
    for (int64_t i = 0; i < rows; ++i) {
        // Each row has its own, so that rows do not wait for each other.
        V largest = broadcast<V>(kMasked), least_of_row = broadcast<V>(0.0f);
        for_groups<L>(s_extent, [&](int64_t s, auto count) {
            const V score = load_group<V>(scores + i * stride + s, count, kMasked);
            largest = max(largest, score);
            least_of_row = fold_group(count, smaller(score, least_of_row), least_of_row);
        });
        least = smaller(least_of_row, least);
        const float old_maximum = maximum[i];
        maximum[i] = max(fold_max(largest), old_maximum);
        origin[i] = finite_maximum(maximum[i]);
        scale[i] = old_maximum - origin[i];
    }
    for_groups<L>(rows, [&](int64_t i, auto count) {
        store_group(scale + i, exp(load_group<V>(scale + i, count, kMasked)), count);
    });
    return fold_min(least) == kMasked;
}

/// Turns the scores of `rows` rows into weights e^(P - origin) and updates L. The weights replace the scores,
/// as bf16 at the beginning of their rows with kBF16, and do not wait for the latency of a scale.
template <int L, SoftmaxWeights Weights, Extent R, Extent S>
inline void softmax_weights(R rows, S s_extent, float* scores, int64_t stride, float* sum, const float* scale,
                            const float* origin) {
    using V = Vector<float, L>;
    constexpr float kMasked = -__builtin_inff();
    for (int64_t i = 0; i < rows; ++i) {
        V weights = broadcast<V>(0.0f);
        for_groups<L>(s_extent, [&](int64_t s, auto count) {
            const V weight = exp(load_group<V>(scores + i * stride + s, count, kMasked) - origin[i]);
            if constexpr (Weights == SoftmaxWeights::kBF16) {
                store_weights(reinterpret_cast<bf16*>(scores + i * stride) + s, weight, count);
            } else if constexpr (Weights == SoftmaxWeights::kRounded) {
                store_group(scores + i * stride + s, rounded<bf16>(weight), count);
            } else {
                store_group(scores + i * stride + s, weight, count);
            }
            weights = weights + weight;
        });
        sum[i] = fma(sum[i], scale[i], fold_sum(weights));
    }
}

/// True if one of the rows has the score -inf among `count` positions.
template <class V, Extent R, Extent Count>
[[gnu::always_inline]] inline bool is_any_masked(R rows, const float* scores, int64_t stride, Count count) {
    const V masked = broadcast<V>(-__builtin_inff());
    for (int64_t i = 0; i < rows; ++i)
        if (any(load_group<V>(scores + i * stride, count) == masked)) return true;
    return false;
}

/// The number of positions before those at the end that have the score -inf in all rows, in whole groups of
/// lanes.
template <int L, Extent R>
[[gnu::noinline]] int64_t executed_positions(R rows, int64_t positions, const float* scores, int64_t stride) {
    using V = Vector<float, L>;
    constexpr float kMasked = -__builtin_inff();
    const V masked = broadcast<V>(kMasked);
    for (int64_t end = positions; end > 0; end = (end - 1) / L * L) {
        const int64_t begin = (end - 1) / L * L;
        // Later rows execute more positions where an order is kept.
        for (int64_t i = rows - 1; i >= 0; --i)
            if (any(load_group<V>(scores + i * stride + begin, end - begin, kMasked) != masked)) return end;
    }
    return 0;
}

/// True if all values V[s, d] are finite at positions near those with the score -inf. 0 times any other value
/// is NaN.
template <int L, Extent R, Extent S, Extent D, class Values>
[[gnu::noinline]] bool are_masked_finite(R rows, S s_extent, D d_extent, const float* scores, int64_t stride,
                                         Values values) {
    using V = Vector<float, L>;
    V sum = broadcast<V>(0.0f);
    for_groups<L>(s_extent, [&](int64_t s, auto positions) {
        if (!is_any_masked<V>(rows, scores + s, stride, positions)) return;
        for_groups<L>(d_extent, [&](int64_t d, auto count) {
            for (int64_t j = 0; j < positions; ++j)
                sum = fma(values.template load<V>(d / L, s + j, count), broadcast<V>(0.0f), sum);
        });
    });
    return all(sum == sum);
}

/// Does the work of softmax_weights and the product with the values where 0 times a value would not be 0:
/// positions with the score -inf are left out.
template <int L, SoftmaxWeights Weights, Extent R, Extent S, Extent D, class Values, class Value>
[[gnu::noinline, gnu::cold]] void add_executed(R rows, S s_extent, D d_extent, float* scores, int64_t stride,
                                               float* sum, const float* scale, const float* origin,
                                               Values values, Value value) {
    using V = Vector<float, L>;
    for (int64_t i = 0; i < rows; ++i) {
        float* const row = scores + i * stride;
        float weights = 0.0f;
        for (int64_t s = 0; s < s_extent; ++s) {
            const bool is_executed = row[s] != -__builtin_inff();
            const float weight = exp(row[s] - origin[i]);
            if (is_executed) weights += weight;
            const float factor = Weights == SoftmaxWeights::kF32 ? weight : rounded<bf16>(weight);
            row[s] = is_executed ? factor : -1.0f;
        }
        sum[i] = fma(sum[i], scale[i], weights);
        for_groups<L>(d_extent, [&](int64_t d, auto count) {
            V result = value.template start<V>(i, d / L, count) * scale[i];
            for (int64_t s = 0; s < s_extent; ++s) {
                if (row[s] < 0.0f) continue;
                result = fma(broadcast<V>(row[s]), values.template load<V>(d / L, s, count), result);
            }
            value.finish(i, d / L, result, count);
        });
    }
}

/// Turns the scores of all rows into weights, some rows after the other, and calls add(rows, positions,
/// weights, value, scale) for each part: the number of rows, that of the positions, without those at the end
/// that no row executes if it is only known in a run, their weights as an A, their rows of A in the state,
/// and the factors by which these have to be scaled before the weighted values are added. The scales wait on
/// the stack; only a large or unknown number of rows is cut, at `MostRows`. If the value of a score of -inf
/// is not finite, the values are added here.
template <int L, SoftmaxWeights Weights, int64_t MostRows, Extent I, Extent S, Extent D, Extent SP,
          class Values, class SI, class SG, class F>
[[gnu::always_inline]] inline void for_weights(I i_extent, S s_extent, D d_extent, float* scores,
                                               SP stride_score, Values values, SoftmaxState<SI, SG> state,
                                               F add) {
    const auto stride = StoredExtent<SP>(stride_score);
    constexpr bool kAtOnce = kIsStatic<I> && StoredExtent<I>{} <= 1024;
    constexpr int64_t kRows = kAtOnce ? int64_t{StoredExtent<I>{}} : MostRows;
    constexpr int64_t kRoom = ceil_div(kRows, L) * L;
    float scale[kRoom];
    float origin[kRoom];
    for (int64_t first = 0; first < i_extent; first += kRows) {
        const auto rows_here = [&] {
            if constexpr (kAtOnce) {
                return i_extent;
            } else {
                return i_extent - first < kRows ? i_extent - first : kRows;
            }
        }();
        float* const tile = scores + first * stride;
        auto value = state.value;
        value.data += first * value.stride_m;
        const bool is_masked =
            softmax_maxima<L>(rows_here, s_extent, tile, stride, state.maximum + first, scale, origin);
        const auto positions = [&] {
            if constexpr (kIsStatic<S>) {
                return s_extent;
            } else {
                return is_masked ? executed_positions<L>(rows_here, s_extent, tile, stride)
                                 : int64_t{s_extent};
            }
        }();
        if (is_masked && !are_masked_finite<L>(rows_here, positions, d_extent, tile, stride, values)) {
            add_executed<L, Weights>(rows_here, positions, d_extent, tile, stride, state.sum + first, scale,
                                     origin, values, value);
            continue;
        }
        softmax_weights<L, Weights>(rows_here, positions, tile, stride, state.sum + first, scale, origin);
        const auto weights = [&] {
            if constexpr (Weights == SoftmaxWeights::kBF16) {
                return rows(reinterpret_cast<const bf16*>(tile), stride * Int<2>{}, Int<1>{});
            } else {
                return rows(tile, stride, Int<1>{});
            }
        }();
        add(rows_here, positions, weights, value, scale);
    }
}

}  // namespace detail

/// The identity (-inf, 0, 0) for rows i < I and d < D.
template <int L, Extent I, Extent D, class SI, class SG>
inline void softmax_init(I i_extent, D d_extent, SoftmaxState<SI, SG> state) {
    using V = Vector<float, L>;
    for (int64_t i = 0; i < i_extent; ++i) {
        state.maximum[i] = -__builtin_inff();
        state.sum[i] = 0.0f;
        for_groups<L>(d_extent, [&](int64_t d, auto count) {
            state.value.finish(i, d / L, broadcast<V>(0.0f), count);
        });
    }
}

/// Adds one tile of scores P[i, s], i < I, s < S, and its values V[s, d], d < D, to the state:
///     m' = max(M, max_s P),  (L, A) = (L, A) * e^(M - m') + sum_s e^(P[s] - m') * (1, V[s]),  M = m'.
/// Masked scores are -inf, and their values are ignored, be they infinite or NaN; a row in which everything
/// was masked so far stays (-inf, 0, 0). P[i, s] is at scores + i*stride_score + s and is overwritten by the
/// weights. `values` has n = d and k = s, in any type. A is scaled while it is loaded into the accumulators
/// of `Tile`. The values are multiplied by the nearest `Weight`, float or bf16; L adds the unrounded weights.
/// With `dot` of the tile, it and the values are bf16.
template <ContractTile Tile, class Weight = float, Extent I, Extent S, Extent D, Extent SP, class Values,
          class SI, class SG>
requires LanesOperand<Values, Vector<float, Tile.lanes>>
inline void softmax_step(I i_extent, S s_extent, D d_extent, float* scores, SP stride_score, Values values,
                         SoftmaxState<SI, SG> state) {
    using enum detail::SoftmaxWeights;
    static_assert(std::same_as<Weight, bf16> || (std::same_as<Weight, float> && !Tile.dot));
    constexpr auto kWeights = std::same_as<Weight, float> ? kF32 : Tile.dot ? kBF16 : kRounded;
    // Rows are cut at a multiple of the register block.
    detail::for_weights<Tile.lanes, kWeights, ceil_div(64, Tile.rows) * Tile.rows>(
        i_extent, s_extent, d_extent, scores, stride_score, values, state,
        [&](auto rows, auto positions, auto weights, auto value, const float* scale)
            __attribute__((always_inline)) {
                contract<detail::accumulating(Tile)>(rows, d_extent, positions, weights, values,
                                                     detail::Rescaled<decltype(value)>{value, scale});
            });
}

/// into = into + from in the monoid: joins the results of two workers for different parts of the cache, for
/// rows i < I and d < D.
template <int L, Extent I, Extent D, class SI, class SG, class FromI, class FromG>
inline void softmax_merge(I i_extent, D d_extent, SoftmaxState<SI, SG> into,
                          SoftmaxState<FromI, FromG> from) {
    using V = Vector<float, L>;
    for (int64_t i = 0; i < i_extent; ++i) {
        const float maximum = max(into.maximum[i], from.maximum[i]);
        const float origin = detail::finite_maximum(maximum);
        const float scale_into = exp(into.maximum[i] - origin);
        const float scale_from = exp(from.maximum[i] - origin);
        into.maximum[i] = maximum;
        into.sum[i] = fma(into.sum[i], scale_into, from.sum[i] * scale_from);
        for_groups<L>(d_extent, [&](int64_t d, auto count) {
            const V a = into.value.template start<V>(i, d / L, count);
            const V b = from.value.template start<V>(i, d / L, count);
            into.value.finish(i, d / L, fma(a, broadcast<V>(scale_into), b * scale_from), count);
        });
    }
}

}  // namespace tessera::ntt
