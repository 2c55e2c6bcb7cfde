#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "kernels/block_contraction.h"
#include "kernels/product_tile.h"
#include "movement/call_fields.h"

/// What the micro-kernels for activations in int8 and quantised weights share: the operands of their calls,
/// what these compute, and how an operator's tile becomes one.
namespace tessera {

/// C[m, n] (+)= sum over blocks of k of scale[m, block] * (coefficient * sum_k A[m, k] (B[n, k] + zero)
/// + offset * sum_k A[m, k]); B as with k_lanes = 4. Strides in elements.
struct BlockProductCall {
    /// The coefficient as integer * rest, the latter shared by `block` neighbouring k.
    struct Fold {
        std::optional<ComputedFactor> integer;  ///< none: 1
        ComputedFactor rest;
        int64_t block = 1;

        static constexpr auto kFields = std::tuple{field("integer", &Fold::integer),
                                                   field("rest", &Fold::rest), field("block", &Fold::block)};
    };
    int64_t lanes = 1, groups = 1;
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
    std::optional<Fold> fold;              ///< likewise; where B may take the integers
    std::optional<ComputedFactor> offset;  ///< likewise; none: 0
    Address c;
    Index c_m, c_group;

    static constexpr auto kSharedFields = std::tuple{field("lanes", &BlockProductCall::lanes),
                                                     field("groups", &BlockProductCall::groups),
                                                     field("block", &BlockProductCall::block),
                                                     field("a_block", &BlockProductCall::a_block),
                                                     field("zero", &BlockProductCall::zero),
                                                     field("radix", &BlockProductCall::radix),
                                                     field("accumulate", &BlockProductCall::accumulate),
                                                     field("m", &BlockProductCall::m),
                                                     field("n", &BlockProductCall::n),
                                                     field("k", &BlockProductCall::k),
                                                     field("a", &BlockProductCall::a),
                                                     field("a_m", &BlockProductCall::a_m),
                                                     field("a_scale", &BlockProductCall::a_scale),
                                                     field("scale_m", &BlockProductCall::scale_m),
                                                     field("scale_block", &BlockProductCall::scale_block),
                                                     field("b", &BlockProductCall::b),
                                                     field("coefficient", &BlockProductCall::coefficient),
                                                     field("fold", &BlockProductCall::fold),
                                                     field("offset", &BlockProductCall::offset),
                                                     field("c", &BlockProductCall::c),
                                                     field("c_m", &BlockProductCall::c_m),
                                                     field("c_group", &BlockProductCall::c_group)};
};

/// What is wrong with the numbers of a call; empty if nothing is.
std::string block_product_problem(const BlockProductCall& call);

Body block_product_meaning(const BlockProductCall& call);

/// The operands, after the micro-kernel's name and its tile.
void spell_block_product(const BlockProductCall& call, CallText& out);

/// The operator in one of its readings.
struct BlockProduct : ProductIterators {
    BlockContraction roles;
};
/// @throws Error if n is of no quantised factor
BlockProduct block_product(const LeafScope& scope);

/// The tile as a call, with the coefficient folded where `has_fold` wants it, if it can be: `make` completes
/// it.
/// @throws Error for tiles that are not whole blocks, of more than `largest_k`, or whose operands lie
/// otherwise
Body lower_block_product(const LeafScope& scope, const BlockProduct& product, int64_t largest_k,
                         bool has_fold, const std::function<Call(BlockProductCall)>& make);

}  // namespace tessera
