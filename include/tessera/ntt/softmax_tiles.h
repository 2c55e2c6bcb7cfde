#pragma once

#include "tessera/ntt/contract_tiles.h"
#include "tessera/ntt/softmax.h"

namespace tessera::ntt {

/// Rows whose weights wait for one product with the values: these are laid in pairs once for so many, which
/// then costs a fraction of the product, and the scores of 512 positions have room in a second cache of 2
/// MiB.
inline constexpr int64_t kSoftmaxTilesRows = 256;

/// softmax_step with weights of bf16, multiplied with values of bf16 on a matrix unit: the sums are those of
/// contract_tiles, which starts from A as it was scaled in memory.
template <ContractTilesTile Tile, class Unit = TileUnit, Extent I, Extent S, Extent D, Extent SP,
          PairableLanes<Vector<float, Tile.lanes>> Values, class SI, class SG>
inline void softmax_step_tiles(I i_extent, S s_extent, D d_extent, float* scores, SP stride_score,
                               Values values, SoftmaxState<SI, SG> state) {
    using V = Vector<float, Tile.lanes>;
    detail::for_weights<Tile.lanes, detail::SoftmaxWeights::kBF16, kSoftmaxTilesRows>(
        i_extent, s_extent, d_extent, scores, stride_score, values, state,
        [&](auto rows, auto positions, auto weights, auto value, const float* scale) {
            for (int64_t i = 0; i < rows; ++i) {
                for_groups<Tile.lanes>(d_extent, [&](int64_t d, auto count) {
                    const int64_t group = d / Tile.lanes;
                    value.finish(i, group, value.template start<V>(i, group, count) * scale[i], count);
                });
            }
            contract_tiles<detail::accumulating(Tile), Unit>(rows, d_extent, positions, weights, values,
                                                             value);
        });
}

}  // namespace tessera::ntt
