#pragma once

#include "ir/ops/define.h"
#include "ir/ops/elementwise.h"
#include "ir/ops/weight_format.h"

/// A mixture of experts: every token chooses some of many small feed-forwards by the scores of a router, and
/// only these are computed. Source: Shazeer et al., "Outrageously Large Neural Networks: The Sparsely-Gated
/// Mixture-of-Experts Layer" (2017), 2.1.
///
///     scores --rank--> ranks --choose--> expert of each place --gate, up, gated, down--> results
///        \------------------------------------> share of each place ------------------------/ sum
namespace tessera::ops {

struct ExpertShape {
    Dim rows;
    int64_t experts;
    int64_t chosen;  ///< of each token: places 0 to chosen - 1
};

/// rank[t, e]: how many experts have a larger score, or the same and a lower number. A permutation of the
/// experts for each token. Operands: scores f32[rows, experts], twice.
DefinitionPtr expert_ranks(Symbols symbols, const ExpertShape& shape);

/// choice[t, j]: the expert of rank j. Operand: ranks f32[rows, experts]. Always the number of an expert,
/// also where scores are no numbers: it chooses rows of weights.
DefinitionPtr chosen_experts(Symbols symbols, const ExpertShape& shape);

/// largest[t]: of the scores f32[rows, experts].
DefinitionPtr largest_score(Symbols symbols, const ExpertShape& shape);

/// exp(score - largest) of each place. Operands: choice i32[rows, chosen], scores, largest f32[rows].
DefinitionPtr place_weights(Symbols symbols, const ExpertShape& shape);

/// The sum of exp(score - largest) over all experts. Operands: scores, largest.
DefinitionPtr sum_of_weights(Symbols symbols, const ExpertShape& shape);
/// The sum over the places alone. Operand: weights f32[rows, chosen].
DefinitionPtr sum_of_places(Symbols symbols, const ExpertShape& shape);
/// weight / sum. Operands: weights f32[rows, chosen], sum f32[rows].
DefinitionPtr place_shares(Symbols symbols, const ExpertShape& shape);

/// Y[t, j, n] = sum over k of X[t, k] W[choice[t, j], n, k], or of X[t, j, k] if each place has an input of
/// its own. Operands: choice, X f32, those of the weight [experts * outputs, inputs].
/// @throws Error if `inputs` is no multiple of the weight's block.
DefinitionPtr expert_matmul(Symbols symbols, const ExpertShape& shape, int64_t outputs, int64_t inputs,
                            WeightFormat weight, bool has_own_inputs);

/// Y[t, j, n] = sum over k of X[t, k] W[j, n, k], or of X[t, j, k]: each place has a matrix of its own, the
/// same for all tokens. Operands: X f32, those of the weight [places * outputs, inputs].
DefinitionPtr matmul_of_each(Symbols symbols, const ExpertShape& shape, int64_t outputs, int64_t inputs,
                             WeightFormat weight, bool has_own_inputs);

/// f(G) * U. Operands: both f32[rows, chosen, width].
DefinitionPtr expert_gated(ActivationFunction f, Symbols symbols, const ExpertShape& shape, int64_t width);

/// Y[t, d] = sum over j of share[t, j] X[t, j, d]. Operands: X f32[rows, chosen, width], shares.
DefinitionPtr sum_of_experts(Symbols symbols, const ExpertShape& shape, int64_t width);

}  // namespace tessera::ops
