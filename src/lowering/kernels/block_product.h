#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "lowering/kernels/block_contraction.h"
#include "lowering/kernels/product_tile.h"
#include "lowering/movement/call_fields.h"

/// Shared parts of the micro-kernels for activations in int8 and quantised weights: the operands of their
/// calls, the meaning of these, and the lowering of an operator's tile to one.
namespace tessera::kernels {

/// C[m, n] (+)= sum over blocks of k of scale[m, block] * (coefficient * sum_k A[m, k] (B[n, k] + zero)
/// + offset * sum_k A[m, k]); B as with k_lanes = 4. Strides in elements.
struct BlockProductCall {
    /// The coefficient as integer * rest, the latter shared by `block` neighbouring k.
    struct Fold {
        std::optional<movement::ComputedFactor> integer;  ///< none: 1
        movement::ComputedFactor rest;
        int64_t block = 1;

        static constexpr auto kFields =
            std::tuple{movement::field("integer", &Fold::integer), movement::field("rest", &Fold::rest),
                       movement::field("block", &Fold::block)};
    };
    int64_t lanes = 1, groups = 1;
    int64_t block = 1, a_block = 1;  ///< k that share coefficient and offset; that share a scale of A
    int64_t zero = 0;
    int64_t radix = 0;
    bool accumulate = false;
    movement::Index m, n, k;           ///< extents
    std::vector<movement::Address> a;  ///< one address, or two: A is the first * radix + the second
    movement::Index a_m;
    movement::Address a_scale;
    movement::Index scale_m, scale_block;
    movement::StridedFactor b;                       ///< outer: groups of n; inner: groups of 4 k
    movement::ComputedFactor coefficient;            ///< outer: groups of n; inner: k
    std::optional<Fold> fold;                        ///< likewise; where B may take the integers
    std::optional<movement::ComputedFactor> offset;  ///< likewise; none: 0
    movement::Address c;
    movement::Index c_m, c_group;

    static constexpr auto kSharedFields =
        std::tuple{movement::field("lanes", &BlockProductCall::lanes),
                   movement::field("groups", &BlockProductCall::groups),
                   movement::field("block", &BlockProductCall::block),
                   movement::field("a_block", &BlockProductCall::a_block),
                   movement::field("zero", &BlockProductCall::zero),
                   movement::field("radix", &BlockProductCall::radix),
                   movement::field("accumulate", &BlockProductCall::accumulate),
                   movement::field("m", &BlockProductCall::m),
                   movement::field("n", &BlockProductCall::n),
                   movement::field("k", &BlockProductCall::k),
                   movement::field("a", &BlockProductCall::a),
                   movement::field("a_m", &BlockProductCall::a_m),
                   movement::field("a_scale", &BlockProductCall::a_scale),
                   movement::field("scale_m", &BlockProductCall::scale_m),
                   movement::field("scale_block", &BlockProductCall::scale_block),
                   movement::field("b", &BlockProductCall::b),
                   movement::field("coefficient", &BlockProductCall::coefficient),
                   movement::field("fold", &BlockProductCall::fold),
                   movement::field("offset", &BlockProductCall::offset),
                   movement::field("c", &BlockProductCall::c),
                   movement::field("c_m", &BlockProductCall::c_m),
                   movement::field("c_group", &BlockProductCall::c_group)};
};

/// A fault in the numbers of a call; empty if there is none.
std::string block_product_problem(const BlockProductCall& call);

movement::Body block_product_meaning(const BlockProductCall& call);

/// The operands, after the micro-kernel's name and its tile.
void spell_block_product(const BlockProductCall& call, CallText& out);

/// The operator in one of its readings.
struct BlockProduct : ProductIterators {
    BlockContraction roles;
};
/// @throws Error if n is of no quantised factor
BlockProduct block_product(const lowering::LeafScope& scope);

/// The tile as a call, with the coefficient folded where `has_fold` wants it, if it can be: `make` completes
/// it.
/// @throws Error for tiles that are not whole blocks, of more than `largest_k`, or whose operands lie
/// otherwise
movement::Body lower_block_product(const lowering::LeafScope& scope, const BlockProduct& product,
                                   int64_t largest_k, bool has_fold,
                                   const std::function<movement::Call(BlockProductCall)>& make);

}  // namespace tessera::kernels
