#pragma once

#include <functional>
#include <set>
#include <vector>

#include "lowering/kernels/candidates.h"
#include "lowering/kernels/product_tile.h"
#include "lowering/movement/call_fields.h"

/// Shared parts of the micro-kernels for the streaming softmax (monoid softmax_sum): the operands of their
/// calls, the meaning of these, and the lowering of an operator's tile to one.
namespace tessera::kernels {

/// One step over a tile of scores (rows m, positions s; values along d in groups of `lanes`):
///
///     max' = max(max, scores), factor = e^(max - max')
///     sum = sum * factor + sum over s of e^(scores - max'), result likewise with the rounded weights * V
struct SoftmaxCall {
    int64_t lanes = 1, rows = 1, groups = 1;
    ElementType weights = ElementType::kF32;  ///< to which they are rounded
    movement::Index m, s, d;
    movement::Address scores;  ///< local tile, masked entries -inf; the weights overwrite them
    int64_t scores_stride = 0;
    movement::Factor v;                  ///< outer: groups of d; inner: s
    movement::Address max, sum, result;  ///< maxima and sums of the rows lie side by side
    movement::Index result_m, result_group;

    static constexpr auto kSharedFields =
        std::tuple{movement::field("lanes", &SoftmaxCall::lanes),
                   movement::field("rows", &SoftmaxCall::rows),
                   movement::field("groups", &SoftmaxCall::groups),
                   movement::field("weights", &SoftmaxCall::weights),
                   movement::field("m", &SoftmaxCall::m),
                   movement::field("s", &SoftmaxCall::s),
                   movement::field("d", &SoftmaxCall::d),
                   movement::field("scores", &SoftmaxCall::scores),
                   movement::field("scores_stride", &SoftmaxCall::scores_stride),
                   movement::field("v", &SoftmaxCall::v),
                   movement::field("max", &SoftmaxCall::max),
                   movement::field("sum", &SoftmaxCall::sum),
                   movement::field("result", &SoftmaxCall::result),
                   movement::field("result_m", &SoftmaxCall::result_m),
                   movement::field("result_group", &SoftmaxCall::result_group)};
};

movement::Body softmax_meaning(const SoftmaxCall& call);

/// The operands, after the micro-kernel's name and its tile.
void spell_softmax(const SoftmaxCall& call, CallText& out);

/// The masked scores go to a local tile, the call folds them and the values into (M, L, A), so a T x S matrix
/// never exists. `make` completes the call; it gets the values.
movement::Body lower_softmax_tile(const lowering::LeafScope& scope,
                                  const std::function<movement::Call(SoftmaxCall, const Read&)>& make);

/// Why the definition is no streaming softmax; empty if it is one.
std::string why_no_softmax(const Definition& definition);

/// A way to stream: values along d, rows along m.
struct SoftmaxReading {
    int d, m;         ///< m is -1 for a single row
    int64_t rows;     ///< at most
    int index;        ///< among all readings
    plan::Leaf leaf;  ///< with its iterators
};
void for_each_softmax_reading(const CandidateScope& scope,
                              const std::function<void(const SoftmaxReading&)>& offer);

/// True if all values are of this type.
bool are_values_of(const CandidateScope& scope, ElementType type);
/// True if weights are rounded to the type of the values.
bool are_weights_rounded(const CandidateScope& scope);

}  // namespace tessera::kernels
