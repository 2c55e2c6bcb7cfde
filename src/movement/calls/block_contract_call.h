#pragma once

#include "movement/call_fields.h"

namespace tessera {

/// C[m, n] (+)= sum over blocks of k of scale[m, block] * (coefficient * sum_k A[m, k] (B[n, k] + zero)
/// + offset * sum_k A[m, k]); B as with k_lanes = 4. Strides in elements.
struct BlockContractCall {
    /// The coefficient as integer * rest, the latter shared by `block` neighbouring k.
    struct Fold {
        std::optional<ComputedFactor> integer;  ///< none: 1
        ComputedFactor rest;
        int64_t block = 1;

        static constexpr auto kFields = std::tuple{field("integer", &Fold::integer),
                                                   field("rest", &Fold::rest), field("block", &Fold::block)};
    };
    int64_t lanes = 1, rows = 1, groups = 1;  ///< register block; on a matrix unit no `rows`
    int64_t tile_rows = 0, depth = 0;         ///< of the tiles of a matrix unit; 0: by vectors
    int64_t prefetch = 0;                     ///< bytes by which B is fetched ahead
    int64_t streams = 1;             ///< parts of n of which a block has a group each; 1, or `groups`
    int64_t panel_blocks = 0;        ///< blocks of rows for which B is spread by panels; 0: never
    int64_t block = 1, a_block = 1;  ///< k that share coefficient and offset; that share a scale of A
    int64_t zero = 0;
    int64_t radix = 0;
    bool accumulate = false;
    Index m, n, k;           ///< extents
    std::vector<Address> a;  ///< one address, or two: A is the first * radix + the second
    Index a_m;
    Address a_scale;
    Index scale_m, scale_block;
    StridedFactor b;                       ///< outer: groups of n; inner: groups of 4 k
    ComputedFactor coefficient;            ///< outer: groups of n; inner: k
    std::optional<Fold> fold;              ///< likewise; where B may take the integers by panels
    std::optional<ComputedFactor> offset;  ///< likewise; none: 0
    Address c;
    Index c_m, c_group;

    static constexpr auto kFields = std::tuple{field("lanes", &BlockContractCall::lanes),
                                               field("rows", &BlockContractCall::rows),
                                               field("groups", &BlockContractCall::groups),
                                               field("tile_rows", &BlockContractCall::tile_rows),
                                               field("depth", &BlockContractCall::depth),
                                               field("prefetch", &BlockContractCall::prefetch),
                                               field("streams", &BlockContractCall::streams),
                                               field("panel_blocks", &BlockContractCall::panel_blocks),
                                               field("block", &BlockContractCall::block),
                                               field("a_block", &BlockContractCall::a_block),
                                               field("zero", &BlockContractCall::zero),
                                               field("radix", &BlockContractCall::radix),
                                               field("accumulate", &BlockContractCall::accumulate),
                                               field("m", &BlockContractCall::m),
                                               field("n", &BlockContractCall::n),
                                               field("k", &BlockContractCall::k),
                                               field("a", &BlockContractCall::a),
                                               field("a_m", &BlockContractCall::a_m),
                                               field("a_scale", &BlockContractCall::a_scale),
                                               field("scale_m", &BlockContractCall::scale_m),
                                               field("scale_block", &BlockContractCall::scale_block),
                                               field("b", &BlockContractCall::b),
                                               field("coefficient", &BlockContractCall::coefficient),
                                               field("fold", &BlockContractCall::fold),
                                               field("offset", &BlockContractCall::offset),
                                               field("c", &BlockContractCall::c),
                                               field("c_m", &BlockContractCall::c_m),
                                               field("c_group", &BlockContractCall::c_group)};
};
template <>
const CallKind& call_kind<BlockContractCall>();

}  // namespace tessera
