#pragma once

#include "movement/call_fields.h"

namespace tessera {

/// One streaming-softmax step over a tile of scores (rows m, positions s; values along d in groups of
/// `lanes`):
///
///     max' = max(max, scores), factor = e^(max - max')
///     sum = sum * factor + sum over s of e^(scores - max'), result likewise with the rounded weights * V
struct StreamCall {
    int64_t lanes = 1, rows = 1, groups = 1;
    int64_t tile_rows = 0, depth = 0;  ///< of the tiles of a matrix unit that adds the values; 0: by vectors
    int64_t prefetch = 0;              ///< bytes by which the values are fetched ahead
    int64_t panel_blocks = 0;  ///< blocks of rows for which the values are widened by panels; 0: never
    ElementType weights = ElementType::kF32;  ///< to which they are rounded
    bool dot = false;                         ///< weights and values are added in pairs by dot products
    Index m, s, d;
    Address scores;  ///< local tile, masked entries -inf; the weights overwrite them
    int64_t scores_stride = 0;
    Factor v;                  ///< outer: groups of d; inner: s
    Address max, sum, result;  ///< maxima and sums of the rows lie side by side
    Index result_m, result_group;

    static constexpr auto kFields = std::tuple{field("lanes", &StreamCall::lanes),
                                               field("rows", &StreamCall::rows),
                                               field("groups", &StreamCall::groups),
                                               field("tile_rows", &StreamCall::tile_rows),
                                               field("depth", &StreamCall::depth),
                                               field("prefetch", &StreamCall::prefetch),
                                               field("panel_blocks", &StreamCall::panel_blocks),
                                               field("weights", &StreamCall::weights),
                                               field("dot", &StreamCall::dot),
                                               field("m", &StreamCall::m),
                                               field("s", &StreamCall::s),
                                               field("d", &StreamCall::d),
                                               field("scores", &StreamCall::scores),
                                               field("scores_stride", &StreamCall::scores_stride),
                                               field("v", &StreamCall::v),
                                               field("max", &StreamCall::max),
                                               field("sum", &StreamCall::sum),
                                               field("result", &StreamCall::result),
                                               field("result_m", &StreamCall::result_m),
                                               field("result_group", &StreamCall::result_group)};
};
template <>
const CallKind& call_kind<StreamCall>();

}  // namespace tessera
