#pragma once

#include <set>
#include <string>

#include "ir/definition.h"
#include "ir/ops/weight_format.h"
#include "lowering/plan/leaf.h"

/// Types of products and streaming softmaxes: hooks that micro-kernels share (lowering/plan/micro_kernel.h).
namespace tessera::kernels {

/// The name of a weight's format in the machine's table: "q4_k".
std::string type_name(ops::WeightFormat format);

/// The types of A, B and C. A weight of several operands has its format's name ("q4_0"); activations in
/// blocks are "i8", or "i13" or "i15" in two bytes (docs/machine.md). `leaf` names the iterators n and k.
plan::KernelTypes product_types(const Definition& definition, const plan::Leaf& leaf);
/// The types of scores, values and results. @pre the definition is a streaming softmax
plan::KernelTypes softmax_types(const Definition& definition, const plan::Leaf& leaf);

/// The factors for a vector unit that adds the products of pairs, or that widens to f32.
plan::UnitFactors factors_in_pairs(const plan::Leaf& leaf, const plan::KernelTypes& types);
/// The factors in their own types.
plan::UnitFactors factors_of_types(const plan::Leaf& leaf, const plan::KernelTypes& types);

/// The tensors of B.
std::set<int> streamed_factor(const Definition& definition, const plan::Leaf& leaf);
/// The tensors of the values; none if the definition is no streaming softmax.
std::set<int> streamed_values(const Definition& definition, const plan::Leaf& leaf);

}  // namespace tessera::kernels
