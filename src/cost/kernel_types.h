#pragma once

#include <map>
#include <string>

#include "ir/definition.h"
#include "ops/weight_format.h"
#include "plan/nest.h"

namespace tessera {

/// The name of a weight's format in the machine's table: "q4_k".
std::string type_name(ops::WeightFormat format);

/// The types under which the machine's table lists the times of a micro-kernel on such a definition: of A, B
/// and C of a product, of scores, values and results of a streaming softmax. A weight of several operands has
/// its format's name ("q4_0"); activations in blocks are "i8", or "i13" or "i15" in two bytes
/// (docs/machine.md). `leaf` names the iterators m, n and k. Empty if the definition is neither.
std::map<std::string, std::string> kernel_types(const Definition& definition, const Leaf& leaf);

}  // namespace tessera
