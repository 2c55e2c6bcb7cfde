#pragma once

#include "ir/ops/define.h"
#include "ir/ops/weight_format.h"

/// Operators that pick rows by an index operand.
namespace tessera::ops {

/// id[t], or 0 where it is not below `count`. Operand: id i32[rows].
DefinitionPtr known_ids(Symbols symbols, const Dim& rows, int64_t count);

/// Y[t, k] = scale E[id[t], k]. Operands: id i32[rows], those of the weight E[vocabulary, width].
/// @throws Error if `width` is no multiple of the weight's block.
DefinitionPtr embedding(Symbols symbols, const Dim& rows, int64_t vocabulary, int64_t width,
                        WeightFormat table, double scale = 1);

/// Y[t, k] = X[t, k] + E[position[t] + first, k]: learned positions. Operands: position i32[rows], X
/// f32[rows, width], those of the weight E[positions, width].
DefinitionPtr add_positions(Symbols symbols, const Dim& rows, int64_t positions, int64_t width,
                            WeightFormat table, int64_t first = 0);

/// Y[r, d] = X[row[r], d]. Operands: row i32[chosen], X f32[rows, width].
DefinitionPtr select_rows(Symbols symbols, const Dim& chosen, const Dim& rows, int64_t width);

}  // namespace tessera::ops
