#pragma once

#include <vector>

#include "egraph/rule.h"

/// The five rules of paper 000, table 1, over structured operators with constant shapes.
namespace tessera::egraph::testing {

/// Y[...] = X[permuted]: axis i of the result is axis perm[i] of the operand.
DefinitionPtr transpose(const std::vector<int64_t>& shape, const std::vector<int64_t>& perm);
DefinitionPtr elementwise(const std::vector<int64_t>& shape, const std::string& function, int operands);

/// Table 1, in its order: combine-binary-left, combine-binary-right, combine-unary, fold-two, fold-nop.
std::vector<Rule> transpose_rules();

/// Whether the operator is a transpose.
bool is_transpose(const Operator& op);

}  // namespace tessera::egraph::testing
