#pragma once

#include <set>
#include <string>

#include "ir/definition.h"
#include "ops/weight_format.h"
#include "plan/leaf.h"

/// Types of products and streaming softmaxes: hooks that micro-kernels share (plan/micro_kernel.h).
namespace tessera {

/// The name of a weight's format in the machine's table: "q4_k".
std::string type_name(ops::WeightFormat format);

/// Of A, B and C. A weight of several operands has its format's name ("q4_0"); activations in blocks are
/// "i8", or "i13" or "i15" in two bytes (docs/machine.md). `leaf` names the iterators n and k.
KernelTypes product_types(const Definition& definition, const Leaf& leaf);
/// Of scores, values and results. @pre the definition is a streaming softmax
KernelTypes softmax_types(const Definition& definition, const Leaf& leaf);

/// By a vector unit that adds the products of pairs, or widened to f32.
UnitFactors factors_in_pairs(const Leaf& leaf, const KernelTypes& types);
/// As they are.
UnitFactors factors_of_types(const Leaf& leaf, const KernelTypes& types);

/// The tensors of B.
std::set<int> streamed_factor(const Definition& definition, const Leaf& leaf);
/// The tensors of the values; none if the definition is no streaming softmax.
std::set<int> streamed_values(const Definition& definition, const Leaf& leaf);

}  // namespace tessera
