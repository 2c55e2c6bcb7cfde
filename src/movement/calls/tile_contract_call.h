#pragma once

#include "movement/call_fields.h"

namespace tessera {

/// C[m, n] (+)= sum_k A[m, k] B[n, k] of bf16 by a matrix unit whose tiles are `tile_rows` x `depth` of A and
/// `lanes` x `depth` of B. B as with k_lanes = 2, its last group may be read whole; or as without. Strides in
/// elements.
struct TileContractCall {
    int64_t lanes = 1, tile_rows = 1, depth = 1;
    int64_t rows = 1, groups = 1;  ///< tiles of A and of B in registers
    bool is_in_pairs = false;      ///< B
    bool accumulate = false;
    Index m, n, k;  ///< extents
    Address a;
    Index a_m;
    Factor b;  ///< outer: groups of n; inner: k, or pairs of k
    Address c;
    Index c_m, c_group;

    static constexpr auto kFields = std::tuple{field("lanes", &TileContractCall::lanes),
                                               field("tile_rows", &TileContractCall::tile_rows),
                                               field("depth", &TileContractCall::depth),
                                               field("rows", &TileContractCall::rows),
                                               field("groups", &TileContractCall::groups),
                                               field("is_in_pairs", &TileContractCall::is_in_pairs),
                                               field("accumulate", &TileContractCall::accumulate),
                                               field("m", &TileContractCall::m),
                                               field("n", &TileContractCall::n),
                                               field("k", &TileContractCall::k),
                                               field("a", &TileContractCall::a),
                                               field("a_m", &TileContractCall::a_m),
                                               field("b", &TileContractCall::b),
                                               field("c", &TileContractCall::c),
                                               field("c_m", &TileContractCall::c_m),
                                               field("c_group", &TileContractCall::c_group)};
};
template <>
const CallKind& call_kind<TileContractCall>();

}  // namespace tessera
