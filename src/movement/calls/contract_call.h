#pragma once

#include "movement/call_fields.h"

namespace tessera {

/// C[m, n] (+)= sum_k A[m, k] B[n, k]; strides in elements, n in groups of `lanes`, k in groups of `k_lanes`.
struct ContractCall {
    int64_t lanes = 1, rows = 1, groups = 1;  ///< register block
    int64_t partial_sums = 1;                 ///< of each row and group, which take the groups of k in turns
    int64_t prefetch = 0;                     ///< bytes by which B is fetched ahead
    int64_t streams = 1;       ///< parts of n of which a block has a group each; 1, or `groups`
    int64_t panel_blocks = 0;  ///< blocks of rows for which B is widened by panels; 0: never
    int64_t k_lanes = 1;       ///< B[n, k] of a group lie side by side, those of one n first
    bool dot = false;          ///< the products of a group of k are added by one operation
    bool accumulate = false;
    bool b_is_padded = false;  ///< B's last group may be read whole
    Index m, n, k;             ///< extents
    Address a;
    Index a_m, a_k;
    Factor b;  ///< outer: groups of n; inner: groups of k
    Address c;
    Index c_m, c_group;

    static constexpr auto kFields = std::tuple{field("lanes", &ContractCall::lanes),
                                               field("rows", &ContractCall::rows),
                                               field("groups", &ContractCall::groups),
                                               field("partial_sums", &ContractCall::partial_sums),
                                               field("prefetch", &ContractCall::prefetch),
                                               field("streams", &ContractCall::streams),
                                               field("panel_blocks", &ContractCall::panel_blocks),
                                               field("k_lanes", &ContractCall::k_lanes),
                                               field("dot", &ContractCall::dot),
                                               field("accumulate", &ContractCall::accumulate),
                                               field("b_is_padded", &ContractCall::b_is_padded),
                                               field("m", &ContractCall::m),
                                               field("n", &ContractCall::n),
                                               field("k", &ContractCall::k),
                                               field("a", &ContractCall::a),
                                               field("a_m", &ContractCall::a_m),
                                               field("a_k", &ContractCall::a_k),
                                               field("b", &ContractCall::b),
                                               field("c", &ContractCall::c),
                                               field("c_m", &ContractCall::c_m),
                                               field("c_group", &ContractCall::c_group)};
};
template <>
const CallKind& call_kind<ContractCall>();

}  // namespace tessera
