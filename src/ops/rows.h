#pragma once

#include "ops/define.h"

/// Operators that pick rows by an index operand.
namespace tessera::ops {

/// Y[t, d] = scale E[id[t], d]. Operands: id i32[rows], E[vocabulary, width].
DefinitionPtr embedding(Symbols symbols, const Dim& rows, int64_t vocabulary, int64_t width,
                        ElementType table, double scale = 1);

/// Y[r, d] = X[row[r], d]. Operands: row i32[chosen], X f32[rows, width].
DefinitionPtr select_rows(Symbols symbols, const Dim& chosen, const Dim& rows, int64_t width);

}  // namespace tessera::ops
